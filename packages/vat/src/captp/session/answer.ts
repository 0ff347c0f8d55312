/**
 * A question of the peer's, and what it is answered with.
 *
 * Promise: it is answered once, when every turn that decided the answer is durable. Calls on it go where the answer goes, in the
 * order in which they came, also before it is there; on data they break. What cannot be carried breaks the answer, and so
 * nobody reaches it by way of the answer either.
 */
import { type Barrier, barrier, later } from '../../core/barrier.ts';
import { CapError } from '../../core/errors.ts';
import { type Answer as Awaited, type Message, type Target, toData } from '../../core/message.ts';
import type { Account } from '../../core/meter.ts';
import { VatPromise, vatPromiseOf } from '../../core/promise.ts';
import { targetOf } from '../../core/reference.ts';
import { disconnected, ends, type Fence, fenced } from './fence.ts';
import { Owned } from './owned.ts';

/** Who is told when an answer is there. */
export interface Answering {
  readonly account: Account;
  readonly fence: Fence;
  /** Says it to the peer; answers why it could not be carried. */
  answered(answer: Answer, value: unknown): CapError | undefined;
  refused(answer: Answer, error: unknown): void;
  /** What it waited for is lost with its store. */
  lost(why: Error): void;
}

export class Answer implements Awaited {
  readonly question: number;
  /** What it takes of the connection's memory. */
  weight: number;
  /** The call itself, where it is one of a stream's. */
  ofStream: Message | undefined = undefined;
  /** Bytes that nobody has but this answer: who takes them as an argument gets a copy. */
  owned: Owned | undefined = undefined;
  /** The peer was told, or does not want to be. */
  told = false;
  readonly #session: Answering;
  #state: 'pending' | 'fulfilled' | 'broken' | 'vow' = 'pending';
  #value: unknown;
  #after: Barrier | undefined;
  /** Where calls on it can go before it is there. */
  #path: Target | undefined;

  constructor(session: Answering, question: number, weight: number) {
    this.#session = session;
    this.question = question;
    this.weight = weight;
  }

  get fence(): Fence {
    return this.#session.fence;
  }

  fulfil(value: unknown): void {
    if (this.#state === 'vow') {
      (this.#value as VatPromise).fulfil(value);
      return;
    }
    if (this.#state !== 'pending') return;
    const vow = typeof value === 'object' && value !== null ? vatPromiseOf(value) : undefined;
    if (vow !== undefined) {
      this.#state = 'vow';
      this.#value = vow;
      this.#tellOf(vow);
      return;
    }
    this.#state = 'fulfilled';
    this.#value = value;
    this.#after = barrier();
    if (this.#after === undefined) this.#tell(value);
    else
      this.fence.when(
        this.#after,
        () => this.#tell(value),
        (why) => this.#session.lost(why),
      );
  }

  own(bytes: Uint8Array): void {
    // A promise has it where somebody used this before it was there.
    if (this.#state === 'pending' && !this.told) this.owned = new Owned(bytes);
    this.fulfil(bytes);
  }

  break(error: unknown): void {
    if (this.#state === 'vow') {
      (this.#value as VatPromise).break(error);
      return;
    }
    if (this.#state !== 'pending') return;
    this.#state = 'broken';
    this.#value = error;
    this.#after = barrier();
    if (this.#after === undefined) return this.#session.refused(this, error);
    this.fence.when(
      this.#after,
      () => this.#session.refused(this, error),
      (why) => this.#session.lost(why),
    );
  }

  /** Calls on it may go on to where it was asked for. */
  along(path: Target): void {
    if (this.#state === 'vow') (this.#value as VatPromise).along(path);
    else if (this.#state === 'pending') this.#path = path;
  }

  /** They may not any more: what comes waits until it is settled. */
  hold(becoming?: VatPromise): void {
    this.#path = undefined;
    if (this.#state === 'vow') (this.#value as VatPromise).hold(becoming);
  }

  /** Whether `vow` can be settled only once this is. */
  awaitedBy(vow: VatPromise): boolean {
    return this.#state === 'vow' && (this.#value as VatPromise).awaitedBy(vow);
  }

  /** Says it to the peer. */
  #tell(value: unknown): void {
    const why = this.#session.answered(this, value);
    if (why === undefined) return;
    this.#state = 'broken';
    this.#value = why;
  }

  #tellOf(vow: VatPromise): void {
    this.fence.watchOutside(
      vow,
      (value) => this.#tell(value),
      (error) => this.#session.refused(this, error),
    );
  }

  /** From now on it is a promise, since somebody uses it before it is there. */
  #asVow(): VatPromise {
    if (this.#state === 'vow') return this.#value as VatPromise;
    const { account } = this.#session;
    const vow = new VatPromise(account);
    vow.watchedInside();
    if (this.#state === 'broken') {
      vow.break(this.#value);
      return vow;
    }
    this.#state = 'vow';
    this.#value = vow;
    if (this.#path !== undefined) vow.along(this.#path);
    this.#tellOf(vow);
    return vow;
  }

  /** A call on it. */
  post(message: Message): void {
    switch (this.#state) {
      case 'pending':
        return this.#post(message);
      case 'vow':
        return (this.#value as VatPromise).post(message);
      case 'broken':
        message.behind(this.#after);
        return message.fail(this.#value);
      case 'fulfilled': {
        const target = targetOf(this.#value);
        message.behind(this.#after);
        if (target === undefined) return message.fail(toData(message.method));
        message.to = target;
        return target.post(message);
      }
    }
  }

  #post(message: Message): void {
    let vow: VatPromise;
    try {
      vow = this.#asVow();
    } catch (error) {
      return message.fail(error);
    }
    vow.post(message);
  }

  /** Where a call on it would go; undefined where it is data or broken. */
  get target(): Target | undefined {
    if (this.#state === 'vow') return this.#value as VatPromise;
    if (this.#state === 'fulfilled') return targetOf(this.#value);
    return this.#state === 'pending' ? this.#asVow() : undefined;
  }

  /** The reference that it is; undefined where it is not there yet, is data or broke. */
  get reference(): object | undefined {
    const value =
      this.#state === 'vow' && (this.#value as VatPromise).settled === 'fulfilled'
        ? (this.#value as VatPromise).value
        : this.#value;
    return targetOf(value) === undefined ? undefined : (value as object);
  }

  /** As an argument of another call; `after` is what that has to wait for before it leaves the store. */
  asValue(after: Barrier | undefined): { readonly value: unknown; readonly after: Barrier | undefined } {
    return this.#state === 'fulfilled'
      ? { value: this.#value, after: later(after, this.#after) }
      : { value: this.#asVow().promise(), after };
  }
}

fenced(Answer, {
  fulfil: ends,
  own: ends,
  break: ends,
  along: ends,
  hold: ends,
  awaitedBy: () => false,
  post: (_answer, message) => message.answer?.break(disconnected()),
  asValue: 'inside',
});

export const forgotten: CapError = new CapError(
  'not-callable',
  'this answer is data, or you said that you were done with it: only a reference can be sent a message',
);
