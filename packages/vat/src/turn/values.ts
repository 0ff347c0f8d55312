/**
 * Values that may cross from one turn to another, and how they are copied.
 *
 * Promise: once a message or a portrait is made, nobody can change its contents, and reading it runs no code
 * of others. Data is copied into frozen objects; a copy made here earlier is passed without copying.
 * References, tables and promises are passed by identity. Anything that could act later (getters, Proxies,
 * functions, class instances, cycles) is refused at once with an error that names the remedy.
 */
import { types } from '../core/drivers/platform.ts';
import { copyOfError, inert, nestedTooDeep, stackIsFull } from '../core/error-values.ts';
import { CapError } from '../core/errors.ts';
import { giveLocally, type Seam } from '../core/foreign.ts';
import { type Account, hostAccount } from '../core/meter.ts';
import { VatPromise, vatPromiseOf } from '../core/promise.ts';
import { ByReference, isReference } from '../core/reference.ts';
import { isPassable } from '../core/symbols.ts';
import { Copied, withPromises } from './copies.ts';
import { isForeign, remotable } from './remotables.ts';

/** Deep enough for any document, and shallow enough that no walk here or in a codec overflows the stack. */
export const maxDepth = 128;

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

interface Walk {
  /** Promises and foreign objects are noted. Without an account to pay for them, they are refused. */
  readonly account: Account | undefined;
  promises: boolean;
  /** True when it holds bytes. They cannot be frozen, so the holder is copied each time. */
  mutable: boolean;
  bytes: number;
  /**
   * The number of objects met. After many, copies are remembered, so that shared data does not cost 2^depth
   * steps.
   */
  objects: number;
  copies: Map<object, object> | undefined;
}

/** Below this number of objects, remembering each costs more than copying it twice. */
const few = 64;
/** The same holds for an object that holds no others and is not larger than this. */
const small = 128;

const begin = (account: Account | undefined): Walk => ({
  account,
  promises: false,
  mutable: false,
  bytes: 0,
  objects: 0,
  copies: undefined,
});

function walk(value: unknown, into: Walk, depth: number): unknown {
  switch (typeof value) {
    case 'number':
    case 'boolean':
    case 'undefined':
      into.bytes += 8;
      return value;
    case 'string':
      into.bytes += 8 + value.length;
      return value;
    case 'bigint':
      into.bytes += 16;
      return value;
    case 'symbol':
      if (!isPassable(value)) refuse('only registered symbols (Symbol.for) can be passed');
      into.bytes += 8;
      return value;
    case 'function':
      if (isReference(value)) {
        into.bytes += 8;
        return value;
      }
      return foreign(value, into) ?? refuse('a function cannot be passed: spawn an actor, or wrap it with driver(…)');
    default:
      if (value === null) {
        into.bytes += 8;
        return null;
      }
      return walkObject(value as object, into, depth);
  }
}

function walkObject(value: object, into: Walk, depth: number): unknown {
  if (ByReference.is(value)) {
    into.bytes += 8;
    if (isForeign(value)) into.promises = true;
    return value;
  }
  if (Copied.isClean(value)) {
    into.bytes += Copied.size(value);
    if (withPromises.has(value)) notePromises(value, into);
    return value;
  }
  if (depth >= maxDepth) return refuse(`data is cyclic or deeper than ${maxDepth}`);
  if (types.isProxy(value)) return refuse('a Proxy cannot be passed: pass plain data');
  if (types.isPromise(value)) {
    notePromise(into);
    if (vatPromiseOf(value) === undefined && !ordinary(value))
      refuse(
        'a promise with properties of its own or of a class of its own cannot be passed: wrap its result in a new one',
      );
    return adopted(value as Promise<unknown>, into.account as Account);
  }
  if (types.isUint8Array(value)) return walkBytes(value, into);
  if (types.isNativeError(value)) {
    const copy = copyOfError(value);
    into.bytes += 16 + copy.message.length;
    return copy;
  }
  const proto: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    if (proto !== Array.prototype) refuse('an array of a subclass cannot be passed: use a plain array');
    return copied(value, into, depth);
  }
  if (proto === Object.prototype || proto === null) return copied(value, into, depth);
  return (
    foreign(value, into) ??
    refuse(
      'only plain objects, arrays, bytes and errors are data: spawn an actor for an object with behaviour, or wrap it with driver(…)',
    )
  );
}

