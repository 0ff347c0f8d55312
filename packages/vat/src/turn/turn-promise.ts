/**
 * Promises as a turn sees them.
 *
 * A promise in a turn is never resolved (a resolved one is delivered as its value), so calling a method on one is always a
 * mistake. Here the mistake gets an answer that says so, instead of "x.withdraw is not a function".
 */
import { CapError } from '../core/errors.ts';
import type { VatPromise } from '../core/promise.ts';
import { current } from './turn.ts';

// A step above `Promise.prototype`, so that `instanceof Promise` holds.
const known: object = Object.freeze(Object.create(Promise.prototype));

const unresolved = new Proxy(known, {
  get(base, name, self) {
    if (typeof name !== 'string' || name in base || current === undefined)
      return Reflect.get(base, name, self) as unknown;
    return (): never => {
      throw new CapError(
        'not-callable',
        `"${name.slice(0, 64)}" was called on a promise that is not resolved yet: use E(promise).${name.slice(0, 64)}(…)`,
      );
    };
  },
});

/** One for each: one more in each turn would be one more that waits, and a peer may send a promise as often as it likes. */
const made = new WeakMap<VatPromise, Promise<unknown>>();

/** A promise object for `vow`, to be handed into the running turn. Turns have it in common, so nothing can be left on it. */
export function turnPromise(vow: VatPromise): Promise<unknown> {
  const known = made.get(vow);
  if (known !== undefined) return known;
  // A host program that keeps it learns nothing ahead of the disk; in a turn nobody can wait for it.
  const promise = new Promise<unknown>((resolve, reject) => vow.watchOutside(resolve, reject));
  // Nobody in a turn can look at it later; whoever keeps it elsewhere still sees the error.
  promise.catch(() => {});
  vow.alias(promise);
  Object.freeze(Object.setPrototypeOf(promise, unresolved));
  made.set(vow, promise);
  return promise;
}
