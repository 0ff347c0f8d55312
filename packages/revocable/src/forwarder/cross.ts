/**
 * Wraps the values that pass through a forwarder: every reference and every promise gets a forwarder with the
 * same state.
 *
 * Data stays as it is. An object has one forwarder for each direction, as long as anybody holds it; in a
 * store it lasts as long as the membrane. A forwarder that comes home is unwrapped. A promise is wrapped
 * before anybody can pipeline to it.
 *
 * The pairs of objects and forwarders are known by identity: weakly in this process, and for a membrane in a
 * durable vat by a row of its table, under the object's name in the store. Holders can ask for neither.
 */
import { isReference, spawn, type Table } from '@hob/vat';
import { isNear } from '@hob/vat/actors';
import {
  argumentsOf,
  became,
  breakAnswer,
  byMessage,
  ephemeral,
  forwardsTo,
  lastingName,
  passOn,
} from '@hob/vat/forwarder';
import { Forwarder, type ForwarderState, type ForwardTarget } from './forwarder.ts';
import { type Opened, partsOf } from './parts.ts';

export interface Crossing {
  readonly state: ForwarderState;
  /** From the holder of the forwarder to the object behind it. */
  readonly inward: boolean;
  /** Only a membrane has it, and wraps what goes inwards too. */
  readonly wrapped: Table<object> | undefined;
  /** Calls on a promise go ahead of it. Otherwise they wait until it is resolved. */
  readonly pipelined: boolean;
  /**
   * Returns the call of a grant that returned the value. The parts of streams in the value are counted for this call.
   * Called only for an object that gets its first forwarder.
   */
  readonly opened?: (() => Opened | undefined) | undefined;
}

/** A forwarder, as its package sees it. */
export interface KnownForwarder extends ForwardTarget {
  readonly state: ForwarderState;
}

// Forwarders of objects that end with the process. No portrait says what they stand for.
const ephemeralForwarders = new WeakMap<object, KnownForwarder>();

type ForwarderByObject = WeakMap<object, WeakRef<object>>;

/** The forwarders that share a state, by the object that they stand for. */
const known = new WeakMap<
  ForwarderState,
  { readonly outward: ForwarderByObject; readonly inward: ForwarderByObject }
>();

/** Returns the object behind a forwarder, and undefined for every other value. */
export function forwardTargetOf(reference: unknown): KnownForwarder | undefined {
  const portrait = argumentsOf(reference, Forwarder);
  if (portrait !== undefined) {
    const [state, inner, inward, callableNear] = portrait as readonly [ForwarderState, object, boolean, boolean];
    return { state, inner, inward, callableNear };
  }
  return ephemeralForwarders.get(became(reference) as object);
}

/** Whether the reference is a forwarder, so that `forwardTargetOf` finds its target. */
const isForwarder = (reference: object): boolean =>
  argumentsOf(reference, Forwarder) !== undefined || ephemeralForwarders.has(reference);

/** Returns `value` as the other side gets it. `value` is frozen data, as a message carries it. */
export function cross(value: unknown, by: Crossing): unknown {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value;
  if (isReference(value)) return forwarderFor(value, by);
  if (value instanceof Promise) return promiseFor(value, by);
  if (Array.isArray(value)) {
    const items = value.map((item) => cross(item, by));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const crossed = cross(item, by);
    if (crossed !== item) changed = true;
    return [key, crossed] as const;
  });
  return changed ? Object.fromEntries(entries) : value;
}

function forwarderFor(given: object, by: Crossing): object {
  const { state, inward, wrapped } = by;
  // A resolved promise is looked up as the object that it became. Otherwise one object would have two
  // forwarders.
  const reference = became(given);
  const held = forwardersOf(state, inward).get(reference)?.deref();
  // A forwarder made in a turn that was undone stands for nothing.
  if (held !== undefined && isForwarder(held)) return held;
  const own = forwardTargetOf(reference);
  if (own !== undefined && own.state === state) return own.inward === inward ? reference : own.inner;
  if (inward && wrapped === undefined) return reference;

  const name = lastingName(reference);
  const kept = name === undefined ? undefined : wrapped?.get(row(name, inward));
  const forwarder =
    kept ??
    (name === undefined ? ephemeralForwarder(reference, by) : durableForwarder({ state, inner: reference, inward }));
  if (name !== undefined && kept === undefined) wrapped?.set(row(name, inward), forwarder);
  forwardersOf(state, inward).set(reference, new WeakRef(forwarder));
  return forwarder;
}

function forwardersOf(state: ForwarderState, inward: boolean): ForwarderByObject {
  let forwarders = known.get(state);
  if (forwarders === undefined) known.set(state, (forwarders = { outward: new WeakMap(), inward: new WeakMap() }));
  return inward ? forwarders.inward : forwarders.outward;
}

/** The key of a stored row. */
const row = (name: string, inward: boolean): string => `${inward ? 'in' : 'out'} ${name}`;

/**
 * Makes the forwarder that is handed out. If `inner` itself comes out of a call later, this one stands for
 * it.
 */
export function firstForwarder(state: ForwarderState, inner: object, wrapped?: Table<object>): object {
  const forwarder = durableForwarder({ state, inner, inward: false });
  const reference = became(inner);
  forwardersOf(state, false).set(reference, new WeakRef(forwarder));
  const name = wrapped === undefined ? undefined : lastingName(reference);
  if (name !== undefined) wrapped?.set(row(name, false), forwarder);
  return forwarder;
}

/** From now on `forwarder` stands for `inner` among what comes out with this state, while somebody holds it. */
export function standsFor(state: ForwarderState, inner: object, forwarder: object): void {
  forwardersOf(state, false).set(became(inner), new WeakRef(forwarder));
}

function durableForwarder({ state, inner, inward }: Omit<KnownForwarder, 'callableNear'>): object {
  const forwarder = spawn(Forwarder(state, inner, inward, isCallableNear(inner)));
  forwardsTo(forwarder, inner);
  return forwarder;
}

function ephemeralForwarder(inner: object, { state, inward, opened }: Crossing): object {
  const parts = inward ? undefined : partsOf(inner, opened?.(), forwardTargetOf(inner));
  const target = { inner, inward, callableNear: isCallableNear(inner), parts };
  const call = (method: string, args: readonly unknown[]): unknown =>
    byMessage() ? state.callByMessage(target, method, args) : state.callNear(target, method, args);
  const forwarder = ephemeral('forwarder', call, inner);
  ephemeralForwarders.set(forwarder, { state, ...target });
  parts?.recordWhenDropped(forwarder, state);
  // A forwarder of a stream looks like a stream to the wire.
  forwardsTo(forwarder, inner);
  return forwarder;
}

/** False for a forwarder of this vat that is reached by message only. Its terms say that and never change. */
function isCallableNear(inner: object): boolean {
  const behind = forwardTargetOf(inner);
  return behind === undefined || !isNear(behind.state) || behind.state.near();
}

function promiseFor(promise: Promise<unknown>, { state, inward, wrapped, pipelined }: Crossing): Promise<unknown> {
  if (inward && wrapped === undefined) return promise;
  const target = { inner: promise, inward, callableNear: false };
  return passOn(promise, {
    ok: (value) => state.passResult(inward, value),
    broken: (error) => breakAnswer(error),
    next: pipelined ? (method, args) => state.callByMessage(target, method, args) : undefined,
  });
}