/** Makes a frozen copy and marks it. */
function copied(original: object, into: Walk, depth: number): object {
  const known = into.copies?.get(original);
  if (known !== undefined) {
    into.bytes += Copied.size(known);
    if (withPromises.has(known)) into.promises = true;
    if (!Copied.isClean(known)) into.mutable = true;
    return known;
  }
  const { bytes, promises, mutable } = into;
  into.objects += 1;
  if (into.objects === few) into.copies ??= new Map();
  const { objects } = into;
  into.promises = false;
  into.mutable = false;
  const copy = Array.isArray(original) ? walkArray(original, into, depth) : walkRecord(original, into, depth);
  const size = into.bytes - bytes;
  new Copied(copy, !into.mutable, size);
  Object.freeze(copy);
  if (into.promises) withPromises.add(copy);
  into.promises ||= promises;
  into.mutable ||= mutable;
  if (into.objects > objects || size > small) into.copies?.set(original, copy);
  return copy;
}

/** Notes the promises in a copy made earlier. */
function notePromises(copy: object, into: Walk): void {
  if (into.account !== undefined || !holdsPromise(copy)) into.promises = true;
  else notePromise(into);
}

function holdsPromise(value: unknown, seen: Set<object> = new Set()): boolean {
  if (typeof value !== 'object' || value === null || ByReference.is(value)) return false;
  if (types.isPromise(value)) return true;
  if (!withPromises.has(value) || seen.has(value)) return false;
  // Each object once: shared data can have 2^depth paths through it.
  seen.add(value);
  return Object.values(value).some((item) => holdsPromise(item, seen));
}

function notePromise(into: Walk): void {
  if (into.account === undefined)
    refuse('a promise cannot be stored in a portrait or a table: wait with E.to(self, method), and store the result');
  into.promises = true;
  into.bytes += 8;
}

function walkArray(array: readonly unknown[], into: Walk, depth: number): readonly unknown[] {
  const { length } = array;
  const copy: unknown[] = [];
  into.bytes += 16;
  for (let i = 0; i < length; i += 1) {
    const own = Object.getOwnPropertyDescriptor(array, i);
    if (own === undefined) return refuse('an array with holes cannot be passed: fill them');
    copy.push(walk(plain(own, i), into, depth + 1));
  }
  if (Reflect.ownKeys(array).length !== length + 1)
    return refuse('an array with named properties cannot be passed: use a record');
  return copy;
}

function walkRecord(record: object, into: Walk, depth: number): object {
  let deeper: string[] | undefined;
  into.bytes += 16;
  // Names and symbols separately: `Reflect.ownKeys`, which returns both, costs three times as much.
  for (const key of Object.getOwnPropertyNames(record)) {
    if (key === '__proto__') return refuse('a record cannot have a key "__proto__"');
    const own = Object.getOwnPropertyDescriptor(record, key);
    if (own?.enumerable !== true) return refuse(`the property "${key.slice(0, 64)}" is hidden: pass plain data`);
    into.bytes += 8 + key.length;
    const value = plain(own, key);
    if ((typeof value === 'object' && value !== null) || typeof value === 'function') {
      deeper ??= [];
      deeper.push(key);
    } else walk(value, into, depth + 1);
  }
  if (Object.getOwnPropertySymbols(record).length > 0)
    return refuse('a record with symbol keys cannot be passed: use string keys');
  // One spread: copying key by key costs five times as much. Each property was just checked to be data, so no
  // getter runs. The spread defines properties, so no setter of `Object.prototype` runs. Nested values are
  // walked only afterwards, so nothing can change in between.
  const copy: Record<string, unknown> = { ...record };
  if (deeper === undefined) return copy;
  for (const key of deeper) {
    const item = walk(copy[key], into, depth + 1);
    if (key === 'then' && typeof item === 'function')
      refuse('a record with a callable "then" would be taken for a promise: rename the key');
    copy[key] = item;
  }
  return copy;
}

function plain(own: PropertyDescriptor, key: string | number): unknown {
  if (!('value' in own)) refuse(`the property "${String(key).slice(0, 64)}" is a getter: pass its value`);
  return own.value;
}

const passedOn = new WeakSet<Uint8Array>();

/**
 * Lets the next `pass` return these bytes themselves instead of a copy. Call it only if the value of one promise
 * becomes the value of another. Nobody can change the bytes then: a turn, driver or host program that receives the
 * value gets a copy.
 */
export function passUnchanged(bytes: Uint8Array): Uint8Array {
  passedOn.add(bytes);
  return bytes;
}

