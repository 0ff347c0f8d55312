/**
 * Checks and copies values from outside once, before the first await. A caller cannot change them between the
 * check and the use.
 */
import { refusal } from './errors.ts';

const utf8 = new TextEncoder();
// This getter returns a name only for real typed arrays, whatever the prototype of an object claims.
const brand = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get;

export { takeRecord } from '@hob/vat/forwarder';

export function isBytes(value: unknown): value is Uint8Array {
  return brand?.call(value) === 'Uint8Array';
}

/** Returns a copy of the bytes, or the text encoded as UTF-8. */
export function takeBytes(value: unknown, max: number, limit: string): Uint8Array {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw refusal('invalid', 'the text has a lone surrogate');
    if (value.length > max) throw refusal('FS_LIMIT', `${limit} ${max}`);
  } else if (!isBytes(value)) throw refusal('invalid', 'data must be text or a Uint8Array');
  const bytes = typeof value === 'string' ? utf8.encode(value) : new Uint8Array(value);
  if (bytes.length > max) throw refusal('FS_LIMIT', `${limit} ${max}, asked ${bytes.length}`);
  return bytes;
}

/** The bytes of these texts as UTF-8. Memory is counted so: a character takes up to four bytes. */
export const bytesOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Decodes the text of a file. Refuses bytes that would change when the text is written back. */
export function takeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal('UNSUPPORTED', 'not UTF-8 text, read() gives the bytes');
  }
}

export function takeCount(value: unknown, what: string, least = 0): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) {
    throw refusal('invalid', `${what} is a whole number of at least ${least}`);
  }
  return value;
}

export function takeFlag(value: unknown, what: string): boolean {
  if (value !== undefined && typeof value !== 'boolean') throw refusal('invalid', `${what} is true or false`);
  return value === true;
}

export function takeString(value: unknown, what: string): string {
  if (typeof value !== 'string' || !value.isWellFormed()) throw refusal('invalid', `${what} is text`);
  return value;
}

export function takeList(value: unknown, what: string, max: number): readonly unknown[] {
  if (!Array.isArray(value)) throw refusal('invalid', `${what} is a list`);
  if (value.length > max) throw refusal('FS_LIMIT', `${what} ${max}`);
  return [...value];
}
