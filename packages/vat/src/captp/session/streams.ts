/**
 * Ends the streams of ours that a peer holds. When the last peer that was given a stream is gone, a source
 * gets `return()` and a sink gets `abort()`, once. Otherwise a file, a socket or a job stays open for nobody.
 *
 * A source is an object with `next` and `return`. A sink is an object with `write`, `close` and `abort`. A
 * forwarder counts as its target if its maker says so (`forwardsTo`), and as a source once it has answered
 * `next` with bytes. A stream that has ended, or that the peer has ended, gets no call. Neither does a
 * bootstrap, because it is offered to the next peer too.
 */
import { noChain } from '../../core/causes.ts';
import { Message, type Target } from '../../core/message.ts';
import { Account } from '../../core/meter.ts';
import { hasMethods } from '../../core/outside.ts';
import { VatPromise } from '../../core/promise.ts';
import { targetOf } from '../../core/reference.ts';
import type { Fence } from './fence.ts';

/** The number of connections that were given each stream. */
const readers = new WeakMap<Target, number>();
/** Streams that have ended or were told to end. */
const over = new WeakSet<Target>();
const sinks = new WeakSet<Target>();

/**
 * Pays if the budget of the session is spent. Otherwise a session without budget would keep files open for
 * ever.
 */
const elsewhere = new Account('gone');
const nothing: readonly unknown[] = Object.freeze([]);

/** The method that ends a stream. */
type Ending = 'return' | 'abort';
function endingOf(value: object): Ending | undefined {
  if (hasMethods(value, 'next', 'return')) return 'return';
  return hasMethods(value, 'write', 'close', 'abort') ? 'abort' : undefined;
}

const calls: ReadonlySet<string> = new Set(['next', 'return', 'close', 'abort']);
/** True for the methods from which the state of a stream can be learned. */
export const ofStreams = (method: string): boolean => calls.has(method);

/** The object that received the call; undefined if it is not known yet. */
function reached({ to }: Message): Target | undefined {
  if (!(to instanceof VatPromise)) return to;
  return to.settled === 'fulfilled' ? targetOf(to.value) : undefined;
}

export class Streams {
  readonly #fence: Fence;
  readonly #account: Account;
  readonly #bootstrap: Target | undefined;
  readonly #given = new Map<Target, Ending>();
  /** Calls under way that end a stream. */
  readonly #endings = new Set<Message>();
  #closed = false;

  constructor(fence: Fence, account: Account, bootstrap: Target | undefined) {
    this.#fence = fence;
    this.#account = account;
    this.#bootstrap = bootstrap;
  }

  /** The peer was given this object. */
  exported(value: object, target: Target): void {
    const ending = endingOf(value);
    if (ending !== undefined) this.#give(target, ending);
  }

  #give(target: Target, ending: Ending): void {
    if (this.#given.has(target) || target === this.#bootstrap) return;
    this.#given.set(target, ending);
    if (ending === 'abort') sinks.add(target);
    readers.set(target, (readers.get(target) ?? 0) + 1);
  }

  /** The peer dropped this object. Others may still use it, and the peer may ask for it again. */
  dropped(target: Target): void {
    if (!this.#given.delete(target)) return;
    readers.set(target, (readers.get(target) ?? 1) - 1);
  }

  /** The peer called a method of a stream. */
  asked(message: Message): void {
    if (message.method !== 'next') this.#endings.add(message);
  }

  /** The call of a method of a stream returned. */
  answered(message: Message, value: unknown): void {
    const { method } = message;
    const ends = this.#endings.delete(message);
    const to = reached(message);
    if (to === undefined) return;
    if (ends) this.#markEnded(to, method);
    else if (method !== 'next') return;
    else if (value === undefined) over.add(to);
    else if (value instanceof Uint8Array) {
      this.#give(to, 'return');
      if (this.#closed) this.#end(to, 'return');
    }
  }

  /**
   * The call failed. A failed `return` or `abort` still ends the stream, but a sink whose `close` failed may
   * be open.
   */
  refused(message: Message): void {
    if (!this.#endings.delete(message)) return;
    const { method } = message;
    const to = reached(message);
    if (to === undefined) return;
    if (method !== 'close') this.#markEnded(to, method);
    else if (this.#closed && sinks.has(to)) this.#end(to, 'abort');
  }

  /** `close` and `abort` are methods of many objects, so they end only known sinks. */
  #markEnded(target: Target, method: string): void {
    if (method === 'return' || sinks.has(target)) over.add(target);
  }

  /** The answer came after the end of the connection. Streams in it are ended. */
  lateAnswer(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const target = targetOf(value);
    if (target === undefined) {
      // Most answers with a stream are the stream, or a record with a stream in it.
      if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
        for (const item of Object.values(value)) if (targetOf(item) !== undefined) this.lateAnswer(item);
      return;
    }
    const ending = endingOf(value);
    if (ending === undefined || target === this.#bootstrap) return;
    this.#give(target, ending);
    this.#end(target, ending);
  }

  /** The connection is closed. */
  end(): void {
    this.#closed = true;
    for (const [target, ending] of [...this.#given]) this.#fence.run(() => this.#end(target, ending));
  }

  #end(target: Target, ending: Ending): void {
    this.dropped(target);
    if ((readers.get(target) ?? 0) > 0 || over.has(target)) return;
    for (const message of this.#endings) if (reached(message) === target) return;
    over.add(target);
    let account = this.#account;
    try {
      account.charge('messages', 1);
    } catch {
      account = elsewhere;
      account.charge('messages', 1);
    }
    target.post(new Message({ to: target, method: ending, args: nothing, account, chain: noChain }));
  }
}