function walkBytes(bytes: Uint8Array, into: Walk): Uint8Array {
  if (passedOn.delete(bytes)) {
    into.bytes += 16 + bytes.length;
    into.mutable = true;
    return bytes;
  }
  const known = into.copies?.get(bytes) as Uint8Array | undefined;
  if (known !== undefined) {
    into.bytes += 16 + known.length;
    into.mutable = true;
    return known;
  }
  // Read from internal slots: an overridden iterator or length is not used.
  if (bytesAreGone(bytes)) return refuse('these bytes were transferred to another thread: pass a copy');
  const copy = new Uint8Array(bytes);
  into.mutable = true;
  into.bytes += 16 + copy.length;
  into.copies ??= new Map();
  into.copies.set(bytes, copy);
  return copy;
}

const bufferOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'buffer')
  ?.get as () => object;
const detached = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'detached')?.get as () => boolean;

function bytesAreGone(bytes: Uint8Array): boolean {
  const buffer = Reflect.apply(bufferOf, bytes, []) as object;
  return types.isArrayBuffer(buffer) && Reflect.apply(detached, buffer, []);
}

/**
 * Converts a thrown value for others. A plain error is frozen and keeps its stack, data is copied, and
 * anything that could act later (a Proxy, an object with getters) does not leave the turn.
 */
export function thrown(error: unknown): unknown {
  if (stackIsFull(error)) return Object.freeze(nestedTooDeep());
  if (typeof error === 'object' && error !== null && inert(error)) return Object.freeze(error);
  try {
    return walk(error, begin(undefined), 0);
  } catch {
    return Object.freeze(new CapError('invalid', 'something was thrown that cannot be passed: throw an Error'));
  }
}

const here: Seam = Object.freeze({
  accept: (value: unknown, account: Account) => pass(value, account),
  give: giveLocally,
  reason: (error: unknown) => error,
});

function foreign(value: object, into: Walk): object | undefined {
  const reference = remotable(value, here);
  if (reference !== undefined) into.promises = true;
  return reference;
}

/**
 * Whether reading the promise runs no code of others: no own properties, and the class is `Promise` itself.
 */
const ordinary = (promise: object): boolean =>
  Object.getPrototypeOf(promise) === Promise.prototype && Object.getOwnPropertyNames(promise).length === 0;

/** Makes sure that a vat promise stands behind a native one: ours, or a new one that follows it. */
function adopted(promise: Promise<unknown>, account: Account): Promise<unknown> {
  const ours = vatPromiseOf(promise);
  if (ours !== undefined) ours.watchedInside();
  else follow(promise, account);
  return promise;
}

export function follow(promise: Promise<unknown>, account: Account): VatPromise {
  const vatPromise = new VatPromise(account);
  vatPromise.watchedInside();
  vatPromise.adopt(promise);
  Promise.prototype.then.call(
    promise,
    (value: unknown) => {
      try {
        vatPromise.fulfil(pass(value, account));
      } catch (error) {
        vatPromise.break(error);
      }
    },
    (error: unknown) => vatPromise.break(error),
  );
  return vatPromise;
}

/** Checks and copies one value that leaves or enters a turn. */
export function pass(value: unknown, account: Account): unknown {
  return typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol'
    ? walk(value, begin(account), 0)
    : value;
}

interface Passed {
  readonly args: readonly unknown[];
  readonly promises: boolean;
}

const nothing: readonly unknown[] = Object.freeze([]);

/**
 * Checks and copies the arguments of a message. `args` must be our own array, since it is changed in place.
 */
export function passArgs(args: unknown[], account: Account): Passed {
  if (args.length === 0) return { args: nothing, promises: false };
  const into = begin(account);
  for (let i = 0; i < args.length; i += 1) args[i] = walk(args[i], into, 0);
  return { args, promises: into.promises };
}

/** Checks and copies the arguments of a portrait. Promises are refused. The meter is charged for `bytes`. */
export function keepArgs(args: unknown[]): {
  readonly args: readonly unknown[];
  readonly bytes: number;
  /** Set when it holds bytes, which cannot be frozen: each reader needs its own copy. */
  readonly mutable: boolean;
} {
  const into = begin(undefined);
  for (let i = 0; i < args.length; i += 1) args[i] = walk(args[i], into, 0);
  return { args: Object.freeze(args), bytes: into.bytes, mutable: into.mutable };
}

/** Stored data for another reader. Bytes are copied; nothing else in it can change. */
export function again(kept: unknown): unknown {
  return typeof kept === 'object' && kept !== null ? walk(kept, begin(undefined), 0) : kept;
}

/**
 * Returns the value of a promise for code outside of turns. Bytes in it are copied, because that code can change them
 * and others may hold the same value. Nothing else in a value can change.
 */
export function ownBytes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const mayHold = types.isUint8Array(value) || (Copied.is(value) && !Copied.isClean(value));
  return mayHold ? walk(value, begin(hostAccount), 0) : value;
}
