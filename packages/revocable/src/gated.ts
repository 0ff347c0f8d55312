/**
 * Each call waits for somebody’s yes.
 *
 * Promise: no call goes on before that, and what goes on is what was shown: arguments that could change meanwhile (references, promises) are
 * refused. Everything but `true` is a no. Calls that wait may be overtaken by others.
 */
import { type AnyDefinition, CapError, E, type Far, isReference, mutant } from '@hob/vat';
import { type Forward, type FullPolicy, forwardFully } from './forward.ts';

/** Who decides: a person, behind whatever asks them. */
export interface Judge {
  /** Answers `true` to let the call go on. */
  ask(call: { readonly method: string; readonly args: readonly unknown[] }): boolean;
}

const opensItself = mutant('gated');

function isData(value: unknown): boolean {
  if (isReference(value) || value instanceof Promise || typeof value === 'function') return false;
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return true;
  return Object.values(value).every(isData);
}

const policy: FullPolicy<readonly [judge: Judge]> = {
  before: (_state, method, args) => {
    if (!isData(args))
      throw new CapError(
        'invalid',
        `"${method.slice(0, 64)}" waits for approval here, so it takes data only: an object or a promise could change after it`,
      );
  },
  hold: ([judge], method, args) =>
    E.when(E(judge).ask({ method, args }), (yes: unknown) => {
      if (yes !== true && !opensItself) throw new CapError('denied', 'this call was not approved: ask whoever decides');
    }),
};

const made: Forward<readonly [judge: Judge]> = forwardFully('revocable.gated', policy);

/** Reached by `E` only. */
export const gated = <T extends object>(inner: T | Far<T>, judge: Judge | Far<Judge>): Far<T> =>
  made(inner, judge as Judge);
export const gatedDefinition: AnyDefinition = made.definition;
