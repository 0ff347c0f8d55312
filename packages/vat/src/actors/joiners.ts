/**
 * Waits for several promises: for all of them, or for the first. After Goblins' `all-of` and `race`.
 *
 * Promise: `allOf` resolves with the values in the order of its arguments and breaks with the first error.
 * `race` settles like the first promise that settles. Later results change nothing.
 */
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import { CapError } from '../core/errors.ts';
import type { Definition, Outcome, Table } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { promise } from '../eventual/resolver.ts';
import { define } from '../turn/portrait.ts';

interface Resolver {
  resolve(value: unknown): void;
  break(error: Error): void;
}

interface Joiner {
  settled(outcome: Outcome, index: number): void;
}

/** The state after the decision: later results are ignored. */
export const Joined: Definition<Joiner, []> = define('Joined', () => ({ settled: () => {} }));

export const AllOf: Definition<Joiner, [resolver: Resolver, values: Table<unknown>, missing: number]> = define(
  'AllOf',
  (bcom, resolver, values, missing) => ({
    settled(outcome, index) {
      if (!outcome.ok) {
        resolver.break(errorOf(outcome));
        return bcom(Joined());
      }
      values.set(keyOf(index), outcome.value);
      if (missing > 1) return bcom(AllOf(resolver, values, missing - 1));
      resolver.resolve(Array.from(values.entries(), ([, value]) => value));
      return bcom(Joined());
    },
  }),
);

export const Race: Definition<Joiner, [resolver: Resolver]> = define('Race', (bcom, resolver) => ({
  settled(outcome) {
    if (outcome.ok) resolver.resolve(outcome.value);
    else resolver.break(errorOf(outcome));
    return bcom(Joined());
  },
}));

export function allOf<V>(promises: readonly (V | PromiseLike<V>)[]): Promise<readonly V[]> {
  const { promise: joined, resolver } = promise<readonly V[]>();
  if (promises.length === 0) resolver.resolve([]);
  else join(spawn(AllOf(resolver as Resolver, table(), promises.length)), promises);
  return joined;
}

/** Settles like the first of `promises` to settle. For an empty list it never settles. */
export function race<V>(promises: readonly (V | PromiseLike<V>)[]): Promise<V> {
  const { promise: joined, resolver } = promise<V>();
  join(spawn(Race(resolver as Resolver)), promises);
  return joined;
}

function join(joiner: Joiner, promises: readonly unknown[]): void {
  promises.forEach((each, index) => {
    E.to(joiner, 'settled', index).on(each as PromiseLike<unknown>);
  });
}

/** Padded, because table keys are ordered as text. */
const keyOf = (index: number): string => String(index).padStart(10, '0');

const errorOf = ({ code, message }: { readonly code: string; readonly message: string }): Error =>
  code === 'error' ? new Error(message) : new CapError(code, message);
