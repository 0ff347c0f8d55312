/** Says what happens to a call under a plan: it runs, it waits for a person, it becomes a draft, or there is no cap for it. */
import type { Mode } from '../file/types.ts';
import { hidden } from '../words/except.ts';
import { takes } from '../words/row.ts';
import { splitWords } from '../words/split.ts';
import { canBeDraft, type Effect, effectOfFs, effectOfHttp, effectOfSchedule, methodsOf, programOf, scheduleMethods } from './effects.ts'; // biome-ignore format: one line
import { isPathBeneath, type Plan, type PlannedCap, type PlannedCommand, type PlannedFs } from './plan.ts';

/** The decision about a call. */
export type Decision = 'runs' | 'asks' | 'drafts' | 'absent';

/**
 * A call to judge. `method` is one of the cap's kind, for example `readText`, `POST` or the name of a tool. `path` lies
 * beneath the cap's directory, or is the path of an address. `command` names no cap: every command cap is tried.
 */
export type Call =
  | { readonly cap: string; readonly method?: string; readonly argv?: readonly string[]; readonly path?: string }
  | { readonly command: string | readonly string[] };

/** A write becomes a draft if it can be shown before it is made, and asks otherwise. */
const BY_MODE: Readonly<Record<Mode, Readonly<Record<Effect, Decision>>>> = {
  plan: { read: 'runs', write: 'drafts', external: 'asks' },
  supervised: { read: 'runs', write: 'asks', external: 'asks' },
  cautious: { read: 'runs', write: 'runs', external: 'asks' },
  autonomous: { read: 'runs', write: 'runs', external: 'runs' },
};

/** Judges one call. It executes nothing. */
export function decide(plan: Plan, call: Call): Decision {
  if ('command' in call) {
    const words = typeof call.command === 'string' ? splitWords(call.command) : call.command;
    if (words === undefined) return 'absent';
    return strongest(runnersOf(plan, words).map((cap) => decisionOf(plan, cap, effectOf(cap, {}))));
  }
  const cap = Object.hasOwn(plan.caps, call.cap) ? plan.caps[call.cap] : undefined;
  if (cap === undefined || !allows(plan, cap, call)) return 'absent';
  return decisionOf(plan, cap, effectOf(cap, call), call.method);
}

/** The caps of a plan that run a command: command caps of this program with a row that takes it, and every shell. */
function runnersOf(plan: Plan, [program = '', ...args]: readonly string[], work?: Work): readonly PlannedCap[] {
  return Object.values(plan.caps).filter(
    (cap) =>
      cap.kind === 'shell' ||
      (cap.kind === 'command' && isProgram(cap, program) && takesArgs(plan, cap, args, undefined, work)),
  );
}

/** Like `runnersOf`, and a program of the same name at another place counts too: for examples that must not run. */
export function mayRun(plan: Plan, [program = '', ...args]: readonly string[], work?: Work): readonly PlannedCap[] {
  if (work !== undefined) work.left -= Object.keys(plan.caps).length;
  return runnersOf(plan, [programOf(program), ...args], work);
}

/** Comparisons are taken off `left`. At 0, nothing more is compared. */
type Work = { left: number };

/** A path that the cap does not name may be another program. */
const isProgram = ({ command }: PlannedCommand, program: string): boolean =>
  program === command || program === programOf(command);

/**
 * Whether one of the rows of a command cap takes these arguments. `isPath` is a further test of each path, for a host
 * that knows where the directories are mounted.
 */
export function takesArgs(
  plan: Pick<Plan, 'caps'>,
  cap: PlannedCommand,
  args: readonly string[],
  isPath: (path: string) => boolean = () => true,
  work?: Work,
): boolean {
  const isBeneath = (name: string, path: string): boolean => {
    const place = plan.caps[name];
    return place?.kind === 'fs' && isPathBeneath(path, cap.cwd, place.directory) && isPath(path);
  };
  const context = { flags: cap.flags, isBeneath, ...(work === undefined ? {} : { work }) };
  return cap.rows.some((row) => (work === undefined || work.left > 0) && takes(row, args, context));
}

