/**
 * Promises, seen from inside: where messages wait until it is known whom they are for.
 *
 * Promise: messages to a promise reach what it becomes in the order they were sent, also when it becomes another promise;
 * one that becomes plain data, itself, or an error breaks what waits. (Goblins 0.18 answers nobody in the first two cases.)
 *
 * A program holds native promises. The ones minted here are known by identity, so that a behaviour which answers with a
 * promise made by `.then` or `async` is told from one that passes an answer on.
 */
import { type Barrier, barrier, behind, later, when } from './barrier.ts';
import { CapError } from './errors.ts';
import { type Answer, type Message, Target, toData } from './message.ts';
import { type Account, type Charge, chargeUntilCollected } from './meter.ts';
import { Given, targetOf } from './reference.ts';

// Puts a private field on a promise made elsewhere. A WeakMap with an entry a message costs twice as much as the rest of
// the message, most of it in the garbage collector (bench vat: 3.3 us a call with it, 1.6 us without).
class Minted extends Given {
  readonly #vow: VatPromise;
  constructor(promise: object, vow: VatPromise) {
    super(promise);
    this.#vow = vow;
  }
  static of(x: object): VatPromise | undefined {
    return #vow in x ? x.#vow : undefined;
  }
}

/** Promises of others that a vow follows: they may be frozen, and a field on them would not be ours to put. */
const followed = new WeakMap<object, VatPromise>();

/** The vow behind a promise of ours. */
// Neither way of looking runs the code of a Proxy.
export const vatPromiseOf = (promise: object): VatPromise | undefined => Minted.of(promise) ?? followed.get(promise);

let leave = (value: unknown): unknown => value;
/** How values reach the host program. Set once by the module that knows them. */
export const leaveBy = (how: (value: unknown) => unknown): void => {
  leave = how;
};

interface Watcher {
  fulfilled(value: unknown): void;
  broken(error: unknown): void;
}

const noop = (): void => {};
const then = Promise.prototype.then;
/** Nobody will look: a broken promise must not end the process. */
export const quieten = (promise: Promise<unknown>): void => void then.call(promise, undefined, noop);

export class VatPromise extends Target implements Answer {
  readonly account: Account;
  #state: 'pending' | 'fulfilled' | 'broken' | 'linked' = 'pending';
  /** The value, the error, or the vow it was linked to. */
  #value: unknown;
  #waiting: Many<Message> | undefined;
  #watchers: Many<Watcher> | undefined;
  /** Told when this becomes a promise that a peer decides. */
  #shortened: Many<() => void> | undefined;
  /** What it is going to be, as soon as what was sent to it before has arrived there. */
  #becoming: VatPromise | undefined;
  /** Where messages go while it is pending: to the peer that will decide it. */
  #path: Target | undefined;
  // The host's native promise: made only when somebody asks for it.
  #native: Promise<unknown> | undefined;
  #settleNative: PromiseWithResolvers<unknown> | undefined;
  /** Somebody else sees its breaking: an actor, a pipelined message. */
  #watched = false;
  #charge: Charge | undefined;
  /** The turn that settled or linked it, until that is durable: nobody outside may know before. */
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

