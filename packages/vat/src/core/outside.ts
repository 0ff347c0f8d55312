/**
 * The methods that a forwarder has, seen from outside. A forwarder has none of its own, so without this table
 * nobody can see that it forwards to, say, a stream.
 *
 * Promise: only the maker of a forwarder, who holds its target, adds to this table. The table is used only to
 * check for methods, and to wait for the end of a connection. It never gives out the target.
 */
import type { Severable } from './message.ts';
import { targetOf } from './reference.ts';

export type { Severable } from './message.ts';

const behind = new WeakMap<object, object>();

/** Maximum length of a chain of forwarders that is followed. */
const deepest = 64;

/** Records that `face` forwards calls to `inner`. Kept in memory only, and in no store. */
export function forwardsTo(face: object, inner: object): void {
  behind.set(face, inner);
}

/** Whether `reference`, or a target that it forwards to, has all of these methods. */
export function hasMethods(reference: object, ...methods: readonly string[]): boolean {
  let at: object | undefined = reference;
  for (let i = 0; i < deepest && at !== undefined; i += 1) {
    const seen: object = at;
    if (methods.every((method) => method in seen)) return true;
    at = behind.get(seen);
  }
  return false;
}

/** The connection that `reference`, or a target that it forwards to, comes from. */
export function severableOf(reference: object): Severable | undefined {
  let at: object | undefined = reference;
  for (let i = 0; i < deepest && at !== undefined; i += 1) {
    const connection = targetOf(at)?.severable;
    if (connection !== undefined) return connection;
    at = behind.get(at);
  }
  return undefined;
}