function allows(plan: Plan, cap: PlannedCap, call: Extract<Call, { cap: string }>): boolean {
  switch (cap.kind) {
    case 'fs':
      return methodsOf(cap.can).includes(call.method ?? 'read') && !isExcepted(cap, call.path ?? '');
    case 'command':
      return call.argv !== undefined && takesArgs(plan, cap, call.argv);
    case 'http':
      return (
        cap.methods.some((method) => method === (call.method ?? 'GET')) &&
        isBeneathPrefix(call.path ?? cap.path, cap.path)
      );
    case 'mcp':
      return call.method !== undefined && cap.tools.includes(call.method);
    case 'schedule':
      return scheduleMethods.includes(call.method ?? 'every');
    case 'shell':
    case 'message':
    case 'sign':
      return true;
    case 'host':
    case 'unix':
    case 'forward':
      return call.method === 'describe';
  }
}

/** A directory takes no path with more names, or with a longer one. */
const MOST_NAMES = 128;
const LONGEST_NAME = 255;

/** Outside of the directory there is nothing, and what `except` names is not there. */
function isExcepted({ except }: PlannedFs, path: string): boolean {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.length > MOST_NAMES || names.some((name) => name.length > LONGEST_NAME)) return true;
  return path.startsWith('/') || names.includes('..') || hidden(except)(names.join('/'));
}

/** Whether a request stays beneath the prefix, however the path is written. */
function isBeneathPrefix(path: string, prefix: string): boolean {
  if (!path.startsWith('/') || /%2e|%2f|%5c|\\/i.test(path)) return false;
  return new URL(path.replace(/^\/+/, '/'), 'https://h').pathname.startsWith(prefix) && !path.startsWith('//');
}

function effectOf(cap: PlannedCap, call: { readonly method?: string }): Effect {
  switch (cap.kind) {
    case 'fs':
      return effectOfFs(call.method ?? 'read');
    case 'command':
    case 'shell':
      return cap.effect;
    case 'http':
      return effectOfHttp(call.method ?? 'GET');
    case 'schedule':
      return effectOfSchedule(call.method ?? 'every');
    case 'mcp':
    case 'message':
    case 'sign':
      return 'external';
    case 'host':
    case 'unix':
    case 'forward':
      return 'read';
  }
}

/**
 * The decisions of a plan about the calls of a cap: for a directory by right (`read`, `write`, …), for http and
 * schedules by method, for every other kind under the name of its kind.
 */
export function decisionsOf(plan: Plan, cap: PlannedCap): Readonly<Record<string, Decision>> {
  const parts = partsOf(cap);
  if (parts.length === 0) return { [cap.kind]: decisionOf(plan, cap, effectOf(cap, {})) };
  return Object.fromEntries(parts.map((method) => [method, decisionOf(plan, cap, effectOf(cap, { method }), method)]));
}

function partsOf(cap: PlannedCap): readonly string[] {
  if (cap.kind === 'fs') return cap.can;
  if (cap.kind === 'http') return cap.methods;
  return cap.kind === 'schedule' ? scheduleMethods : [];
}

/**
 * Returns the decision of a mode about a call with this effect. `ask`, `needs` and `always_human` ask in every mode.
 * A program asks where a write would be a draft: nobody can show what it will change.
 */
export function decisionOf(
  { mode }: Pick<Plan, 'mode'>,
  cap: PlannedCap,
  effect: Effect,
  method: string | undefined = undefined,
): Decision {
  if (cap.how === 'ask' || cap.terms.alwaysHuman === true || cap.terms.needs !== undefined) return 'asks';
  const decision = BY_MODE[mode][effect];
  const isDraft = cap.kind === 'fs' && method !== undefined && canBeDraft(method);
  return decision === 'drafts' && !isDraft ? 'asks' : decision;
}

const ORDER: readonly Decision[] = ['absent', 'drafts', 'asks', 'runs'];
const strongest = (all: readonly Decision[]): Decision =>
  all.reduce<Decision>((most, one) => (ORDER.indexOf(one) > ORDER.indexOf(most) ? one : most), 'absent');
