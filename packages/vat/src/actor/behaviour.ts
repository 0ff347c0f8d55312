/** Behaviours of actors: makes them, and the errors of calls on them. */
import { CapError } from '../core/errors.ts';
import type { ActorKind } from '../core/kind.ts';
import { quieten } from '../core/native-promise.ts';
import { isReference } from '../core/reference.ts';

export type AnyFunction = (...args: readonly unknown[]) => unknown;

function constructWith(construct: ActorKind['construct'], bcom: unknown, args: readonly unknown[]): unknown {
  switch (args.length) {
    case 0:
      return construct(bcom);
    case 1:
      return construct(bcom, args[0]);
    case 2:
      return construct(bcom, args[0], args[1]);
    case 3:
      return construct(bcom, args[0], args[1], args[2]);
    default:
      return construct(bcom, ...args);
  }
}

export const asynchronous = (label: string): CapError =>
  new CapError(
    'async-behaviour',
    `${label} returned a promise that this vat did not make: behaviours are synchronous, wait with E.when or E.to`,
  );

export const inAnotherVat = (label: string, method: string): CapError =>
  new CapError(
    'not-callable',
    `${label} is in another vat: use E(reference)${method === '' ? '' : `.${method.slice(0, 64)}`}(…)`,
  );

export const noSuchMethod = (label: string, method: string): CapError =>
  new CapError(
    'no-such-method',
    method === '' ? `${label} is not a function: name a method` : `${label} has no method "${method.slice(0, 64)}"`,
  );

/** The error of a call on an actor without a behaviour, and why it has none. */
export function absent(label: string, why: 'missing' | 'undone' | 'unmade'): CapError {
  if (why === 'unmade') return new CapError('not-callable', `${label} was called while it was being made`);
  return new CapError(
    'no-such-object',
    why === 'missing'
      ? 'this object is no longer in the store: ask for a new one'
      : 'this object was made in a turn that was undone: make it again',
  );
}

/** Runs the constructor of a kind and checks the behaviour that it returns. */
export function construct(kind: ActorKind, bcom: unknown, args: readonly unknown[]): unknown {
  const behaviour = constructWith(kind.construct, bcom, args);
  if (behaviour instanceof Promise) {
    quieten(behaviour);
    throw asynchronous(`the constructor of ${kind.label}`);
  }
  const fits = kind.procedure
    ? typeof behaviour === 'function'
    : typeof behaviour === 'function' || (typeof behaviour === 'object' && behaviour !== null);
  if (!fits || isReference(behaviour))
    throw new CapError(
      'invalid',
      `the constructor of ${kind.label} must return ${kind.procedure ? 'one procedure (method, args)' : 'methods or one function'}`,
    );
  return behaviour;
}
