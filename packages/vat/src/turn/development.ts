/**
 * Help for whoever writes actors. It costs too much to be always on.
 *
 * Promise: while it is on, an error that the host program gets for a call begins at the line of that call, and
 * a method that drops what `bcom` returned throws. Lines of source stay in this process: they are put on the
 * error that the host program receives, which is a copy, and never on one that a vat or a peer receives.
 */
import { inert } from '../core/error-values.ts';
import { CapError } from '../core/errors.ts';
import { noteWarning } from '../core/faults.ts';
import type { ActorKind } from '../core/kind.ts';
import { convertErrorsForHost } from '../core/native-promise.ts';

let users = 0;
/** Whether it is on. */
export let inDevelopment = false;

/** Turns it on for this process, until as many returned functions are called as there were calls. */
export function development(): () => void {
  let isOn = true;
  users += 1;
  inDevelopment = true;
  return () => {
    if (!isOn) return;
    isOn = false;
    users -= 1;
    inDevelopment = users > 0;
  };
}

/** Filled in by the engine, which writes the text only when somebody reads it. */
interface Caller {
  readonly stack?: string;
  /** The number of frames at the top that are ours. */
  readonly ours: number;
}
/** A function of ours that the host program calls. */
export type Above = (...args: never[]) => unknown;

/** The place from which `above` was called, and `ours` more functions above that. */
export function callerOf(above: Above, ours = 0): Caller {
  const caller: Caller = { ours };
  Error.captureStackTrace?.(caller, above);
  return caller;
}

const callers = new WeakMap<object, Caller>();

/** Records the place from which the host program sent the message that `answer` is for. */
export const sentFrom = (answer: object, caller: Caller): void => void callers.set(answer, caller);

// An answer that was sent while it was off has no caller here.
convertErrorsForHost((answer, error) => {
  const caller = inDevelopment ? callers.get(answer) : undefined;
  return caller === undefined ? error : beginningAt(caller, error);
});

/** A copy of the error whose stack begins at the caller. Whatever is no plain error stays as it is. */
export function beginningAt({ stack = '', ours }: Caller, error: unknown): unknown {
  const lines = framesOf(stack).slice(ours);
  if (lines.length === 0 || typeof error !== 'object' || error === null || !inert(error)) return error;
  const { name, message, stack: thrown = '' } = error as Error;
  const copy = Object.setPrototypeOf(new Error(message), Object.getPrototypeOf(error)) as Error;
  for (const key of Reflect.ownKeys(error))
    if (key !== 'stack') Object.defineProperty(copy, key, Object.getOwnPropertyDescriptor(error, key) ?? {});
  const below = framesOf(thrown);
  const more = below.length === 0 ? [] : ['    -- thrown at --', ...below];
  Object.defineProperty(copy, 'stack', {
    value: [`${name}: ${message}`, ...lines, ...more].join('\n'),
    writable: true,
    configurable: true,
  });
  return copy;
}

const framesOf = (stack: string): readonly string[] => stack.split('\n').filter((line) => /^\s+at /.test(line));

const told = new WeakSet<ActorKind>();

/** A method made a become token and returned something else. Throws in development, else warns once for a definition. */
export function noteDropped(kind: ActorKind, method: string): void {
  const what = method === '' ? kind.label : `${kind.label}.${method.slice(0, 64)}`;
  const text = `${what} called bcom and returned something else, so the actor did not change: write "return bcom(…)"`;
  if (inDevelopment) throw new CapError('become-failure', text);
  if (told.has(kind)) return;
  told.add(kind);
  noteWarning(text);
}
