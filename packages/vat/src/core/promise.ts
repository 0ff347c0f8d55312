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
import { type Answer, type Message, Target, toData } from './message.ts';
import { type Account, type Charge, chargeUntilCollected } from './meter.ts';
import { Given, targetOf } from './reference.ts';

// Puts a private field on a promise made elsewhere. A WeakMap entry for each message costs twice as much as
// the rest of the message, mostly in the garbage collector (bench vat: 3.3 us a call with it, 1.6 us
// without).
class Minted extends Given {
  readonly #vatPromise: VatPromise;
  constructor(promise: object, vatPromise: VatPromise) {
    super(promise);
    this.#vatPromise = vatPromise;
  }
  static of(x: object): VatPromise | undefined {
    return #vatPromise in x ? x.#vatPromise : undefined;
  }
}

/**
 * Native promises of others that a vat promise follows. They may be frozen, and we must not put a field on
 * them.
 */
const followed = new WeakMap<object, VatPromise>();

/** The vat promise behind a native one. Neither lookup runs the code of a Proxy. */
export const vatPromiseOf = (promise: object): VatPromise | undefined => Minted.of(promise) ?? followed.get(promise);

let leave = (value: unknown): unknown => value;
/**
 * Sets how values are converted for the host program. Called once, by the module that knows the conversion.
 */
export const leaveBy = (how: (value: unknown) => unknown): void => {
  leave = how;
};

interface Watcher {
  fulfilled(value: unknown): void;
  broken(error: unknown): void;
}

const noop = (): void => {};
const then = Promise.prototype.then;
/** Marks the rejection as handled, so that it does not end the process. */
export const quieten = (promise: Promise<unknown>): void => void then.call(promise, undefined, noop);

export class VatPromise extends Target implements Answer {
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
  // The native promise for the host program. Made on first use.
  #native: Promise<unknown> | undefined;
  #settleNative: PromiseWithResolvers<unknown> | undefined;
  /** True when an actor or a pipelined message sees this promise break. */
  #watched = false;
  #charge: Charge | undefined;
  /**
   * The barrier of the turn that settled or linked this. Nobody outside may learn the result before it is
   * durable.
   */
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
    if (this.#state === 'broken' && this.#native !== undefined) quieten(this.#native);
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
    if (waiting !== undefined) each(waiting, (message) => path.post(message));
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
    if (end.#state !== 'pending') return this.#settle(end.#state as 'fulfilled' | 'broken', end.#value);
    this.#link(end);
  }

  break(error: unknown): void {
    if (this.#state === 'pending') this.#settle('broken', error);
  }

  /** The native promise for the host program. There is only one, so that passing it back is recognised. */
  promise(): Promise<unknown> {
    if (this.#native === undefined) {
      this.#settleNative = Promise.withResolvers<unknown>();
      this.#native = this.alias(this.#settleNative.promise);
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
    followed.set(promise, this);
  }

  /** Makes `promise`, a native promise that we just made, stand for this one too. */
  alias<P extends Promise<unknown>>(promise: P): P {
    new Minted(promise, this);
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
      each(vatPromise.#waiting, (message) => (state === 'broken' ? message.fail(value) : forward(message, value)));
      vatPromise.#waiting = undefined;
    }
    if (vatPromise.#settleNative !== undefined) vatPromise.#tellNative(state, value);
    const watchers = vatPromise.#watchers;
    vatPromise.#watchers = undefined;
    if (watchers !== undefined)
      each(watchers, (watcher) => (state === 'broken' ? watcher.broken(value) : watcher.fulfilled(value)));
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
      each(waiting, (message) => {
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
    if (told !== undefined) each(told, (tell) => tell());
  }

  #followNatively(end: VatPromise): void {
    end.watch(
      (value) => this.#tellNative('fulfilled', value),
      (error) => this.#tellNative('broken', error),
    );
  }

  #tellNative(state: 'fulfilled' | 'broken', value: unknown): void {
    const settle = this.#settleNative;
    if (settle === undefined) return;
    this.#settleNative = undefined;
    const reject = (error: unknown): void => {
      if (this.#watched) quieten(this.#native as Promise<unknown>);
      settle.reject(error);
    };
    const after = later(this.#behind, barrier());
    when(after, () => (state === 'fulfilled' ? settle.resolve(leave(value)) : reject(value)), reject);
  }

  #refund(): void {
    this.account.refund('promises', 1);
    if (this.#charge !== undefined) this.#charge.amount = 0;
  }
}

/**
 * A list that whole lists can be appended to. Linking promises then costs the same however many messages
 * wait.
 */
interface Many<T> extends Array<T | Many<T>> {}

function joined<T>(some: Many<T> | undefined, more: Many<T>): Many<T> {
  if (some === undefined) return more;
  some.push(more);
  return some;
}

/**
 * Visits all items in order, including those added meanwhile. Not recursive: the nesting is as deep as the
 * chain of links.
 */
function each<T extends object>(many: Many<T>, then: (one: T) => void): void {
  const inside: { readonly many: Many<T>; at: number }[] = [{ many, at: 0 }];
  for (let top = inside.at(-1); top !== undefined; top = inside.at(-1)) {
    const one = top.many[top.at];
    top.at += 1;
    if (one === undefined) inside.pop();
    else if (Array.isArray(one)) inside.push({ many: one, at: 0 });
    else then(one);
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

function forward(message: Message, value: unknown): void {
  const target = targetOf(value);
  if (target === undefined) return message.fail(toData(message.method));
  message.to = target;
  message.learned();
  target.post(message);
}
