/**
 * What may cross from one turn to another, and how.
 *
 * Promise: once a message or a portrait is made, nobody can change what it carries, and reading it runs nobody's code.
 * Data is copied into frozen objects (a copy we made before is passed as it is); references, tables and promises go by
 * identity; whatever could act later (getters, Proxies, functions, class instances, cycles) is refused now, with the remedy.
 */
import { types } from 'node:util';
import { CapError } from './errors.ts';
import { Foreign, giveLocally, type Seam } from './foreign.ts';
import type { Account } from './meter.ts';
import { ByReference, isReference, procedureReference } from './reference.ts';
import { Vow, vowOf } from './vow.ts';

/** Deep enough for any document, shallow enough that no walk of ours or of a codec runs out of stack. */
export const maxDepth = 128;

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

// Everything in here was built and frozen by the walk below.
const clean = new WeakSet<object>();
const passStyle = Symbol.for('passStyle');

interface Walk {
  /** Promises met are noted, or refused where there is no account to hold them. */
  readonly account: Account | undefined;
  promises: boolean;
  /** Bytes met: they cannot be frozen, so what holds them is copied each time. */
  mutable: boolean;
  bytes: number;
}

const begin = (account: Account | undefined): Walk => ({ account, promises: false, mutable: false, bytes: 0 });

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
      if (Symbol.keyFor(value) === undefined) refuse('only registered symbols (Symbol.for) can be passed');
      into.bytes += 8;
      return value;
    case 'function':
      if (isReference(value)) {
        into.bytes += 8;
        return value;
      }
      return remotable(value) ?? refuse('a function cannot be passed: spawn an actor, or wrap it with driver(…)');
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
    return value;
  }
  if (clean.has(value)) {
    // Counted once where it was made: the same frozen data handed on costs its holder a pointer.
    into.bytes += sizes.get(value) ?? 16;
    if (withPromises.has(value)) notePromise(into);
    return value;
  }
  if (depth >= maxDepth) return refuse(`data is cyclic or deeper than ${maxDepth}`);
  if (types.isProxy(value)) return refuse('a Proxy cannot be passed: pass plain data');
  if (types.isPromise(value)) {
    notePromise(into);
    return adopted(value as Promise<unknown>, into.account as Account);
  }
  if (types.isUint8Array(value)) return walkBytes(value, into);
  if (types.isNativeError(value)) return walkError(value, into);
  if (Array.isArray(value)) return remember(into, () => walkArray(value, into, depth));
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto === Object.prototype || proto === null) return remember(into, () => walkRecord(value, into, depth));
  return (
    remotable(value) ??
    refuse(
      'only plain objects, arrays, bytes and errors are data: spawn an actor for an object with behaviour, or wrap it with driver(…)',
    )
  );
}

/** Makes a frozen copy and remembers that it is one. */
function remember(into: Walk, copying: () => object): object {
  const { bytes, promises, mutable } = into;
  into.promises = false;
  into.mutable = false;
  const copy = copying();
  if (!into.mutable) clean.add(copy);
  if (into.promises) withPromises.add(copy);
  if (into.bytes - bytes > 64) sizes.set(copy, into.bytes - bytes);
  into.promises ||= promises;
  into.mutable ||= mutable;
  return copy;
}

// Only for data large enough to matter, so that small records cost no entry.
const sizes = new WeakMap<object, number>();
const withPromises = new WeakSet<object>();

function notePromise(into: Walk): void {
  if (into.account === undefined)
    refuse('a promise cannot be kept in a portrait or a table: wait with E.to(self, method), keep the result');
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
    copy.push(walk(plain(own, String(i)), into, depth + 1));
  }
  if (Reflect.ownKeys(array).length !== length + 1)
    return refuse('an array with named properties cannot be passed: use a record');
  return Object.freeze(copy);
}

function walkRecord(record: object, into: Walk, depth: number): object {
  const copy: Record<string, unknown> = {};
  into.bytes += 16;
  for (const key of Reflect.ownKeys(record)) {
    if (typeof key !== 'string') return refuse('a record with symbol keys cannot be passed: use string keys');
    if (key === '__proto__') return refuse('a record cannot have a key "__proto__"');
    const own = Object.getOwnPropertyDescriptor(record, key);
    if (own?.enumerable !== true) return refuse(`the property "${key.slice(0, 64)}" is hidden: pass plain data`);
    into.bytes += 8 + key.length;
    copy[key] = walk(plain(own, key), into, depth + 1);
  }
  return Object.freeze(copy);
}

