/** Values of promises that were resolved, for whoever receives them. */
import { giveLocally } from '../core/foreign.ts';
import { convertForHost } from '../core/native-promise.ts';
import { type VatPromise, vatPromiseOf } from '../core/promise.ts';
import { ByReference } from '../core/reference.ts';
import { Copied, withPromises } from './copies.ts';
import { isForeign } from './remotables.ts';
import { ownBytes, pass } from './values.ts';

/** The value of a fulfilled promise, for another receiver. */
export const fulfilment = (promise: VatPromise): unknown => pass(promise.value, promise.account);

/** The size of a part of a copy, counted each time it occurs. */
function sizeOf(item: unknown): number {
  if (typeof item === 'string') return 8 + item.length;
  return typeof item === 'object' && item !== null ? Copied.size(item) : 8;
}

/** Replaces fulfilled promises by their values, for the receiving turn. */
export function resolved(value: unknown, pending: (promise: VatPromise) => unknown): unknown {
  const settled = (promise: VatPromise): unknown =>
    promise.settled === 'fulfilled' ? fulfilment(promise) : pending(promise);
  return withOthers(value, settled);
}

/** Replaces each promise by the result of `instead`. */
export function withOthers(
  value: unknown,
  instead: (promise: VatPromise) => unknown,
  copies: Map<object, object> = new Map(),
): unknown {
  if (typeof value !== 'object' || value === null || ByReference.is(value)) return value;
  const promise = vatPromiseOf(value);
  if (promise !== undefined) return instead(promise);
  if (!withPromises.has(value)) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  const copy: object = Array.isArray(value)
    ? value.map((item) => withOthers(item, instead, copies))
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withOthers(item, instead, copies)]));
  // Not marked as clean: the promise's value may be bytes, which the next sender could change.
  const size = Object.values(copy).reduce((sum: number, item: unknown) => sum + sizeOf(item), 16);
  new Copied(copy, false, size);
  withPromises.add(copy);
  copies.set(value, copy);
  return Object.freeze(copy);
}

// Values for the host program: its own foreign objects come back unwrapped, vat promises become native ones.
convertForHost((value, isShared) => {
  if (typeof value !== 'object' || value === null) return value;
  const own = (isShared ? ownBytes(value) : value) as object;
  return withPromises.has(own) || isForeign(own) ? giveLocally(own) : own;
});
