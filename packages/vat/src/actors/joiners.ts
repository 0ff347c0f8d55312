/**
 * Waits for several promises: for all of them, or for the first. After Goblins' `all-of` and `race`.
 *
 * Promise: `allOf` resolves with the values in the order of its arguments and breaks with the first reason.
 * `race` settles like the first promise that settles. A reason arrives as it is, error or data. Later results
 * change nothing. Nothing of this is stored: as every promise, the result ends with the process.
 */
import { E } from '../eventual/eventual.ts';
import { promise } from '../eventual/resolver.ts';

/** The values that have arrived, the last one first. Each step has its own, so a failed turn spoils none. */
interface Arrived<V> {
  readonly value: V;
  readonly before: Arrived<V> | undefined;
}

/**
 * Resolves with the values of all `promises`, in their order. Breaks with the first reason. In a turn. After
 * Goblins' `all-of`.
 */
export function allOf<V>(promises: readonly (V | PromiseLike<V>)[]): Promise<readonly V[]> {
  const { promise: joined, resolver } = promise<readonly V[]>();
  // Passed now: data that the caller changes later stays as it is.
  const passed = promises.map((each) => E.when(each));
  for (const each of passed) E.when(each, undefined, (reason) => resolver.break(reason));
  const collect = (index: number, arrived: Arrived<V> | undefined): void => {
    const next = passed[index];
    if (next === undefined) resolver.resolve(inOrder(arrived));
    else E.when(next, (value) => collect(index + 1, { value, before: arrived }));
  };
  collect(0, undefined);
  return joined;
}

/** Settles like the first of `promises` to settle. For an empty list it never settles. In a turn. */
export function race<V>(promises: readonly (V | PromiseLike<V>)[]): Promise<V> {
  const { promise: joined, resolver } = promise<V>();
  for (const each of promises)
    E.when(
      each,
      (value) => resolver.resolve(value),
      (reason) => resolver.break(reason),
    );
  return joined;
}

function inOrder<V>(arrived: Arrived<V> | undefined): readonly V[] {
  const values: V[] = [];
  for (let at = arrived; at !== undefined; at = at.before) values.push(at.value);
  return values.reverse();
}
