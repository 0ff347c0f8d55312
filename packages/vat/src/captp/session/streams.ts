/**
 * Streams of ours that a peer has: when the last peer that was given one has vanished, a source is told `return()`, a sink `abort()`, once.
 *
 * Else a file, a socket, a job stays open for somebody who is not there. A source is an object with `next` and `return`, a sink one with
 * `write`, `close` and `abort`; a forwarder what it forwards to, where its maker says so (`forwardsTo`), and a source where it has answered
 * `next` with bytes. What has ended, and what the peer itself has ended, is told nothing; neither is a bootstrap: it is offered to the next
 * peer too.
 */
import { noChain } from '../../core/causes.ts';
import { Message, type Target } from '../../core/message.ts';
import { Account } from '../../core/meter.ts';
import { hasMethods } from '../../core/outside.ts';
import { VatPromise } from '../../core/promise.ts';
import { targetOf } from '../../core/reference.ts';
import type { Fence } from './fence.ts';
import { nowhere } from './nowhere.ts';

/** How many connections were given it. */
const readers = new WeakMap<Target, number>();
/** They have ended, or were told to. */
const over = new WeakSet<Target>();
const sinks = new WeakSet<Target>();

/** Pays where the budget of the session is spent: else who has spent it keeps files open for ever. */
const elsewhere = new Account('gone');
const nothing: readonly unknown[] = Object.freeze([]);

/** What it is told. */
type Ending = 'return' | 'abort';
function endingOf(value: object): Ending | undefined {
  if (hasMethods(value, 'next', 'return')) return 'return';
  return hasMethods(value, 'write', 'close', 'abort') ? 'abort' : undefined;
}

const calls: ReadonlySet<string> = new Set(['next', 'return', 'close', 'abort']);
/** Calls that say something of the stream that they reach. */
export const ofStreams = (method: string): boolean => calls.has(method);

/** The object that the call came to; undefined where there was none, or it is not known yet which one. */
function reached({ to }: Message): Target | undefined {
  if (to === nowhere) return undefined;
  if (!(to instanceof VatPromise)) return to;
  return to.settled === 'fulfilled' ? targetOf(to.value) : undefined;
}

export class Streams {
  readonly #fence: Fence;
  readonly #account: Account;
  readonly #bootstrap: Target | undefined;
  readonly #given = new Map<Target, Ending>();
  /** Calls under way that end one. */
  readonly #endings = new Set<Message>();
  #closed = false;

  constructor(fence: Fence, account: Account, bootstrap: Target | undefined) {
    this.#fence = fence;
    this.#account = account;
    this.#bootstrap = bootstrap;
  }

  /** The peer has got this object. */
  gave(value: object, target: Target): void {
    const ending = endingOf(value);
    if (ending !== undefined) this.#give(target, ending);
  }

  #give(target: Target, ending: Ending): void {
    if (this.#given.has(target) || target === this.#bootstrap) return;
    this.#given.set(target, ending);
    if (ending === 'abort') sinks.add(target);
    readers.set(target, (readers.get(target) ?? 0) + 1);
  }

  /** It has given it back: others may still use it, and it may ask for it again. */
  dropped(target: Target): void {
    if (!this.#given.delete(target)) return;
    readers.set(target, (readers.get(target) ?? 1) - 1);
  }

  /** It calls a method that says something of a stream. */
  asked(message: Message): void {
    if (message.method !== 'next') this.#endings.add(message);
  }

  /** What came of that. */
  answered(message: Message, value: unknown): void {
    const { method } = message;
    const ends = this.#endings.delete(message);
    const to = reached(message);
    if (to === undefined) return;
    if (ends) this.#over(to, method);
    else if (method !== 'next') return;
    else if (value === undefined) over.add(to);
    else if (value instanceof Uint8Array) {
      this.#give(to, 'return');
      if (this.#closed) this.#end(to, 'return');
    }
  }

  /** What was ended badly is over; but what could not be closed may be open still. */
  refused(message: Message): void {
    if (!this.#endings.delete(message)) return;
    const { method } = message;
    const to = reached(message);
    if (to === undefined) return;
    if (method !== 'close') this.#over(to, method);
    else if (this.#closed && sinks.has(to)) this.#end(to, 'abort');
  }

  /** `close` and `abort` are methods of many things. */
  #over(target: Target, method: string): void {
    if (method === 'return' || sinks.has(target)) over.add(target);
  }

  /** An answer that came too late: what it would have given. */
  tooLate(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const target = targetOf(value);
    if (target === undefined) {
      // Most answers that hold a stream are one, or a record with one in it.
      if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
        for (const item of Object.values(value)) if (targetOf(item) !== undefined) this.tooLate(item);
      return;
    }
    const ending = endingOf(value);
    if (ending === undefined || target === this.#bootstrap) return;
    this.#give(target, ending);
    this.#end(target, ending);
  }

  /** The peer is gone. */
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
    target.post(new Message(target, ending, nothing, false, undefined, account, noChain, undefined, undefined));
  }
}
