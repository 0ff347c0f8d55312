/**
 * Bounds on the arguments of some methods; the others pass. For the bounds themselves see `bounds.ts`.
 */
import type { AnyDefinition, Far } from '@hob/vat';
import { asItIs, type Forward, type FullPolicy, forwardFully } from '../forwarder/forward.ts';
import { type Bounds, checkBounds, readBounds } from '../terms/bounds.ts';

// By message only: what a message carries is copied and frozen, so what was checked is what arrives.
const policy: FullPolicy<readonly [where: Bounds]> = {
  before: ([where], method, args) => checkBounds(where, method, args),
  wrap: asItIs,
};

const made: Forward<readonly [where: Bounds]> = forwardFully('revocable.bound', policy);

/** `bound(account, {pay: {0: {is: 'alice'}, 1: {max: 50}}})`. Reached by `E` only. */
export const bound = <T extends object>(inner: T | Far<T>, where: Bounds): Far<T> => made(inner, readBounds(where));
export const boundDefinition: AnyDefinition = made.definition;
