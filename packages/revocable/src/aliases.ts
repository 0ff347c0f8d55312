/** Two forwarders of one policy each: the listed methods of an object, and bounds on its arguments. */
import type { Far } from '@hob/vat';
import { type Forward, forwardFully } from './forwarder/forward.ts';
import { asItIs } from './forwarder/policy.ts';
import { type Bounds, checkBounds, type GivenBounds, readBounds } from './terms/bounds.ts';
import { checkMethod, readMethods } from './terms/methods.ts';

export const facets: Forward<readonly [methods: readonly string[]]> = forwardFully<
  readonly [methods: readonly string[]]
>('revocable.facet', {
  near: true,
  timeless: true,
  before: ([methods], method) => checkMethod(methods, method),
  wrap: asItIs,
});

/**
 * Lets only the listed methods through: `facet(file, ['read', 'stat'])` is a file that can only be read. What
 * they return comes out as it is. Errors: `invalid`.
 */
export const facet = <T extends object, K extends keyof T & string>(
  inner: T | Far<T>,
  methods: readonly K[],
): Far<Pick<T, K>> => facets(inner as object, readMethods(methods)) as Far<Pick<T, K>>;

// By message only. A message carries frozen copies, so the arguments that were checked are those that arrive.
export const bounds: Forward<readonly [where: Bounds]> = forwardFully<readonly [where: Bounds]>('revocable.bound', {
  timeless: true,
  before: ([where], method, args) => checkBounds(where, method, args),
  wrap: asItIs,
});

/**
 * Bounds the arguments of some methods; the others pass: `bound(account, {pay: {0: {is: 'alice'}, 1: {max:
 * 50}}})`. Reached by `E` only. Errors: `invalid`.
 */
export const bound = <T extends object>(inner: T | Far<T>, where: GivenBounds): Far<T> =>
  bounds(inner, readBounds(where));
