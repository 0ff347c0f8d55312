/**
 * Drivers made from objects with plain methods.
 *
 * Promise: a result that is an object with methods becomes a reference too, and the same object always
 * becomes the same reference.
 */
import type { Outside } from '../core/causes.ts';
import { CapError } from '../core/errors.ts';
import type { Message, Target } from '../core/message.ts';
import { takeOptions } from '../core/options.ts';
import { isMethodName, isReference, targetOf } from '../core/reference.ts';
import type { Far } from '../core/types.ts';
import { type DriverMethods, type DriverOptions, driverOptions, makeDriver } from './driver.ts';
import { actualOf, nameOfDriver } from './named-driver.ts';
import { inTurn } from './turn.ts';

/**
 * A method for an object that `driverOf` wraps as the result of a call, and that keeps something open, such
 * as a file or a stream. It is called once, with a signal that fires when a grant of that call ends. The
 * object must close then. The returned promise resolves when it has closed, for any reason; a revoker waits
 * for it.
 */
export const lastsUnder: unique symbol = Symbol('lastsUnder');

// The same object gives the same reference, so that a caller can recognise a result it has seen before.
const references = new WeakMap<object, object>();
// The inverse, for `objectOf`.
const objects = new WeakMap<Target, object>();

/** What an object brings for calls by reference, instead of its own methods. */
interface Driven {
  readonly methods: DriverMethods;
  readonly refusal: (() => CapError | undefined) | undefined;
}

const drivenObjects = new WeakMap<object, Driven>();

/**
 * For an object that needs to know the grants that it is called under. `driverOf`, and everything built on it
 * (`host.offer`, results of other drivers), then uses these methods, as `driver` would, instead of the
 * object's own. `refusal` returns the error of every call that is made now, while the object can do nothing: a
 * grant then refuses the call and charges nothing. Returns the object.
 */
export function drivenBy<T extends object>(object: T, methods: DriverMethods, refusal?: () => CapError | undefined): T {
  drivenObjects.set(object, { methods: Object.freeze({ ...methods }), refusal });
  return object;
}

/**
 * Like `driver`, for an object with plain methods, its own or of its class. A result that is an object with
 * methods is wrapped in the same way.
 */
export function driverOf<T extends object>(object: T, given?: DriverOptions<T>): Far<T> {
  const options = takeOptions(given, 'driverOf', driverOptions);
  const known = references.get(object);
  // Under another name it is another driver: two hosts in one process may offer the same object.
  if (known !== undefined && (options.name === undefined || nameOfDriver(targetOf(known)) === options.name))
    return known as Far<T>;
  const own = drivenObjects.get(object);
  const methods: Record<string, DriverMethods[string]> = { ...own?.methods };
  if (own === undefined)
    for (const name of methodNames(object))
      methods[name] = (args) => Reflect.apply((object as Record<string, never>)[name] as never, object, args);
  if (Object.keys(methods).length === 0)
    throw new CapError('invalid', 'this object has no methods: a driver is an object with async methods');
  const reference = makeDriver(methods, options as DriverOptions<object>, {
    convert: convertResult,
    refusal: own?.refusal,
  });
  objects.set(actualOf(reference) as Target, object);
  if (known === undefined) references.set(object, reference);
  return reference as Far<T>;
}

/**
 * The object behind a reference made by `driverOf`; undefined for any other. It is not a message, so no peer
 * can ask. For the host program, outside turns.
 */
export function objectOf(reference: object): object | undefined {
  if (inTurn())
    throw new CapError(
      'not-callable',
      'objectOf is for the program that runs the host, outside turns: use E(reference)',
    );
  const target = actualOf(reference);
  return target && objects.get(target);
}

/**
 * The method names of an object and its class. Runs no getter. A generator: for plain data only the first
 * name is read.
 */
function* methodNames(object: object): Generator<string> {
  for (
    let at: object | null = object;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    for (const name of Object.getOwnPropertyNames(at))
      if (typeof Object.getOwnPropertyDescriptor(at, name)?.value === 'function' && isMethodName(name)) yield name;
}

/** Ties the result of a call to the grants of that call: it closes when the first of them ends. */
function keepUnder(value: object, { causes, ids }: Message['chain']): void {
  if (causes === undefined || ids.length === 0) return;
  const ender = (value as { [lastsUnder]?: unknown })[lastsUnder];
  if (typeof ender !== 'function') return;
  const controller = new AbortController();
  const over = Promise.resolve(Reflect.apply(ender, value, [controller.signal]) as Promise<void>);
  const kept: Outside = {
    abort: (why) => {
      controller.abort(why);
      return over;
    },
  };
  causes.started(ids, kept);
  void over.finally(() => causes.done(ids, kept));
  // The grant may have ended during the call. Its result is then dropped, so nobody else would close it.
  const ended = causes.ended(ids);
  if (ended !== undefined) controller.abort(ended);
}

/** Converts a result of a `driverOf` object: an object with methods becomes a driver itself. */
function convertResult(value: unknown, chain: Message['chain']): unknown {
  if (typeof value === 'object' && value !== null && lastsUnder in value) keepUnder(value, chain);
  return wrapped(value);
}

function wrapped(value: unknown): unknown {
  if (
    typeof value !== 'object' ||
    value === null ||
    isReference(value) ||
    Array.isArray(value) ||
    ArrayBuffer.isView(value) ||
    value instanceof Error
  )
    return value;
  return drivenObjects.has(value) || methodNames(value).next().done !== true ? driverOf(value) : value;
}
