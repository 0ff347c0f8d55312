/**
 * What two sessions say to each other, in the vocabulary of OCapN: the border between the session core, which knows no bytes,
 * and the dialects, which know nothing else.
 *
 * A dialect turns what the core says into frames (`Speaker`) and frames into calls of the core (`Listener`). Values pass through
 * it with the help of `Slots`: whatever goes by reference is an integer and a kind, as the sender of the frame sees it.
 */
import type { CapError } from '../../core/errors.ts';
import type { Limits } from './limits.ts';

/** One entry of a table, seen by who sends the frame. */
export interface Slot {
  /**
   * `object`, `promise`: the sender's own, which the receiver imports. `yours`: one that the receiver exported.
   * `answer`: what the receiver answers, or will answer, to a question of the sender's.
   */
  readonly kind: 'object' | 'promise' | 'yours' | 'answer';
  readonly id: number;
}

/** The peer broke the rules of the wire: the connection closes with this reason. */
export class Violation extends Error {
  readonly code: number;
  constructor(reason: string, code = 4400) {
    super(reason);
    this.code = code;
  }
}

/** Takes note of an error, and answers the id that joins what the peer is told to that note. */
export type Fault = (error: unknown) => string;

/** The tables, for a dialect that is encoding or decoding a value. */
export interface Slots {
  /** The slot of a reference or a promise; undefined for anything else. Throws `limit`. */
  give(value: object): Slot | undefined;
  /** The reference or promise that the peer means. Throws `Violation`, or `limit`. */
  take(slot: Slot): unknown;
  /** Records an error whose text must not leave; answers the id that leaves in its place. Absent where nobody records. */
  readonly fault?: Fault | undefined;
}

/** The arguments of a call, decoded. */
export interface DecodedArguments {
  readonly args: readonly unknown[];
  /** Some argument is, or contains, a promise. */
  readonly promises: boolean;
}

/**
 * What the core says. `deliver`, `answer` and `resolve` throw `CapError` where the value cannot be carried: then nothing was
 * said. Frames leave at `flush`.
 */
export interface OutgoingOperations {
  /** `question` 0: no answer is wanted. `method` `''`: a call without a method name. */
  deliver(to: Slot, method: string, args: readonly unknown[], question: number): void;
  /** `written`: told where `value` is bytes, and the transport has no more use for their memory; not by every dialect. */
  answer(question: number, value: unknown, written?: () => void): void;
  refuse(question: number, error: unknown): void;
  resolve(promise: number, value: unknown): void;
  break(promise: number, error: unknown): void;
  /** So many mentions of the peer's export are forgotten. */
  drop(id: number, mentions: number): void;
  /** Nothing more is sent to the answer of this question. */
  done(question: number, reference: boolean): void;
  abort(reason: string): void;
  flush(): void;
}

/** What the peer says, checked for its form. A value that could not be decoded is the `CapError` that says why. */
export interface IncomingOperations {
  /** `bytes`: about how much of the frame this is. */
  deliver(to: Slot, method: string, heard: DecodedArguments | CapError, question: number, bytes: number): void;
  /** A question for the bootstrap, in dialects where it is no export. */
  bootstrap(question: number): void;
  answer(question: number, value: unknown): void;
  refuse(question: number, error: CapError): void;
  resolve(promise: number, value: unknown): void;
  break(promise: number, error: CapError): void;
  drop(id: number, mentions: number): void;
  done(question: number): void;
  abort(reason: string): void;
}

/** A value that could not be decoded, where one was expected. */
export class Undecodable {
  readonly error: CapError;
  constructor(error: CapError) {
    this.error = error;
  }
}

export type Frame = string | Uint8Array;
export type Send = (frame: Frame, written?: () => void) => void;

/** One end of a dialect. */
export interface DialectSession extends OutgoingOperations {
  /** Takes a frame apart and tells the listener. Throws `Violation`. */
  receive(frame: Frame): void;
  /** Bytes of frames that wait for what completes them. */
  readonly kept: number;
  /** Bytes, about, of what was said last. */
  readonly said: number;
}

export interface Dialect {
  readonly name: string;
  /** Arguments may name answers that are not there yet. */
  readonly pipelinesArguments: boolean;
  /** Says when it is done with an answer: answers that are data are kept until then. */
  readonly saysDone: boolean;
  /** Its counts of mentions can be believed, and it takes back what it was told to forget. */
  readonly collects: boolean;
  /** Says at once that a promise has become one of the peer's, and understands that: else a ring of promises waits for itself for ever. */
  readonly shortens: boolean;
  /** A call without an answer does not exist. */
  readonly alwaysAsks: boolean;
  open(slots: Slots, listener: IncomingOperations, limits: Limits, send: Send): DialectSession;
}
