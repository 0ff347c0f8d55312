/**
 * Streams of ours that a peer reads: when the last peer that was given one has vanished, its source is told `return()`, once.
 *
 * Else a file, a socket, a job of the source's stays open for a reader that is not there. A stream is an object with `next` and
 * `return`; of a forwarder, whose methods nobody can see, one that has answered `next` with bytes. What has ended, and what the
 * peer itself has returned, is told nothing; neither is a bootstrap: it is offered to the next peer too.
 */
import { noChain } from '../../causes.ts';
import { mutant } from '../../drivers/mutant.ts';
import { Message, type Target } from '../../message.ts';
import { Account } from '../../meter.ts';
import { targetOf } from '../../reference.ts';

const staySilent = mutant('captp-stream-end');

/** How many connections were given it. */
const readers = new WeakMap<Target, number>();
/** They have ended, or were told to. */
const over = new WeakSet<Target>();

/** Pays where the budget of the session is spent: else who has spent it keeps files open for ever. */
const elsewhere = new Account('gone');
const nothing: readonly unknown[] = Object.freeze([]);

const isStream = (value: object): boolean => 'next' in value && 'return' in value;
/** Calls that say something of the stream that they reach. */
export const ofStreams = (method: string): boolean => method === 'next' || method === 'return';

export class Streams {
  readonly #account: Account;
  readonly #bootstrap: Target | undefined;
  readonly #given = new Set<Target>();
  /** Under way. */
  readonly #returns = new Set<Message>();
  #closed = false;

  constructor(account: Account, bootstrap: Target | undefined) {
    this.#account = account;
    this.#bootstrap = bootstrap;
  }

  /** The peer has got this object. */
  gave(value: object, target: Target): void {
    if (isStream(value)) this.#give(target);
  }

  #give(target: Target): void {
    if (this.#given.has(target) || target === this.#bootstrap) return;
    this.#given.add(target);
    readers.set(target, (readers.get(target) ?? 0) + 1);
  }

  /** It has given it back: others may still read it, and it may ask for it again. */
  dropped(target: Target): void {
    if (!this.#given.delete(target)) return;
    readers.set(target, (readers.get(target) ?? 1) - 1);
  }

  /** It calls `next` or `return` of something. */
  asked(message: Message): void {
    if (message.method === 'return') this.#returns.add(message);
  }

  /** What came of that. */
  answered(message: Message, value: unknown): void {
    const { to } = message;
    if (this.#returns.delete(message) || value === undefined) over.add(to);
    else if (value instanceof Uint8Array) {
      this.#give(to);
      if (this.#closed) this.#end(to);
    }
  }

  refused(message: Message): void {
    if (this.#returns.delete(message)) over.add(message.to);
  }

  /** An answer that came too late: what it would have given. */
  tooLate(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const target = targetOf(value);
    if (target === undefined) {
      // Most answers that hold a stream are one, or a record with one in it.
      if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
        for (const item of Object.values(value)) if (targetOf(item) !== undefined) this.tooLate(item);
    } else if (isStream(value) && target !== this.#bootstrap) {
      this.#give(target);
      this.#end(target);
    }
  }

  /** The peer is gone. */
  end(): void {
    this.#closed = true;
    for (const target of [...this.#given]) this.#end(target);
  }

  #end(target: Target): void {
    this.dropped(target);
    if ((readers.get(target) ?? 0) > 0 || over.has(target) || staySilent) return;
    for (const { to } of this.#returns) if (to === target) return;
    over.add(target);
    let account = this.#account;
    try {
      account.charge('messages', 1);
    } catch {
      account = elsewhere;
      account.charge('messages', 1);
    }
    target.post(new Message(target, 'return', nothing, false, undefined, account, noChain, undefined, undefined));
  }
}
