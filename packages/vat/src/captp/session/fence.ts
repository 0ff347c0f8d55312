/**
 * The fence around a session: every entry into it from outside goes through this file.
 *
 * Frames and the end of the transport enter a session. So do vats that commit, drivers that return, promises
 * that settle, the event loop and the garbage collector, by way of answers, targets and callbacks. An error
 * inside is a bug in Hob, and a peer may be able to cause it. An error that left the session would end the
 * process or lose work of others.
 *
 * Promise: an error inside an entry closes this connection with the close code `fault`, is recorded on this
 * side with its stack, and goes no further. The peer is told only the id of the record.
 *
 * `fence.test.ts` checks that the other files of the wire pass out callbacks, answers and targets only
 * through this file.
 */
import { type Barrier, when } from '../../core/barrier.ts';
import { CapError } from '../../core/errors.ts';
import type { ResultSink } from '../../core/message.ts';
import type { VatPromise } from '../../core/promise.ts';
import { onceOthersRan, soon } from '../../drivers/loop.ts';
import { closeCodes } from './duplex.ts';
import { type Fault, Violation } from './operations.ts';

/** The session that a fault closes. */
interface Fenced {
  /** If the session is closing or closed, the fault is only recorded. */
  close(code: number, reason: string): void;
}

export class Fence {
  readonly #note: Fault | undefined;
  /** Weak, so that a promise that never settles does not keep a closed session alive. */
  readonly #session: WeakRef<Fenced>;

  constructor(session: Fenced, note: Fault | undefined) {
    this.#session = new WeakRef(session);
    this.#note = note;
  }

  /** Records an error that an entry threw, and closes the connection. */
  fault(error: unknown): void {
    if (error instanceof Violation) return this.#session.deref()?.close(error.code, error.message);
    const id = this.#note?.(error);
    const reason = id === undefined ? 'a fault of this end' : `a fault of this end (error ${id})`;
    this.#session.deref()?.close(closeCodes.fault, reason);
  }

  /** Runs `body`. Returns false if it threw. */
  run(body: () => void): boolean {
    try {
      body();
      return true;
    } catch (error) {
      this.fault(error);
      return false;
    }
  }

  /** Wraps `body` as a fenced callback. */
  guard<A extends readonly unknown[]>(body: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      try {
        body(...args);
      } catch (error) {
        this.fault(error);
      }
    };
  }

  // ---- callbacks ------------------------------------------------------------------------------------------

  soon(body: () => void): void {
    soon(this.guard(body));
  }

  onceOthersRan(body: () => void): void {
    onceOthersRan(this.guard(body));
  }

  when(barrier: Barrier | undefined, release: () => void, lost: (why: Error) => void): void {
    when(barrier, this.guard(release), this.guard(lost));
  }

  watch(promise: VatPromise, fulfilled: (value: unknown) => void, broken: (error: unknown) => void): void {
    promise.watch(this.guard(fulfilled), this.guard(broken));
  }

  watchOutside(promise: VatPromise, fulfilled: (value: unknown) => void, broken: (error: unknown) => void): void {
    promise.watchOutside(this.guard(fulfilled), this.guard(broken));
  }

  watchShortening(promise: VatPromise, tell: () => void): void {
    promise.watchShortening(this.guard(tell));
  }

  answer(fulfil: (value: unknown) => void, break_: (error: unknown) => void): ResultSink {
    return { fulfil: this.guard(fulfil), break: this.guard(break_) };
  }
}

type Methods<T> = { [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] };
/** The wrapper of an entry passes on at most five arguments. */
type AtMostFive = 0 | 1 | 2 | 3 | 4 | 5;
type EntryRule<T, F> = F extends (...args: infer A) => infer R
  ? 'inside' | (A['length'] extends AtMostFive ? (self: T, ...args: A) => R : never)
  : never;
/**
 * Every public method of a class whose objects leave the session.
 *
 * `inside`: only other parts of the session call it, or its errors are meant for the caller. Any other value
 * makes the method an entry: it is the function whose result the caller gets after a fault.
 */
type EntryRules<T> = { readonly [K in keyof Methods<T>]: EntryRule<T, Methods<T>[K]> };

/** Fences the entries of a class. A method that `entries` does not list is a type error. */
export function fenced<T extends { readonly fence: Fence }>(
  made: abstract new (...args: never[]) => T,
  entries: EntryRules<T>,
): void {
  const methods = made.prototype as Record<string, (this: T, ...args: unknown[]) => unknown>;
  for (const [name, otherwise] of Object.entries(entries) as [string, unknown][]) {
    const method = methods[name];
    if (typeof otherwise !== 'function' || method === undefined) continue;
    // Five parameters, because a rest parameter would cost more than most entries do (bench captp, two hops).
    const entry = function (this: T, a?: unknown, b?: unknown, c?: unknown, d?: unknown, e?: unknown): unknown {
      try {
        return method.call(this, a, b, c, d, e);
      } catch (error) {
        this.fence.fault(error);
        return otherwise(this, a, b, c, d, e);
      }
    };
    methods[name] = Object.defineProperty(entry, 'name', { value: `fenced ${name}` });
  }
}

/** The result after a fault of an entry that returns nothing. */
export const returnsNothing = (): void => {};

/** The error with which pending promises break when a connection ends. */
export const disconnected = (): CapError =>
  new CapError(
    'disconnected',
    'the connection is closed: connect again, and look at what happened before you repeat a call',
  );
