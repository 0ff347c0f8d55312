/** A verb: its words for the model, its schemas, and the function that does it. */
import type { Far } from '@hob/vat/peer';
import type { Answer } from '../text/answer.ts';
import type { ArgumentSchema, Arguments, RecordSchema } from './arguments.ts';
import type { Held } from './session.ts';

/** A program that runs in the background, as far as a verb uses it: `SentJob` of `@hob/caps-shell`. */
export interface RunningJob {
  stdout(): Promise<Source>;
  stderr(): Promise<Source>;
  signal(name: 'KILL'): Promise<void>;
  wait(): Promise<unknown>;
}

/** The output of a job. */
export interface Source {
  next(max?: number): Promise<Uint8Array | undefined>;
}

/** What a verb may use of its face. */
export interface Call {
  readonly args: Arguments;
  /** Calls a method of the cap that the session holds under this petname. It ends when the call is cancelled. */
  send(cap: string, method: string, ...args: readonly unknown[]): Promise<unknown>;
  /** What the session holds now. */
  holdings(): Promise<readonly Held[]>;
  /** Files a request. `outcome` is the petname that was granted. */
  ask(cap: string, terms: { readonly uses?: number; readonly for?: number }, why: string): Promise<{ readonly request: string; readonly outcome: Promise<string> }>; // biome-ignore format: one line
  /** Keeps an answer that is not there yet, under the id of its request, for `wait_for`. */
  keep(id: string, answer: Promise<Answer>): void;
  /** Waits for what an id stands for. */
  waitFor(id: string): Promise<Answer>;
  /** The jobs that this face began, by `CAP NAME`. */
  readonly jobs: Map<string, Job>;
  /** A new name for a job. */
  newJob(): string;
  /** Resolves with undefined if `promise` is not there after `ms`. */
  within<T>(promise: Promise<T>, ms: number): Promise<{ readonly value: T } | undefined>;
}

/** A job with what was read of its output. */
export interface Job {
  readonly job: Far<RunningJob>;
  readonly streams: readonly [Stream, Stream];
}

/** One stream of a job. `next` is the read that is under way. */
export interface Stream {
  source: Promise<Far<Source>> | undefined;
  next: Promise<Uint8Array | undefined> | undefined;
  over: boolean;
  readonly decoder: TextDecoder;
}

/** A verb. */
export interface Verb {
  readonly name: string;
  /** For the model. */
  readonly about: string;
  readonly args: Readonly<Record<string, ArgumentSchema>>;
  readonly required: readonly string[];
  /** The fields of the data of an answer. An error has `code`, `message` and `ask` instead, so none is required. */
  readonly result: Readonly<Record<string, object>>;
  /** It changes nothing. */
  readonly readOnly?: true;
  run(call: Call): Promise<Answer>;
}

/** The argument that names a cap. */
export const CAP: ArgumentSchema = { type: 'string', description: 'petname, see caps' };
export const TEXT = { type: 'string' } as const;
export const COUNT = { type: 'integer', minimum: 1 } as const;

export const inputOf = ({ args, required }: Verb): RecordSchema => ({
  type: 'object',
  properties: args,
  required,
  additionalProperties: false,
});

export const outputOf = ({ result }: Verb): RecordSchema => ({ type: 'object', properties: result });

/** The fields that were given. */
export function given(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
