/** Checks and copies values from outside once, where they enter. */
import { refusal } from './errors.ts';

export { type OptionNames, takeOptions, takeRecord } from '@hob/vat/forwarder';

export function takeText(given: unknown, what: string, most: number): string {
  if (typeof given !== 'string' || !given.isWellFormed()) throw refusal('invalid', `${what} is text`);
  if (given.length > most) throw refusal('limit', `${what} has at most ${most} characters`);
  return given;
}

export function takeCount(given: unknown, what: string, least: number, most: number): number {
  if (typeof given !== 'number' || !Number.isSafeInteger(given) || given < least || given > most)
    throw refusal('invalid', `${what} is a whole number from ${least} to ${most}`);
  return given;
}

export function takeList(given: unknown, what: string, most: number): readonly unknown[] {
  if (!Array.isArray(given)) throw refusal('invalid', `${what} is a list`);
  if (given.length > most) throw refusal('limit', `${what} has at most ${most} entries`);
  return [...given];
}

/** A record of texts, with names of its own. */
export function takeTexts(given: unknown, what: string, most: number): readonly (readonly [string, string])[] {
  if (given === undefined) return [];
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw refusal('invalid', `${what} is a record`);
  const entries = Object.entries({ ...given });
  if (entries.length > most) throw refusal('limit', `${what} has at most ${most} entries`);
  return entries.map(([name, value]) => [name, takeText(value, `${what}.${name.slice(0, 64)}`, 8_192)] as const);
}

/** Text as UTF-8, or a copy of bytes. */
export function takeBytes(given: unknown, what: string, most: number): Uint8Array {
  const isBytes = given instanceof Uint8Array;
  if (!isBytes && typeof given !== 'string') throw refusal('invalid', `${what} is text or bytes`);
  if (typeof given === 'string' && !given.isWellFormed()) throw refusal('invalid', `${what} has a lone surrogate`);
  if (given.length > most) throw refusal('limit', `${what} has at most ${most} bytes`);
  const bytes = isBytes ? new Uint8Array(given) : new TextEncoder().encode(given);
  if (bytes.length > most) throw refusal('limit', `${what} has at most ${most} bytes`);
  return bytes;
}
