/**
 * Promises as a turn sees them.
 *
 * A promise in a turn is never resolved, since a resolved one is delivered as its value. So calling a method
 * on one is always a mistake. These promises throw an error that says so, instead of "x.withdraw is not a
 * function".
 */
import { CapError } from '../core/errors.ts';
import type { Account } from '../core/meter.ts';
import type { VatPromise } from '../core/promise.ts';
import { current } from './turn.ts';
import { ownBytes } from './values.ts';

// An object between the promise and `Promise.prototype`, so that `instanceof Promise` still holds.
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

/**
 * Returns a native promise for `promise`, to pass into the running turn. All turns share it, so it is frozen. A new one
 * for each turn would add a watcher each time a peer sends the promise.
 */
export function turnPromise(promise: VatPromise): Promise<unknown> {
  if (promise.ofTurns !== undefined) return promise.ofTurns;
  // `watchOutside`, because a host program that keeps the promise must learn nothing before it is durable.
  const native = new Promise<unknown>((resolve, reject) => promise.watchOutside(resolve, reject));
  // No turn can handle the rejection later. Anyone who keeps the promise elsewhere still sees it.
  native.catch(() => {});
  promise.alias(native);
  Object.freeze(Object.setPrototypeOf(native, unresolved));
  promise.ofTurns = native;
  return native;
}

/**
 * Returns a native promise for one driver. If it resolves to bytes, the driver gets a copy, which it may change. While
 * `promise` is pending, it keeps a watcher for each call, and the caller pays for that. Errors: `limit`.
 */
export function driverPromise(promise: VatPromise, payer: Account): Promise<unknown> {
  let owed = promise.settled === undefined ? 1 : 0;
  payer.charge('promises', owed);
  const paid = (): void => {
    payer.refund('promises', owed);
    owed = 0;
  };
  const native = new Promise<unknown>((resolve, reject) =>
    promise.watchOutside(
      (value) => {
        paid();
        resolve(ownBytes(value));
      },
      (error) => {
        paid();
        reject(error);
      },
    ),
  );
  native.catch(() => {});
  return promise.alias(native);
}
