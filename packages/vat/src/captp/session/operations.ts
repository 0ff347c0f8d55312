/**
 * The operations that the session core and the dialects exchange, named after OCapN's.
 *
 * The session core handles no bytes. A dialect does all encoding and decoding: it turns operations of the
 * core into frames (`OutgoingOperations`) and frames into calls of the core (`IncomingOperations`). It uses
 * `Slots` to encode values. Everything that is passed by reference becomes an integer and a kind, from the
 * point of view of the sender of the frame.
 */
import type { CapError } from '../../core/errors.ts';
import type { SessionLimits } from './limits.ts';

/** An entry of a table, from the point of view of the sender of the frame. */
export interface Slot {
  /**
   * `object`, `promise`: exported by the sender, imported by the receiver.
   * `yours`: exported by the receiver.
   * `answer`: the receiver's answer to a question of the sender. It may still be pending.
   */
  readonly kind: 'object' | 'promise' | 'yours' | 'answer';
  readonly id: number;
}

/** The peer broke a rule of the wire. The connection closes with this reason. */
export class Violation extends Error {
  readonly code: number;
  constructor(reason: string, code = 4400) {
    super(reason);
    this.code = code;
  }
}

/** Records an error on this side. Returns an id; the peer is told the id instead of the text. */
export type Fault = (error: unknown) => string;

/** The tables of a session, as a dialect uses them to encode and decode values. */
export interface Slots {
  /** Returns the slot of a reference or a promise, and undefined for anything else. Throws `limit`. */
  give(value: object): Slot | undefined;
  /** Returns the reference or promise that a slot of the peer stands for. Throws `Violation` or `limit`. */
  take(slot: Slot): unknown;
  /** Records an error whose text must not leave and returns its id. Absent if nobody records errors. */
  readonly fault?: Fault | undefined;
}

/** The arguments of a call, decoded. */
export interface DecodedArguments {
  readonly args: readonly unknown[];
  /** True if an argument is a promise or contains one. */
  readonly promises: boolean;
}

/**
 * Operations that the core sends.
 *
 * `deliver`, `answer` and `resolve` throw `CapError` if the value cannot be encoded; then nothing was sent.
 * Frames leave at `flush`.
 */
interface OutgoingOperations {
  /** `question` 0: no answer is wanted. `method` `''`: the target is called as a function. */
  deliver(to: Slot, method: string, args: readonly unknown[], question: number): void;
  /**
   * `written` is called if `value` is bytes and the transport no longer needs their memory. Not every dialect
   * calls it.
   */
  answer(question: number, value: unknown, written?: () => void): void;
  refuse(question: number, error: unknown): void;
  resolve(promise: number, value: unknown): void;
  break(promise: number, error: unknown): void;
  /** Gives back this many mentions of the peer's export. */
  drop(id: number, mentions: number): void;
  /** No further message goes to the answer of this question. `reference`: the answer is a reference. */
  done(question: number, reference: boolean): void;
  abort(reason: string): void;
  flush(): void;
}

/**
 * Operations that the peer sent. The dialect has checked their form. A value that could not be decoded is
 * passed as the `CapError` that says why.
 */
export interface IncomingOperations {
  /** `bytes`: the approximate size of this operation. */
  deliver(to: Slot, method: string, args: DecodedArguments | CapError, question: number, bytes: number): void;
  /** Asks for the bootstrap. Used by dialects in which the bootstrap is not export 0. */
  bootstrap(question: number): void;
  answer(question: number, value: unknown): void;
  refuse(question: number, error: CapError): void;
  resolve(promise: number, value: unknown): void;
  break(promise: number, error: CapError): void;
  drop(id: number, mentions: number): void;
  done(question: number): void;
  abort(reason: string): void;
}

/** Passed in place of a value that could not be decoded. */
export class Undecodable {
  readonly error: CapError;
  constructor(error: CapError) {
    this.error = error;
  }
}

export type Frame = string | Uint8Array;
export type Send = (frame: Frame, written?: () => void) => void;

/** A dialect at work on one connection. */
export interface DialectSession extends OutgoingOperations {
  /** Decodes a frame and calls the listener for each operation. Throws `Violation`. */
  receive(frame: Frame): void;
  /** Bytes received that wait for the frame that completes them. */
  readonly kept: number;
  /** Approximate size in bytes of the last operation sent. */
  readonly lastSize: number;
}

export interface Dialect {
  readonly name: string;
  /** Arguments may refer to answers that are still pending. */
  readonly pipelinesArguments: boolean;
  /** The peer sends `done` for each answer. Answers that are data are kept until then. */
  readonly saysDone: boolean;
  /** The peer's counts of mentions are exact. It can export an object again after we dropped it. */
  readonly collects: boolean;
  /**
   * Reports at once that an exported promise became a promise of the receiver. Without this, a ring of
   * promises never settles.
   */
  readonly shortens: boolean;
  /** Every call is a question. A call without an answer cannot be expressed. */
  readonly alwaysAsks: boolean;
  open(slots: Slots, listener: IncomingOperations, limits: SessionLimits, send: Send): DialectSession;
}
