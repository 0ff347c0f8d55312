/**
 * Some methods of an object.
 *
 * Promise: a method that was not named does not exist here, whether the object behind has it or not. What the others answer comes out as it
 * is: a facet is of one object.
 */
import { type AnyDefinition, CapError, type Far } from '@hob/vat';
import { asItIs, type Forward, type FullPolicy, forwardFully, shown } from '../forwarder/forward.ts';
import { readMethods } from '../terms/terms.ts';

export function checkMethod(methods: readonly string[], method: string): void {
  if (!methods.includes(method))
    throw new CapError('no-such-method', `this grant does not include "${shown(method)}": it has ${list(methods)}`);
}

function list(methods: readonly string[]): string {
  const some = methods.slice(0, 8).map(shown).join(', ');
  return methods.length > 8 ? `${some} and ${methods.length - 8} more` : some;
}

const policy: FullPolicy<readonly [methods: readonly string[]]> = {
  near: true,
  timeless: true,
  before: ([methods], method) => checkMethod(methods, method),
  wrap: asItIs,
};

const made: Forward<readonly [methods: readonly string[]]> = forwardFully('revocable.facet', policy);

/** `facet(file, ['read', 'stat'])` is a file that can only be looked at. */
export const facet = <T extends object, K extends keyof T & string>(
  inner: T | Far<T>,
  methods: readonly K[],
): Far<Pick<T, K>> => made(inner as object, readMethods(methods)) as Far<Pick<T, K>>;
export const facetDefinition: AnyDefinition = made.definition;