  /** Where a chain of linked promises ends. */
  static end(vow: VatPromise): VatPromise {
    let end = vow;
    let after: Barrier | undefined;
    while (end.#state === 'linked') {
      after = later(after, end.#after);
      end = end.#value as VatPromise;
    }
    if (end !== vow) {
      // Path compression: a loop that links promise to promise stays constant in memory and time.
      vow.#value = end;
      vow.#after = after;
    }
    return end;
  }

  get settled(): 'fulfilled' | 'broken' | undefined {
    const state = VatPromise.end(this).#state;
    return state === 'fulfilled' || state === 'broken' ? state : undefined;
  }

  /** What it was fulfilled with; only where `settled` is `fulfilled`. */
  get value(): unknown {
    return VatPromise.end(this).#value;
  }

  /** Its breaking is seen by somebody who is not the host program. */
  watchedInside(): void {
    this.#seen();
  }

  /** Whoever holds the native promise need not look at it too, even where it is broken already. */
  #seen(): void {
    this.#watched = true;
    if (this.#state === 'broken' && this.#native !== undefined) quieten(this.#native);
  }

  post(message: Message): void {
    const end = VatPromise.end(this);
    if (end !== this) {
      // Ours was the one that was asked.
      this.#seen();
      message.behind(this.#after);
      return end.post(message);
    }
    this.#seen();
    // Also while those that waited are on their way: it must not overtake them.
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

  /** From now on messages go along `path`, those that wait first. Whoever settles it sees to it that none overtakes them. */
  along(path: Target): void {
    if (this.#state !== 'pending') return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#path = path;
    if (waiting !== undefined) each(waiting, (message) => path.post(message));
    this.#tellShortened();
  }

  /** Where messages to it go now, if it is not settled and they need not wait. */
  get path(): Target | undefined {
    return VatPromise.end(this).#path;
  }

  /** Messages wait again until it is settled; `becoming`: with what, where that is a promise. */
  hold(becoming?: VatPromise): void {
    this.#path = undefined;
    if (this.#state === 'pending') this.#becoming = becoming;
  }

  /** Whether this can be settled only once `vow` is: it is that, or is going to be. */
  waitsFor(vow: VatPromise): boolean {
    for (
      let at: VatPromise | undefined = VatPromise.end(this);
      at !== undefined;
      at = at.#becoming && VatPromise.end(at.#becoming)
    )
      if (at === vow) return true;
    return false;
  }

  /** The same, asked of the other one. */
  awaitedBy(vow: VatPromise): boolean {
    return vow.waitsFor(VatPromise.end(this));
  }

  /** Calls back once where this becomes a promise that a peer decides, when the turn that says so is durable. */
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

  /** Calls back at once where it is settled already. */
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

  /** For somebody outside the store: calls back once every turn that decided it is durable, and with `broken` if one is lost. */
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

  /** Settles it, once: later calls are ignored, as Goblins' resolvers do. A promise of ours links the two. */
  fulfil(value: unknown): void {
    if (this.#state !== 'pending') return;
    const other = typeof value === 'object' && value !== null ? vatPromiseOf(value) : undefined;
    if (other === undefined) return this.#settle('fulfilled', value);
    const end = VatPromise.end(other);
    this.#after = later(other.#after, barrier());
    const round = end.waitsFor(this);
    if (round)
      return this.break(new CapError('cycle', 'a promise was resolved to itself: resolve it to something else'));
    end.#watched = true;
    if (end.#state !== 'pending') return this.#settle(end.#state as 'fulfilled' | 'broken', end.#value);
    this.#link(end);
  }

  break(error: unknown): void {
    if (this.#state === 'pending') this.#settle('broken', error);
  }

  /** The native promise of the host program. One a vow, so that passing it back is recognised. */
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

  /** `promise`, made by somebody else, stands for this vow from now on. */
  adopt(promise: Promise<unknown>): void {
    this.#native ??= promise;
    followed.set(promise, this);
  }

  /** `promise`, made by us just now, stands for this vow too. */
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

  /** Tells all who waited for it, and that they may know only once it is durable. */
  static tell(vow: VatPromise): void {
    const after = later(vow.#after, barrier());
    if (after === undefined) VatPromise.#tell(vow);
    else behind(after, () => VatPromise.#tell(vow));
  }

  static #tell(vow: VatPromise): void {
    const state = vow.#state as 'fulfilled' | 'broken';
    const value = vow.#value;
    if (vow.#waiting !== undefined) {
      each(vow.#waiting, (message) => (state === 'broken' ? message.fail(value) : forward(message, value)));
      vow.#waiting = undefined;
    }
    if (vow.#settleNative !== undefined) vow.#tellNative(state, value);
    const watchers = vow.#watchers;
    vow.#watchers = undefined;
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
    // Whoever sends through us from now on comes after what waits here, so appending keeps the order of every sender.
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

  /** Once: who is told and cannot use it hears of it when it is settled. */
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

/** A list to which whole lists are appended: linking promises costs the same however much waits at them. */
interface Many<T> extends Array<T | Many<T>> {}

function joined<T>(some: Many<T> | undefined, more: Many<T>): Many<T> {
  if (some === undefined) return more;
  some.push(more);
  return some;
}

/** In order, with what is added meanwhile. Not by recursion: lists may be nested as deep as promises were linked. */
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

// One after the other: the answers of what waits may be waited for in turn, deeper than any stack.
const settled: VatPromise[] = [];

function telling(vow: VatPromise): void {
  settled.push(vow);
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
