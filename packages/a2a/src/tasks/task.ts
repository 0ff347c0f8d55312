/** Tasks of other agents, as data. */

/** The states of a task, with the words of A2A 1.0. The last four are ends. */
export type TaskState = 'working' | 'auth-required' | 'completed' | 'failed' | 'canceled' | 'rejected';

/** Whether a task is over. */
export const isEnd = (state: TaskState): boolean => state !== 'working' && state !== 'auth-required';

/** A call of a cap, as a peer writes it in a data part. */
export interface AskedCall {
  readonly cap: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** The work that a task asks for: a call, or words for an agent. */
export interface Asked {
  readonly call?: AskedCall;
  /** Beside a call it is a comment, which nobody acts on. */
  readonly text: string;
}

/** The result of a task: of a call as JSON, of an agent as text. */
export type TaskOutput = { readonly value: unknown } | { readonly text: string };

/** A task without its result. */
export interface TaskRow {
  readonly id: string;
  /** The name of the peer that sent it. */
  readonly peer: string;
  /** The id of the message, by which the peer may send it again. */
  readonly message: string;
  readonly context: string;
  readonly state: TaskState;
  /** The time of the last change, in ms since 1970. */
  readonly at: number;
  /** The session that works on it. */
  readonly session?: string;
  /** A sentence for the peer. */
  readonly said?: string;
  /** The requests that wait for a person. */
  readonly requests?: readonly string[];
}

/** A task with what has come of it. */
export interface Task {
  readonly row: TaskRow;
  readonly output?: TaskOutput | undefined;
}
