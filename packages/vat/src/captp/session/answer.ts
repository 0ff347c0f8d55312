/**
 * The answer to a question of the peer.
 *
 * Promise: the question is answered once, when every turn that decided the answer is durable. Calls on the
 * answer go to its value in the order in which they came, also while it is pending. If the value is data,
 * they break. If the value cannot be encoded, the answer breaks, so that nobody reaches the value through the
 * answer.
 */
import { type Barrier, barrier, later } from '../../core/barrier.ts';
import { CapError } from '../../core/errors.ts';
import { type Message, type ResultSink, Target, toData } from '../../core/message.ts';
import type { Account } from '../../core/meter.ts';
import { VatPromise, vatPromiseOf } from '../../core/promise.ts';
import { targetOf } from '../../core/reference.ts';
import { disconnected, type Fence, fenced, returnsNothing } from './fence.ts';
import { Owned } from './owned.ts';

/** The session, as an answer sees it. */
export interface Answering {
  readonly account: Account;
  readonly fence: Fence;
  /** Sends the value to the peer. Returns an error if the value cannot be encoded. */
  answered(answer: Answer, value: unknown): CapError | undefined;
  refused(answer: Answer, error: unknown): void;
  /** A turn that the answer depends on was lost, because its store failed. */
  lost(why: Error): void;
}

export class Answer extends Target implements ResultSink {
  readonly question: number;
  /** Bytes counted against the memory of the connection. */
  weight: number;
  /** The call, if its method belongs to streams. */
  ofStream: Message | undefined = undefined;
  /**
   * Bytes that only this answer holds. If the peer uses the answer as an argument, the callee gets a copy.
   */
  owned: Owned | undefined = undefined;
  /** The peer was told, or has sent `done`. */
  told = false;
  readonly #session: Answering;
  #state: 'pending' | 'fulfilled' | 'broken' | 'promise' = 'pending';
  #value: unknown;
  #after: Barrier | undefined;
  /** The target for calls while the answer is pending. */
  #path: Target | undefined;

  constructor(session: Answering, question: number, weight: number) {
    super();
    this.#session = session;
    this.question = question;
    this.weight = weight;
  }

  get fence(): Fence {
    return this.#session.fence;
  }

  get label(): string {
    return 'answer';
  }

  get account(): Account {
    return this.#session.account;
  }

  fulfil(value: unknown): void {
    if (this.#state === 'promise') {
      (this.#value as VatPromise).fulfil(value);
      return;
    }
    if (this.#state !== 'pending') return;
    const promise = typeof value === 'object' && value !== null ? vatPromiseOf(value) : undefined;
    if (promise !== undefined) {
      this.#state = 'promise';
      this.#value = promise;
      this.#tellWhenSettled(promise);
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
    // If somebody used this answer while it was pending, a promise holds the bytes too, so they are not
    // owned.
    if (this.#state === 'pending' && !this.told) this.owned = new Owned(bytes);
    this.fulfil(bytes);
  }

  break(error: unknown): void {
    if (this.#state === 'promise') {
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

  /** Calls on this answer may be forwarded to the peer that was asked for it. */
  along(path: Target): void {
    if (this.#state === 'promise') (this.#value as VatPromise).along(path);
    else if (this.#state === 'pending') this.#path = path;
  }

  /** Ends `along`. Calls wait until the answer settles. */
  hold(becoming?: VatPromise): void {
    this.#path = undefined;
    if (this.#state === 'promise') (this.#value as VatPromise).hold(becoming);
  }

  /** True if `promise` can settle only after this answer does. */
  awaitedBy(promise: VatPromise): boolean {
    return this.#state === 'promise' && (this.#value as VatPromise).awaitedBy(promise);
  }

  #tell(value: unknown): void {
    const why = this.#session.answered(this, value);
    if (why === undefined) return;
    this.#state = 'broken';
    this.#value = why;
  }

  #tellWhenSettled(promise: VatPromise): void {
    this.fence.watchOutside(
      promise,
      (value) => this.#tell(value),
      (error) => this.#session.refused(this, error),
    );
  }

  /** Turns the pending answer into a promise, because somebody uses it before it settles. */
  #asPromise(): VatPromise {
    if (this.#state === 'promise') return this.#value as VatPromise;
    const { account } = this.#session;
    const promise = new VatPromise(account);
    promise.watchedInside();
    if (this.#state === 'broken') {
      promise.break(this.#value);
      return promise;
    }
    this.#state = 'promise';
    this.#value = promise;
    if (this.#path !== undefined) promise.along(this.#path);
    this.#tellWhenSettled(promise);
    return promise;
  }

  post(message: Message): void {
    switch (this.#state) {
      case 'pending':
        return this.#post(message);
      case 'promise':
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

  /** No reference leads here, so no turn calls an answer near. */
  near(method: string): never {
    throw toData(method);
  }

  #post(message: Message): void {
    let promise: VatPromise;
    try {
      promise = this.#asPromise();
    } catch (error) {
      return message.fail(error);
    }
    promise.post(message);
  }

  /** The target of a call on this answer; undefined if the answer is data or broken. */
  get target(): Target | undefined {
    if (this.#state === 'promise') return this.#value as VatPromise;
    if (this.#state === 'fulfilled') return targetOf(this.#value);
    return this.#state === 'pending' ? this.#asPromise() : undefined;
  }

  /** The reference that fulfilled this answer; undefined if the answer is pending, data or broken. */
  get reference(): object | undefined {
    const value =
      this.#state === 'promise' && (this.#value as VatPromise).settled === 'fulfilled'
        ? (this.#value as VatPromise).value
        : this.#value;
    return targetOf(value) === undefined ? undefined : (value as object);
  }

  /**
   * The value for use as an argument of another call. That call must wait for `after` before it leaves the
   * store.
   */
  asValue(after: Barrier | undefined): { readonly value: unknown; readonly after: Barrier | undefined } {
    return this.#state === 'fulfilled'
      ? { value: this.#value, after: later(after, this.#after) }
      : { value: this.#asPromise().promise(), after };
  }
}

fenced(Answer, {
  fulfil: returnsNothing,
  own: returnsNothing,
  break: returnsNothing,
  along: returnsNothing,
  hold: returnsNothing,
  awaitedBy: () => false,
  post: (_answer, message) => message.answer?.break(disconnected()),
  near: 'inside',
  shows: 'inside',
  keptIn: 'inside',
  asValue: 'inside',
});

export const forgotten: CapError = new CapError(
  'not-callable',
  'this answer is data, or was released: only a reference can be sent a message',
);

/** If a call of one peer is forwarded to another, it asks for an answer there only if the first peer did. */
export const wanted = (answer: ResultSink | undefined): ResultSink | undefined =>
  answer instanceof Answer && answer.question === 0 ? undefined : answer;

/** The answer of a call whose result nobody wants. */
export const ignored: ResultSink = Object.freeze({ fulfil: () => {}, break: () => {} });
