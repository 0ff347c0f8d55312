/**
 * A set and a hash table as actors. After Goblins' `^seteq` and `^ghash`.
 *
 * Promise: references are compared by identity and data by content, so `{a: 1}` and another `{a: 1}` are one key.
 * Each entry costs one row: adding, finding and removing cost the same however many there are. In a durable vat
 * they last; a reference that ends with the process is refused there.
 */
import { spawn } from '../actor/actor.ts';
import { lastingName } from '../actor/identity.ts';
import { table } from '../actor/table.ts';
import { isReference } from '../core/reference.ts';
import type { Definition, Table } from '../core/types.ts';
import { define } from '../turn/portrait.ts';
import { canonicalText } from '../vats/canonical-text.ts';

/** Names of references that end with the process. No store can hold them, so a number of this process is enough. */
const numbers = new WeakMap<object, number>();
let last = 0;

/** A text for a reference or for data, which is another one for anything else. In a turn. */
export function keyOf(value: unknown): string {
  if (!isReference(value)) return `d ${canonicalText(value)}`;
  const reference = value as object;
  const name = lastingName(reference);
  if (name !== undefined) return `r ${name}`;
  let number = numbers.get(reference);
  if (number === undefined) {
    last += 1;
    number = last;
    numbers.set(reference, number);
  }
  return `p ${number}`;
}

/** A set. After Goblins' `^seteq`. */
export interface Seteq<V = unknown> {
  add(value: V): void;
  remove(value: V): void;
  isMember(value: V): boolean;
  /** In no particular order. */
  asList(): readonly V[];
}

export const Seteq: Definition<Seteq, [rows: Table<unknown>]> = define('Seteq', (_bcom, rows) => ({
  add: (value) => rows.set(keyOf(value), value),
  remove: (value) => void rows.delete(keyOf(value)),
  isMember: (value) => rows.has(keyOf(value)),
  asList: () => Array.from(rows.entries(), ([, value]) => value),
}));

/** A hash table. After Goblins' `^ghash`. */
export interface GHash<K = unknown, V = unknown> {
  /** The value of `key`, or `otherwise` if there is none. */
  ref(key: K, otherwise?: V): V | undefined;
  set(key: K, value: V): void;
  hasKey(key: K): boolean;
  remove(key: K): void;
  /** All entries, in no particular order. */
  data(): readonly (readonly [K, V])[];
}

interface KeyedRow {
  readonly key: unknown;
  readonly value: unknown;
}

export const GHash: Definition<GHash, [rows: Table<KeyedRow>]> = define('GHash', (_bcom, rows) => ({
  ref(key, otherwise) {
    const entry = rows.get(keyOf(key));
    return entry === undefined ? otherwise : entry.value;
  },
  set: (key, value) => rows.set(keyOf(key), { key, value }),
  hasKey: (key) => rows.has(keyOf(key)),
  remove: (key) => void rows.delete(keyOf(key)),
  data: () => Array.from(rows.entries(), ([, { key, value }]) => [key, value] as const),
}));

/** Makes a set of `values`. In a turn. */
export function makeSeteq<V = unknown>(...values: readonly V[]): Seteq<V> {
  const set = spawn(Seteq(table())) as Seteq<V>;
  for (const value of values) set.add(value);
  return set;
}

/** Makes an empty hash table. In a turn. */
export const makeGHash = <K = unknown, V = unknown>(): GHash<K, V> => spawn(GHash(table())) as GHash<K, V>;
