/**
 * Errors as data.
 *
 * Promise: reading an error runs no code of its maker, even if the object only claims to be an error. The
 * copy is frozen and holds nothing but the class (one of the language's or `CapError`), the code and the
 * message.
 */
import { types } from 'node:util';
import { CapError } from './errors.ts';

/** The error classes of the language. A copy keeps its class. */
const intrinsicErrors: ReadonlyMap<unknown, new (message: string) => Error> = new Map(
  [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((Made) => [
    Made.prototype,
    Made,
  ]),
);

export function copyOfError(error: Error): Error {
  const message = dataProperty(error, 'message') ?? '';
  const code = dataProperty(error, 'code');
  // Compared by identity and never read: the prototype may be a Proxy.
  const proto: unknown = Object.getPrototypeOf(error);
  if (proto === CapError.prototype && code !== undefined) return Object.freeze(new CapError(code, message));
  const Made = intrinsicErrors.get(proto) ?? Error;
  return Object.freeze(new Made(message));
}

function dataProperty(object: object, key: string): string | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(object, key)?.value;
  return typeof value === 'string' ? value : undefined;
}

const stackOf = (error: Error): unknown => Object.getOwnPropertyDescriptor(error, 'stack')?.get;
const engineStack = stackOf(new Error('to see how the engine keeps its stack'));

/** Whether the error holds only inert data, so that freezing it makes it safe to share. */
export function inert(error: object): boolean {
  if (!types.isNativeError(error)) return false;
  const proto: unknown = Object.getPrototypeOf(error);
  if (proto !== CapError.prototype && !intrinsicErrors.has(proto)) return false;
  return Reflect.ownKeys(error).every((key) => {
    const own = Object.getOwnPropertyDescriptor(error, key) as PropertyDescriptor;
    if (key === 'stack' && own.get !== undefined) return own.get === engineStack;
    const { value } = own as { value: unknown };
    return 'value' in own && typeof value !== 'function' && (typeof value !== 'object' || value === null);
  });
}
