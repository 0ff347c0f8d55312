/**
 * The rights of a manifest as the operations of a directory cap, and the calls that wait for a person.
 *
 * Promise: an operation is there only if every right that it needs is. A call runs without a person only if the plan
 * says so of each right that it needs.
 */
import type { FsCap } from '@hob/caps-fs';
import { canBeDraft, type Decision, type FsRight, methodsOf, type PlannedCap, rightsNaming } from '@hob/manifest';

type Operation = keyof FsCap;

/** The operations that `can` gives. */
export const operationsOf = (can: readonly FsRight[]): readonly Operation[] => methodsOf(can) as readonly Operation[];

/**
 * The methods of the part of a directory that only reads, and of the streams that it reads from. `readOnly` is the one
 * method among them that returns a directory, and that directory reads only, too: `subdir` would return one with all
 * rights. Paths lead into directories, so it is not needed.
 */
export const readingPart = (can: readonly FsRight[]): readonly string[] => [
  ...operationsOf(can.filter((right) => right === 'read' || right === 'list' || right === 'search')).filter(
    (name) => rightsNaming(name).length > 0,
  ),
  ...['readOnly', 'next', 'return'],
];

/** Those that change nothing. */
export const readingOperations: readonly Operation[] = operationsOf(['read', 'list', 'search']);

/** The methods whose calls do not run at once. Both are undefined if all do. */
export interface Waiting {
  /** Their calls wait for a person. */
  readonly gated?: readonly string[];
  /** Their calls are kept as drafts. */
  readonly drafts?: readonly string[];
}

/** The decisions of a plan, as lists of methods of a cap. */
export function waitingMethods(
  kind: PlannedCap['kind'],
  can: readonly FsRight[],
  decisions: Readonly<Record<string, Decision>>,
): Waiting {
  if (kind === 'command') return decisions['command'] === 'runs' ? {} : { gated: ['run'] };
  if (kind === 'mcp') return decisions['mcp'] === 'runs' ? {} : { gated: ['call'] };
  if (kind === 'shell') return decisions['shell'] === 'runs' ? {} : { gated: ['run', 'spawn'] };
  if (kind === 'http') return waitingRequests(decisions);
  if (kind === 'schedule') {
    const gated = Object.keys(decisions).filter((method) => decisions[method] !== 'runs');
    return gated.length === 0 ? {} : { gated };
  }
  if (kind === 'sign') return decisions['sign'] === 'runs' ? {} : { gated: ['sign'] };
  if (kind === 'host' || kind === 'unix' || kind === 'forward') return {};
  if (kind === 'message') return decisions['message'] === 'runs' ? {} : { gated: ['send'] };
  const how = (name: Operation): readonly (Decision | undefined)[] =>
    rightsNaming(name)
      .filter((right) => can.includes(right))
      .map((right) => decisions[right])
      .filter((decision) => decision !== 'runs');
  const waiting = operationsOf(can).filter((name) => how(name).length > 0);
  const drafts = waiting.filter((name) => canBeDraft(name) && how(name).every((decision) => decision === 'drafts'));
  const gated = waiting.filter((name) => !drafts.includes(name));
  return { ...(gated.length === 0 ? {} : { gated }), ...(drafts.length === 0 ? {} : { drafts }) };
}

/** `fetch` can send every method of the cap, and `get` sends GET only. */
function waitingRequests(decisions: Readonly<Record<string, Decision>>): Waiting {
  const waits = Object.keys(decisions).filter((method) => decisions[method] !== 'runs');
  if (waits.length === 0) return {};
  return { gated: [...(waits.includes('GET') ? ['get', 'getText'] : []), 'fetch', 'fetchText'] };
}

/**
 * The names that a pattern of `except` hides. A directory cap hides names at any depth, so a pattern for one place
 * hides the same name everywhere: more than was written, and never less. Undefined for a pattern of several names.
 */
export function hiddenName(pattern: string): string | undefined {
  const name = pattern.replace(/^(?:\*\*\/|\/)/, '').replace(/(?:\/\*\*|\/)$/, '');
  return name === '' || name === '**' || /[/!\\[\]]/.test(name) ? undefined : name;
}