function plain(own: PropertyDescriptor, key: string): unknown {
  if (!('value' in own)) refuse(`the property "${key.slice(0, 64)}" is a getter: pass its value`);
  return own.value;
}

function walkBytes(bytes: Uint8Array, into: Walk): Uint8Array {
  // From its internal slots: an iterator or a length of its own is not asked.
  const copy = new Uint8Array(bytes);
  into.mutable = true;
  into.bytes += 16 + copy.length;
  return copy;
}

function walkError(error: Error, into: Walk): Error {
  const message = dataProperty(error, 'message');
  const code = dataProperty(error, 'code');
  into.bytes += 16 + (message?.length ?? 0);
  const copy =
    error instanceof CapError && typeof code === 'string'
      ? new CapError(code, message ?? '')
      : new Error(message ?? '');
  return Object.freeze(copy);
}

function dataProperty(of: object, key: string): string | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(of, key)?.value;
  return typeof value === 'string' ? value : undefined;
}

const here: Seam = Object.freeze({
  accept: (value: unknown, account: Account) => pass(value, account),
  give: giveLocally,
  reason: (error: unknown) => error,
});

// A remotable of Endo: an object of somebody else's that can be sent messages. One reference each, so identity holds.
const foreign = new WeakMap<object, object>();

function remotable(value: object): object | undefined {
  if (!marked(value)) return undefined;
  let reference = foreign.get(value);
  if (reference === undefined) {
    reference = procedureReference(new Foreign(value, here));
    foreign.set(value, reference);
  }
  return reference;
}

/** Its pass style is data on its prototypes: a getter or a Proxy there is not asked. */
function marked(value: object): boolean {
  let at: object | null = value;
  for (let steps = 0; at !== null && steps < 4 && !types.isProxy(at); steps += 1) {
    const own = Object.getOwnPropertyDescriptor(at, passStyle);
    if (own !== undefined) return own.value === 'remotable';
    at = Object.getPrototypeOf(at) as object | null;
  }
  return false;
}

/** A promise as a vow: ours, or one that follows a native promise from elsewhere. */
function adopted(promise: Promise<unknown>, account: Account): Promise<unknown> {
  const ours = vowOf(promise);
  if (ours !== undefined) ours.watchedInside();
  else follow(promise, account);
  return promise;
}

export function follow(promise: Promise<unknown>, account: Account): Vow {
  const vow = new Vow(account);
  vow.watchedInside();
  vow.adopt(promise);
  Promise.prototype.then.call(
    promise,
    (value: unknown) => {
      try {
        vow.fulfil(pass(value, account));
      } catch (error) {
        vow.break(error);
      }
    },
    (error: unknown) => vow.break(error),
  );
  return vow;
}

/** One value that leaves a turn or enters one. */
export function pass(value: unknown, account: Account): unknown {
  return typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol'
    ? walk(value, begin(account), 0)
    : value;
}

export interface Passed {
  readonly args: readonly unknown[];
  readonly promises: boolean;
}

const nothing: readonly unknown[] = Object.freeze([]);

/** The arguments of a message. `args` is an array of ours (rest arguments): its elements are replaced in place. */
export function passArgs(args: unknown[], account: Account): Passed {
  if (args.length === 0) return { args: nothing, promises: false };
  const into = begin(account);
  for (let i = 0; i < args.length; i += 1) args[i] = walk(args[i], into, 0);
  return { args, promises: into.promises };
}

/** The arguments of a portrait: no promises, and their size is what the meter is charged. */
export function keepArgs(args: unknown[]): { readonly args: readonly unknown[]; readonly bytes: number } {
  const into = begin(undefined);
  for (let i = 0; i < args.length; i += 1) args[i] = walk(args[i], into, 0);
  return { args: Object.freeze(args), bytes: into.bytes };
}

/** Puts in place of promises what they have become: in the receiving turn a resolved promise is its value. */
export function resolved(value: unknown, pending: (vow: Vow) => unknown): unknown {
  if (typeof value !== 'object' || value === null || ByReference.is(value)) return value;
  const vow = vowOf(value);
  if (vow !== undefined) return vow.settled === 'fulfilled' ? vow.value : pending(vow);
  if (!withPromises.has(value)) return value;
  const copy: object = Array.isArray(value)
    ? value.map((item) => resolved(item, pending))
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolved(item, pending)]));
  clean.add(copy);
  withPromises.add(copy);
  return Object.freeze(copy);
}
