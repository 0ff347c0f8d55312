/**
 * The answer of a hook, read strictly.
 *
 * Promise: whatever cannot be understood blocks. That a hook allows a call changes nothing: it only raises, asks or
 * blocks. The text of a hook is cut, and is shown as its text.
 */
import { safeText } from '@hob/host';
import type { HookEvent, HookRun } from './hook.ts';

/** The verdict of a hook on a call. For `post_call`, `blocks` withholds the answer. */
export interface Said {
  /** The reason, for the caller. */
  readonly blocks?: string;
  /** The call waits for a person. */
  readonly asks?: true;
  /** Text for the person who decides. */
  readonly context?: string;
  /** From 0 to 1. It never lowers anything. */
  readonly risk?: number;
  readonly confidence?: number;
}

const longestText = 500;
const longestOutput = 64 * 1024;

const nothing: Said = Object.freeze({});
const broken = (why: string): Said => ({ blocks: `it failed: ${why}` });

const failures: Readonly<Record<Exclude<HookRun['ended'], 'exit'>, string>> = {
  signal: 'it crashed',
  timeout: 'it took too long',
  limit: 'it wrote or used too much',
  missing: 'its file is not there',
  changed: 'its file is not the one that was accepted',
};

/** Reads the output of a hook. `input` is the `tool_input` that it was given. */
export function saidBy(on: HookEvent, { ended, status, stdout }: HookRun, input: unknown): Said {
  if (ended !== 'exit') return broken(failures[ended] ?? 'it did not end');
  if (status !== 0) return broken(`it ended with ${status}`);
  if (stdout.length > longestOutput) return broken(failures.limit);
  if (stdout.trim() === '') return on === 'PreToolUse' ? nothing : broken('it said nothing');
  let answer: unknown;
  try {
    answer = JSON.parse(stdout);
  } catch {
    return broken('it wrote no JSON');
  }
  if (!isRecord(answer)) return broken('it wrote no record');
  return readers[on](answer, input);
}

type Record_ = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Record_ => typeof value === 'object' && value !== null && !Array.isArray(value); // biome-ignore format: one line

const readers: Readonly<Record<HookEvent, (answer: Record_, input: unknown) => Said>> = {
  pre_call: (answer) => decided(answer, 'decision', { go: nothing, ask: { asks: true }, block: 'blocks' }),
  post_call: (answer) => decided(answer, 'decision', { pass: nothing, withhold: 'blocks' }),
  pre_tool_call: (answer) => decided(answer, 'action', { allow: nothing, ask: { asks: true }, block: 'blocks' }),
  PreToolUse: permission,
};

/** Our own words. */
function decided(answer: Record_, key: 'decision' | 'action', words: Readonly<Record<string, Said | 'blocks'>>): Said {
  const { [key]: word, message, context, risk, confidence, ...others } = answer;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) return broken(`it said ${quoted(unknown)}, which nobody knows`);
  if (!isText(message) || !isText(context)) return broken('message and context are texts');
  if (!isShare(risk) || !isShare(confidence)) return broken('risk and confidence are numbers from 0 to 1');
  const said = typeof word === 'string' && Object.hasOwn(words, word) ? words[word] : undefined;
  if (said === undefined) return broken(`its ${key} is none of ${Object.keys(words).join(', ')}`);
  if (said === 'blocks') return { blocks: message === undefined ? 'it gave no reason' : safe(message) };
  return {
    ...said,
    ...((context ?? message) === undefined ? {} : { context: safe((context ?? message) as string) }),
    ...(risk === undefined ? {} : { risk }),
    ...(confidence === undefined ? {} : { confidence }),
  };
}

const permissions: Readonly<Record<string, Said | 'blocks'>> = {
  allow: nothing,
  deny: 'blocks',
  ask: { asks: true },
  defer: { asks: true },
};

/** Claude Code's words. */
function permission(answer: Record_, input: unknown): Said {
  const { hookSpecificOutput, continue: goes, stopReason, suppressOutput, systemMessage, decision, reason, ...others } = answer; // biome-ignore format: one line
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) return broken(`it said ${quoted(unknown)}, which nobody knows`);
  if (![stopReason, systemMessage, reason].every(isText)) return broken('stopReason, systemMessage and reason are texts'); // biome-ignore format: one line
  if (![goes, suppressOutput].every((flag) => flag === undefined || typeof flag === 'boolean'))
    return broken('continue and suppressOutput are true or false');
  if (goes === false) return { blocks: safe((stopReason as string | undefined) ?? 'it stops everything') };
  if (decision !== undefined && decision !== 'approve' && decision !== 'block')
    return broken('its decision is neither approve nor block');
  if (decision === 'block') return { blocks: safe((reason as string | undefined) ?? 'it gave no reason') };
  return hookSpecificOutput === undefined ? nothing : specific(hookSpecificOutput, input);
}

function specific(given: unknown, input: unknown): Said {
  if (!isRecord(given)) return broken('hookSpecificOutput is a record');
  const { hookEventName, permissionDecision, permissionDecisionReason: why, updatedInput, additionalContext: context, ...others } = given; // biome-ignore format: one line
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) return broken(`it said ${quoted(unknown)}, which nobody knows`);
  if (hookEventName !== 'PreToolUse') return broken('hookEventName is not PreToolUse');
  if (!isText(why) || !isText(context)) return broken('permissionDecisionReason and additionalContext are texts');
  if (updatedInput !== undefined && !sameData(updatedInput, input))
    return { blocks: 'it changed the input (updatedInput): a call goes on as it was made, or not at all' };
  if (permissionDecision === undefined) return context === undefined ? nothing : { context: safe(context) };
  const said = typeof permissionDecision === 'string' && Object.hasOwn(permissions, permissionDecision) ? permissions[permissionDecision] : undefined; // biome-ignore format: one line
  if (said === undefined) return broken('its permissionDecision is none of allow, deny, ask, defer');
  if (said === 'blocks') return { blocks: why === undefined ? 'it gave no reason' : safe(why) };
  const text = context ?? why;
  return { ...said, ...(text === undefined ? {} : { context: safe(text) }) };
}

const isText = (value: unknown): value is string | undefined => value === undefined || typeof value === 'string';
const isShare = (value: unknown): value is number | undefined => value === undefined || (typeof value === 'number' && value >= 0 && value <= 1); // biome-ignore format: one line
const safe = (text: string): string => safeText(text, longestText).text;
const quoted = (text: string): string => JSON.stringify(safeText(text, 40).text);

/** The same data, whatever the order of its keys. Both came through JSON, or can. */
function sameData(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([x], [y]) => (x < y ? -1 : 1))) : inner,
  );
