/**
 * Errors as data.
 *
 * Promise: reading an error runs no code of its maker, even if the object only claims to be an error. The
 * copy is frozen and holds nothing but the class (one of the language's or `CapError`), the code and the
 * message.
 */
import { types } from './drivers/platform.ts';
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

/** Whether the engine threw this because its stack was full. Only V8's text is known. */
export const stackIsFull = (error: unknown): boolean =>
  types.isNativeError(error) &&
  Object.getPrototypeOf(error) === RangeError.prototype &&
  dataProperty(error, 'message') === 'Maximum call stack size exceeded';

export const nestedTooDeep = (): CapError =>
  new CapError(
    'limit',
    'calls nest deeper than the stack of this process: send a message with E instead, or start node with --stack-size',
  );

const stackOf = (error: Error): unknown => Object.getOwnPropertyDescriptor(error, 'stack')?.get;
const engineStack = stackOf(new Error('to see how the engine keeps its stack'));

/** Whether the error holds only inert data, so that freezing it makes it safe to share. */
export function inert(error: object): boolean {
  if (!types.isNativeError(error)) return false;
  const proto: unknown = Object.getPrototypeOf(error);
  if (proto !== CapError.prototype && !intrinsicErrors.has(proto)) return false;
  // A loop: every turn that is undone comes here.
  for (const key of Reflect.ownKeys(error)) {
    const own = Object.getOwnPropertyDescriptor(error, key) as PropertyDescriptor;
    if (own.get !== undefined || own.set !== undefined) {
      if (key !== 'stack' || own.get !== engineStack) return false;
    } else if (typeof own.value === 'function' || (typeof own.value === 'object' && own.value !== null)) return false;
  }
  return true;
}
