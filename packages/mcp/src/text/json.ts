/** The result of any cap as JSON. A value that JSON lacks is a record with one key that names its kind. */
import { CapError, isReference } from '@hob/vat/peer';

const DEEPEST = 64;

/** Errors: `invalid` (nested too deep). */
export function toJson(value: unknown, depth = 0): unknown {
  if (depth > DEEPEST) throw new CapError('invalid', `the result is nested more than ${DEEPEST} deep: ask for less of it`); // biome-ignore format: one line
  switch (typeof value) {
    case 'string':
      return value.toWellFormed();
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : { number: String(value) };
    case 'bigint':
      return { bigint: String(value) };
    case 'object':
      break;
    default:
      return value === undefined ? null : { [typeof value]: String(value) };
  }
  if (value === null) return null;
  // A reference is never asked for its `toJSON`: that would be a message to the cap.
  if (isReference(value)) return { cap: 'a cap without a petname, which cannot be used from here' };
  if (value instanceof Uint8Array) return { base64: base64(value) };
  if (Array.isArray(value)) return value.map((item) => toJson(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJson(item, depth + 1)]));
}

export function base64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
