/** A program of the person who runs the host, which looks at calls. */

/**
 * When a hook runs, and in whose words it speaks. `pre_call` and `post_call` are ours; `pre_tool_call` has the JSON of
 * Hermes' shell hooks, `PreToolUse` that of Claude Code's.
 */
export type HookEvent = 'pre_call' | 'post_call' | 'pre_tool_call' | 'PreToolUse';

/**
 * How the program ended. `missing` and `changed`: the file is not the one that was accepted, and nothing ran.
 * `limit`: it wrote too much, or used too much.
 */
export interface HookRun {
  readonly ended: 'exit' | 'signal' | 'timeout' | 'limit' | 'missing' | 'changed';
  readonly status: number;
  readonly stdout: string;
}

/** Runs the program once, confined, with this text as its whole input. It keeps the time limit. A rejection is a failure. */
export type HookRunner = (input: string, signal: AbortSignal) => Promise<HookRun>;

/** A hook, and the calls that it looks at. */
export interface Hook {
  /** How people and errors call it: letters, digits, `_` and `-`. */
  readonly name: string;
  readonly on: HookEvent;
  /** The petnames of the caps that it looks at, or whether it looks at one. All if it is not given. */
  readonly caps?: readonly string[] | ((cap: { readonly petname: string; readonly offer: string }) => boolean);
  /** The methods that it looks at. All if it is not given. */
  readonly methods?: readonly string[];
  readonly run: HookRunner;
}
