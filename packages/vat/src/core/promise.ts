/**
 * Promises inside a vat: messages wait here until their target is known.
 *
 * Promise: messages to a promise reach its target in the order in which they were sent, also when it resolves
 * to another promise. If it resolves to plain data, to itself or to an error, the waiting messages break.
 * (Goblins 0.18 leaves them without a result in the first two cases.)
 *
 * Programs hold native promises. Those made here are recognised by identity. So a behaviour that returns a
 * promise made by `.then` or `async` can be told from one that passes on a vat promise.
 */
import { type Barrier, barrier, behind, later, when } from './barrier.ts';
import { CapError } from './errors.ts';
import { fenced, fencedOr } from './faults.ts';
import { each, joined, type Many } from './many.ts';
import { type Message, type ResultSink, Target, toData } from './message.ts';
import { type Account, type Charge, chargeUntilCollected } from './meter.ts';
import { behindNative, errorForHost, followNative, forHost, mintNative, quieten } from './native-promise.ts';
import { targetOf } from './reference.ts';

/** The vat promise behind a native one. Neither lookup runs the code of a Proxy. */
export const vatPromiseOf = (promise: object): VatPromise | undefined =>
  behindNative(promise) as VatPromise | undefined;

interface Watcher {
  readonly fulfilled: (value: unknown) => void;
  readonly broken: (error: unknown) => void;
}

const noop = (): void => {};

export class VatPromise extends Target implements ResultSink {
  readonly account: Account;
  #state: 'pending' | 'fulfilled' | 'broken' | 'linked' = 'pending';
  /** The value, the error, or the promise that this one is linked to. */
  #value: unknown;
  #waiting: Many<Message> | undefined;
  #watchers: Many<Watcher> | undefined;
  /** Called when this resolves to a promise that a peer decides. */
  #shortened: Many<() => void> | undefined;
  /** The promise that this will resolve to once earlier messages have arrived there. */
  #becoming: VatPromise | undefined;
  /** While pending, messages go here: to the peer that will decide this promise. */
  #path: Target | undefined;
  /** The native promise for the host program. Made on first use. */
  #native: Promise<unknown> | undefined;
  #settleNative: PromiseWithResolvers<unknown> | undefined;
  /** The native promise that all turns share, made by `turn/turn-promise.ts`. A WeakMap entry would take longer. */
  ofTurns: Promise<unknown> | undefined;
  /** True when an actor or a pipelined message sees this promise break. */
  #watched = false;
  /** True when this was resolved to another promise, so both have the same value. */
  #follows = false;
  #charge: Charge | undefined;
  /** The barrier of the turn that settled or linked this. Nobody outside may learn the result before it is durable. */
  #after: Barrier | undefined;

