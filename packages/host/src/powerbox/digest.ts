/**
 * The digest that an answer has to name.
 *
 * Promise: it differs wherever one of these differs: the cap and what stands behind it, the method, the data, the versions of the files that were
 * shown. Data is written down in one way only, by type and value; what could change later is refused before.
 */
import { base32, CapError, hashSecret, isReference, symbolKey } from '@hob/vat';
import type { Seen } from '../state/records.ts';

export interface Bound {
  /** Who holds it, under which grants, and what stands behind the offer. */
  readonly cap: readonly unknown[];
  readonly method: string;
  readonly data: unknown;
  readonly seen: readonly Seen[];
}

/** 52 letters and digits: a person copies the first few. */
export function digestOf({ cap, method, data, seen }: Bound): string {
  const whole = [cap, method, data, seen];
  return base32(Buffer.from(hashSecret(`request:${written(whole)}`), 'base64url'));
}

/** The same text for the same data, another for other data. */
export function written(value: unknown): string {
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
  if (Array.isArray(value)) return `[${value.map(written).join()}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${written(item)}`).join()}}`;
}

const notData = (): CapError => new CapError('invalid', 'only data can be asked for: an object could change later');
