/**
 * Awaits the promises in the value of a program.
 *
 * Models write `return names.map((name) => E(files).readText(name))` and mean the texts. A promise in the
 * value would reject when the process ends.
 */
import { types } from 'node:util';
import { isReference } from '@hob/vat/peer';

/** The most properties to look at. A frame cannot hold this many. */
const most = 200_000;

export async function settled(value: unknown): Promise<unknown> {
  const seen = new Map<object, unknown>();
  let left = most;
  const walk = async (x: unknown): Promise<unknown> => {
    const found: unknown = types.isPromise(x) ? await x : x;
    if (typeof found !== 'object' || found === null || isReference(found) || !isPlain(found)) return found;
    // Shared objects stay shared. Cyclic ones are returned as they are; encoding the value refuses them.
    if (seen.has(found)) return seen.get(found);
    seen.set(found, found);
    left -= Object.keys(found).length;
    if (left < 0 || !(await holdsPromise(found, walk, seen))) return found;
    return seen.get(found);
  };
  return walk(value);
}

/**
 * Walks the properties of `found`. If one has changed, records a copy with the new values and returns `true`.
 */
async function holdsPromise(
  found: object,
  walk: (x: unknown) => Promise<unknown>,
  seen: Map<object, unknown>,
): Promise<boolean> {
  let changed = false;
  const entries: [string, unknown][] = [];
  for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(found))) {
    if (Array.isArray(found) && key === 'length') continue;
    const now = typeof value === 'object' && value !== null ? await walk(value) : value;
    changed ||= now !== value;
    entries.push([key, now]);
  }
  if (!changed) return false;
  const copy: object = Array.isArray(found) ? [] : {};
  for (const [key, value] of entries)
    Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true });
  seen.set(found, copy);
  return true;
}

/** A plain object or array without accessors. Accessors run code, and encoding the value refuses them. */
function isPlain(x: object): boolean {
  if (types.isProxy(x)) return false;
  const proto: unknown = Object.getPrototypeOf(x);
  if (proto !== Object.prototype && proto !== Array.prototype && proto !== null) return false;
  return Object.values(Object.getOwnPropertyDescriptors(x)).every((property) => 'value' in property);
}