  constructor(account: Account) {
    super();
    this.account = account;
    account.charge('promises', 1);
    if (account.bounds('promises')) {
      this.#charge = { account, budget: 'promises', amount: 1 };
      chargeUntilCollected(this, this.#charge);
    }
  }

  get label(): string {
    return 'promise';
  }

  /** Follows linked promises to the last one. */
  static end(vatPromise: VatPromise): VatPromise {
    let end = vatPromise;
    let after: Barrier | undefined;
    while (end.#state === 'linked') {
      after = later(after, end.#after);
      end = end.#value as VatPromise;
    }
    if (end !== vatPromise) {
      // Path compression: a loop that links promise to promise stays constant in memory and time.
      vatPromise.#value = end;
      vatPromise.#after = after;
    }
    return end;
  }

  get settled(): 'fulfilled' | 'broken' | undefined {
    const state = VatPromise.end(this).#state;
    return state === 'fulfilled' || state === 'broken' ? state : undefined;
  }

  /** The value. Read it only if `settled` is `fulfilled`. */
  get value(): unknown {
    return VatPromise.end(this).#value;
  }

  /** Records that somebody other than the host program sees this promise break. */
  watchedInside(): void {
    this.#seen();
  }

  /** The holder of the native promise then need not handle its rejection, even if it already happened. */
  #seen(): void {
    this.#watched = true;
    if (this.#native !== undefined && this.settled === 'broken') quieten(this.#native);
  }

  post(message: Message): void {
    const end = VatPromise.end(this);
    if (end !== this) {
      // The sender watches this promise, not the one it is linked to.
      this.#seen();
      message.behind(this.#after);
      return end.post(message);
    }
    this.#seen();
    // Also waits while earlier messages are being forwarded, so that none is overtaken.
    if (this.#path !== undefined) {
      message.to = this;
      this.#path.post(message);
    } else if (this.#state === 'pending' || this.#waiting !== undefined) {
      message.to = this;
      this.#waiting ??= [];
      this.#waiting.push(message);
    } else {
      message.behind(this.#after);
      if (this.#state === 'broken') message.fail(this.#value);
      else forward(message, this.#value);
    }
  }

  /**
   * From now on messages go to `path`, waiting ones first. The code that settles this promise must keep their
   * order.
   */
  along(path: Target): void {
    if (this.#state !== 'pending') return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#path = path;
    if (waiting !== undefined) passOn(waiting, (message) => path.post(message));
    this.#tellShortened();
  }

  /** The path for messages sent now; undefined when they wait or the promise is settled. */
  get path(): Target | undefined {
    return VatPromise.end(this).#path;
  }

  /** Messages wait again until this settles. `becoming` is the promise it will resolve to, if it is one. */
  hold(becoming?: VatPromise): void {
    this.#path = undefined;
    if (this.#state === 'pending') this.#becoming = becoming;
  }

  /** Whether this can settle only after the given promise: it is that promise, or will resolve to it. */
  waitsFor(vatPromise: VatPromise): boolean {
    for (
      let at: VatPromise | undefined = VatPromise.end(this);
      at !== undefined;
      at = at.#becoming && VatPromise.end(at.#becoming)
    )
      if (at === vatPromise) return true;
    return false;
  }

  /** The inverse of `waitsFor`. */
  awaitedBy(vatPromise: VatPromise): boolean {
    return vatPromise.waitsFor(VatPromise.end(this));
  }

  /** Calls `tell` once this resolves to a promise that a peer decides and the turn that did so is durable. */
  watchShortening(tell: () => void): void {
    const end = VatPromise.end(this);
    if (end.#state !== 'pending') return;
    const told = (): void => when(later(this.#behind, barrier()), tell, noop);
    if (end.#path !== undefined) return told();
    end.#shortened ??= [];
    end.#shortened.push(told);
  }

  near(method: string, args: readonly unknown[]): unknown {
    const end = VatPromise.end(this);
    const target = end.#state === 'fulfilled' ? targetOf(end.#value) : undefined;
    if (target !== undefined) return target.near(method, args);
    throw new CapError(
      'not-callable',
      `"${method.slice(0, 64)}" was called on a promise that is not resolved yet: use E(promise)`,
    );
  }

  /** Calls back when this settles, or at once if it has. */
  watch(fulfilled: (value: unknown) => void, broken: (error: unknown) => void): void {
    const end = VatPromise.end(this);
    end.#seen();
    if (end.#state === 'pending') {
      end.#watchers ??= [];
      end.#watchers.push({ fulfilled, broken });
      return;
    }
    const tell = (): void => (end.#state === 'broken' ? broken(end.#value) : fulfilled(end.#value));
    const after = later(later(this.#after, end.#after), barrier());
    if (after === undefined) tell();
    else behind(after, tell);
  }

  /**
   * Like `watch`, for observers outside the store: waits until every turn that decided the result is durable.
   * Calls `broken` if one of those turns is lost.
   */
  watchOutside(fulfilled: (value: unknown) => void, broken: (error: unknown) => void): void {
    this.watch(
      (value) => when(later(this.#behind, barrier()), () => fulfilled(value), broken),
      (error) => when(later(this.#behind, barrier()), () => broken(error), broken),
    );
  }

  get #behind(): Barrier | undefined {
    const end = VatPromise.end(this);
    return later(this.#after, end.#after);
  }

  /**
   * Settles this once. Later calls are ignored, as in Goblins. If the value is a vat promise, this is linked
   * to it.
   */
  fulfil(value: unknown): void {
    if (this.#state !== 'pending') return;
    const other = typeof value === 'object' && value !== null ? vatPromiseOf(value) : undefined;
    if (other === undefined) return this.#settle('fulfilled', value);
    const end = VatPromise.end(other);
    this.#after = later(other.#after, barrier());
    const cyclic = end.waitsFor(this);
    if (cyclic)
      return this.break(new CapError('cycle', 'a promise was resolved to itself: resolve it to something else'));
    end.#watched = true;
    this.#follows = true;
    if (end.#state !== 'pending') return this.#settle(end.#state as 'fulfilled' | 'broken', end.#value);
    this.#link(end);
  }

  break(error: unknown): void {
    if (this.#state === 'pending') this.#settle('broken', error);
  }

  /** The native promise for the host program. There is only one, so that passing it back is recognised. */
  promise(): Promise<unknown> {
    if (this.#native === undefined) {
      const settle = Promise.withResolvers<unknown>();
      // Set after it is known: an error of ours here must leave no promise that rejects with nobody to hear.
      this.#native = this.alias(settle.promise);
      this.#settleNative = settle;
      const end = VatPromise.end(this);
      if (end.#state === 'pending') {
        if (end !== this) this.#followNatively(end);
      } else this.#tellNative(end.#state as 'fulfilled' | 'broken', end.#value);
    }
    return this.#native as Promise<unknown>;
  }

  /** Makes `promise`, a native promise of somebody else, stand for this one. */
  adopt(promise: Promise<unknown>): void {
    this.#native ??= promise;
    followNative(promise, this);
  }

  /** Makes `promise`, a native promise that we just made, stand for this one too. */
  alias<P extends Promise<unknown>>(promise: P): P {
    mintNative(promise, this);
    return promise;
  }

  #settle(state: 'fulfilled' | 'broken', value: unknown): void {
    this.#state = state;
    this.#value = value;
    this.#path = undefined;
    this.#becoming = undefined;
    this.#shortened = undefined;
    this.#after = later(this.#after, barrier());
    this.#refund();
    if (this.#waiting !== undefined || this.#watchers !== undefined) telling(this);
    else if (this.#settleNative !== undefined) this.#tellNative(state, value);
  }

  /**
   * Tells every waiting message and watcher. They inherit the barrier of the turn that settled this promise.
   */
  static tell(vatPromise: VatPromise): void {
    const after = later(vatPromise.#after, barrier());
    if (after === undefined) VatPromise.#tell(vatPromise);
    else behind(after, () => VatPromise.#tell(vatPromise));
  }

  static #tell(vatPromise: VatPromise): void {
    const state = vatPromise.#state as 'fulfilled' | 'broken';
    const value = vatPromise.#value;
    if (vatPromise.#waiting !== undefined) {
      passOn(vatPromise.#waiting, (message) => (state === 'broken' ? message.fail(value) : forward(message, value)));
      vatPromise.#waiting = undefined;
    }
    if (vatPromise.#settleNative !== undefined) vatPromise.#tellNative(state, value);
    const watchers = vatPromise.#watchers;
    vatPromise.#watchers = undefined;
    if (watchers !== undefined)
      each(watchers, (watcher) => {
        if (state === 'broken') fenced(() => watcher.broken(value));
        else fencedOr(() => watcher.fulfilled(value), watcher.broken);
      });
  }

  #link(end: VatPromise): void {
    const waiting = this.#waiting;
    const watchers = this.#watchers;
    const shortened = this.#shortened;
    this.#state = 'linked';
    this.#value = end;
    this.#path = undefined;
    this.#becoming = undefined;
    this.#shortened = undefined;
    this.#waiting = undefined;
    this.#watchers = undefined;
    this.#refund();
    // A message sent through this promise from now on comes after those waiting here. So appending keeps
    // every sender's order.
    if (waiting !== undefined && end.#path !== undefined) {
      const after = this.#after;
      passOn(waiting, (message) => {
        message.behind(after);
        end.post(message);
      });
    } else if (waiting !== undefined) end.#waiting = joined(end.#waiting, waiting);
    if (this.#settleNative !== undefined) this.#followNatively(end);
    if (watchers !== undefined) end.#watchers = joined(end.#watchers, watchers);
    if (shortened === undefined) return;
    end.#shortened = joined(end.#shortened, shortened);
    if (end.#path !== undefined) end.#tellShortened();
  }

  /** Called at most once. A watcher that cannot use the new path learns of the promise when it settles. */
  #tellShortened(): void {
    const told = this.#shortened;
    this.#shortened = undefined;
    if (told !== undefined) each(told, (tell) => fenced(tell));
  }

  #followNatively(end: VatPromise): void {
    const broken = (error: unknown): void => this.#tellNative('broken', error);
    fencedOr(() => end.watch((value) => this.#tellNative('fulfilled', value), broken), broken);
  }

  #tellNative(state: 'fulfilled' | 'broken', value: unknown): void {
    const settle = this.#settleNative;
    if (settle === undefined) return;
    this.#settleNative = undefined;
    const reject = (error: unknown): void => {
      if (this.#watched) quieten(this.#native as Promise<unknown>);
      settle.reject(errorForHost(this, error));
    };
    const after = later(this.#behind, barrier());
    // If only the host program waits for this promise, it gets the value itself. So bytes of a stream are not copied.
    const told = (): void => settle.resolve(forHost(value, this.#watched || this.#follows));
    fencedOr(() => when(after, () => (state === 'fulfilled' ? told() : reject(value)), reject), reject);
  }

  #refund(): void {
    this.account.refund('promises', 1);
    if (this.#charge !== undefined) this.#charge.amount = 0;
  }
}

// A queue and not recursion: settling one promise may settle the next, to a depth beyond any stack.
const settled: VatPromise[] = [];

function telling(vatPromise: VatPromise): void {
  settled.push(vatPromise);
  if (settled.length > 1) return;
  try {
    for (let i = 0; i < settled.length; i += 1) VatPromise.tell(settled[i] as VatPromise);
  } finally {
    settled.length = 0;
  }
}

/** An internal error at one message breaks its answer and holds up no other. */
function passOn(waiting: Many<Message>, pass: (message: Message) => void): void {
  each(waiting, (message) =>
    fencedOr(
      () => pass(message),
      (why) => message.answer?.break(why),
    ),
  );
}

function forward(message: Message, value: unknown): void {
  const target = targetOf(value);
  if (target === undefined) return message.fail(toData(message.method));
  message.to = target;
  message.learned();
  target.post(message);
}
