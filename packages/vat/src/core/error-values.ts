/**
 * Errors as data.
 *
 * Promise: looking at one runs nobody's code (it may be anything that calls itself an error), and its copy is frozen: its kind, where
 * that is one of the language's or our own, its code and its message, and nothing else.
 */
import { types } from 'node:util';
import { CapError } from './errors.ts';

/** Errors of the language, which are copied as what they are. */
const intrinsicErrors: ReadonlyMap<unknown, new (message: string) => Error> = new Map(
  [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((Made) => [
    Made.prototype,
    Made,
  ]),
);

export function copyOfError(error: Error): Error {
  const message = dataProperty(error, 'message') ?? '';
  const code = dataProperty(error, 'code');
  // Its prototype is compared, never asked: it may be a Proxy.
  const proto: unknown = Object.getPrototypeOf(error);
  if (proto === CapError.prototype && code !== undefined) return Object.freeze(new CapError(code, message));
  const Made = intrinsicErrors.get(proto) ?? Error;
  return Object.freeze(new Made(message));
}

function dataProperty(of: object, key: string): string | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(of, key)?.value;
  return typeof value === 'string' ? value : undefined;
}

const stackOf = (error: Error): unknown => Object.getOwnPropertyDescriptor(error, 'stack')?.get;
const engineStack = stackOf(new Error('to see how the engine keeps its stack'));

/** Nothing in it acts or can be changed once it is frozen. */
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
