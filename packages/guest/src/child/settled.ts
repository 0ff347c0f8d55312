/**
 * The value of a program, with what its promises became.
 *
 * `return names.map((name) => E(files).readText(name))` is what models write: the answer to it is the texts. A promise that
 * left as one would break with the process.
 */
import { types } from 'node:util';
import { isReference } from '@hob/vat/peer';

/** More than a frame holds. */
const most = 200_000;

export async function settled(value: unknown): Promise<unknown> {
  const seen = new Map<object, unknown>();
  let left = most;
  const walk = async (x: unknown): Promise<unknown> => {
    const found: unknown = types.isPromise(x) ? await x : x;
    if (typeof found !== 'object' || found === null || isReference(found) || !isPlain(found)) return found;
    // What is shared stays shared, and what is cyclic goes back as it is, to be refused where values leave.
    if (seen.has(found)) return seen.get(found);
    seen.set(found, found);
    left -= Object.keys(found).length;
    if (left < 0 || !(await holdsPromise(found, walk, seen))) return found;
    return seen.get(found);
  };
  return walk(value);
}

/** Puts a copy of `found` in its place if something in it became something else. */
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

/** Without accessors: those run code, and are refused where values leave. */
function isPlain(x: object): boolean {
  if (types.isProxy(x)) return false;
  const proto: unknown = Object.getPrototypeOf(x);
  if (proto !== Object.prototype && proto !== Array.prototype && proto !== null) return false;
  return Object.values(Object.getOwnPropertyDescriptors(x)).every((property) => 'value' in property);
}
