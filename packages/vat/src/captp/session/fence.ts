/**
 * The fence around a session: every way into it from outside goes through here.
 *
 * A session is entered by frames and by the end of its transport, but also by whoever has an answer of it, a target or a callback: vats that
 * commit, drivers that answer, promises that settle, the event loop, the garbage collector. An error there is a fault of ours, and a peer may
 * be able to bring it about. Thrown on, it would end the process, or take what others wait for with it.
 *
 * Promise: an error that comes out of an entry ends this connection, with the close code of a fault, is noted on this side with its stack, and
 * goes no further. Nothing of it is said to the peer but the id of the note.
 *
 * `fence.test.ts` sees to it that the other files of the wire hand out callbacks, answers and targets only by way of this one.
 */
import { type Barrier, when } from '../../core/barrier.ts';
import { CapError } from '../../core/errors.ts';
import type { Answer } from '../../core/message.ts';
import type { VatPromise } from '../../core/promise.ts';
import { onceOthersRan, soon } from '../../drivers/loop.ts';
import { closeCodes } from './duplex.ts';
import { type Fault, Violation } from './operations.ts';

/** What a fault ends. */
export interface Fenced {
  /** Also where it is closed already, or about to be: then it is only noted. */
  close(code: number, reason: string): void;
}

export class Fence {
  readonly #note: Fault | undefined;
  /** A promise that never settles must not keep a session that is over. */
  readonly #session: WeakRef<Fenced>;

  constructor(session: Fenced, note: Fault | undefined) {
    this.#session = new WeakRef(session);
    this.#note = note;
  }

  /** An error came out of an entry: notes it, and ends the connection. */
  fault(error: unknown): void {
    if (error instanceof Violation) return this.#session.deref()?.close(error.code, error.message);
    const id = this.#note?.(error);
    const reason = id === undefined ? 'a fault of this end' : `a fault of this end (error ${id})`;
    this.#session.deref()?.close(closeCodes.fault, reason);
  }

  /** Runs `body`; whether it came to its end. */
  run(body: () => void): boolean {
    try {
      body();
      return true;
    } catch (error) {
      this.fault(error);
      return false;
    }
  }

  /** `body`, as a callback. */
  guard<A extends readonly unknown[]>(body: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      try {
        body(...args);
      } catch (error) {
        this.fault(error);
      }
    };
  }

  // ---- callbacks ----------------------------------------------------------------------------------------------------------

  soon(body: () => void): void {
    soon(this.guard(body));
  }

  onceOthersRan(body: () => void): void {
    onceOthersRan(this.guard(body));
  }

  when(barrier: Barrier | undefined, release: () => void, lost: (why: Error) => void): void {
    when(barrier, this.guard(release), this.guard(lost));
  }

  watch(vow: VatPromise, fulfilled: (value: unknown) => void, broken: (error: unknown) => void): void {
    vow.watch(this.guard(fulfilled), this.guard(broken));
  }

  watchOutside(vow: VatPromise, fulfilled: (value: unknown) => void, broken: (error: unknown) => void): void {
    vow.watchOutside(this.guard(fulfilled), this.guard(broken));
  }

  watchShortening(vow: VatPromise, tell: () => void): void {
    vow.watchShortening(this.guard(tell));
  }

  answer(fulfil: (value: unknown) => void, break_: (error: unknown) => void): Answer {
    return { fulfil: this.guard(fulfil), break: this.guard(break_) };
  }
}

type Methods<T> = { [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] };
type Entry<T, F> = F extends (...args: infer A) => infer R ? 'inside' | ((self: T, ...args: A) => R) : never;
/**
 * Every public method of a class whose objects leave the session. `inside`: only other parts of the session call it, or its errors are for the
 * caller. Otherwise it is an entry, and this is what it returns to the caller after a fault.
 */
export type Entries<T> = { readonly [K in keyof Methods<T>]: Entry<T, Methods<T>[K]> };

/** Fences the entries of a class. A method that the table does not name is an error of types. */
export function fenced<T extends { readonly fence: Fence }>(
  made: abstract new (...args: never[]) => T,
  entries: Entries<T>,
): void {
  const methods = made.prototype as Record<string, (this: T, ...args: unknown[]) => unknown>;
  for (const [name, otherwise] of Object.entries(entries) as [string, unknown][]) {
    const method = methods[name];
    if (typeof otherwise !== 'function' || method === undefined) continue;
    const entry = function (this: T, ...args: unknown[]): unknown {
      try {
        return Reflect.apply(method, this, args);
      } catch (error) {
        this.fence.fault(error);
        return Reflect.apply(otherwise, undefined, [this, ...args]);
      }
    };
    methods[name] = Object.defineProperty(entry, 'name', { value: `fenced ${name}` });
  }
}

/** What an entry returns that returns nothing. */
export const ends = (): void => {};

/** What breaks when a connection ends. */
export const disconnected = (): CapError =>
  new CapError(
    'disconnected',
    'the connection is closed: connect again, and look at what happened before you repeat a call',
  );
