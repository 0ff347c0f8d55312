/**
 * Data as text, for digests and for what a person is shown.
 *
 * Promise: equal data has one text, by type and value, and other data has another text. Data that could
 * change later has none.
 */
import { CapError } from '../core/errors.ts';
import { isReference } from '../core/reference.ts';
import { symbolKey } from '../core/symbols.ts';
import { base32 } from './sturdyrefs.ts';

/**
 * Returns one text for equal data, and another text for other data. Throws `invalid` for an object, a promise
 * or a function.
 */
export function canonicalText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `${value}n`;
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'symbol':
      return `@${JSON.stringify(symbolKey(value) ?? null)}`;
    case 'object':
      break;
    default:
      throw notData();
  }
  if (value === null) return 'null';
  if (isReference(value) || value instanceof Promise) throw notData();
  if (value instanceof Uint8Array) return `b${base32(value)}`;
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalText(item)}`).join()}}`;
}

const notData = (): CapError => new CapError('invalid', 'a request takes data only: an object could change later');
