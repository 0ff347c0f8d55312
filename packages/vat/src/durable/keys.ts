/**
 * Keys of the cells of a store.
 *
 * The first part of a key is its type: a/VAT/ID actors, t/VAT/ID/KEY rows, r/VAT/NAME roots, s/HASH
 * sturdyrefs, m/N messages on their way, w/N waiting actors, c/CAUSE causes that were cut, k/LABEL kinds,
 * n/VAT the last number given out, v/time vat time, e/TIME/VAT/N alarms. The key of a row contains its vat,
 * so one key range holds all rows of a vat.
 */
import { CapError } from '../core/errors.ts';

/** A name as a part of a key. */
export function namePart(text: string): string {
  if (!text.isWellFormed()) throw new CapError('invalid', 'names in a durable store are Unicode text');
  return encodeURIComponent(text);
}

/** A number as a part of a key, so that keys are in the order of their numbers. */
export const numberPart = (n: number): string => String(n).padStart(16, '0');

export const actorKey = (vat: string, id: number): string => `a/${namePart(vat)}/${id}`;
export const rowsKey = (vat: string, id: number): string => `t/${namePart(vat)}/${id}/`;
export const rootKey = (vat: string, name: string): string => `r/${namePart(vat)}/${namePart(name)}`;
export const sturdyrefKey = (hash: string): string => `s/${hash}`;
/** The cell with the last number that a vat gave out. */
export const numbersKey = (vat: string): string => `n/${namePart(vat)}`;
/** The cell of a cause that ended while messages under it were on their way. */
export const cutKey = (cause: string): string => `c/${namePart(cause)}`;
export const kindKey = (label: string): string => `k/${namePart(label)}`;

/** The error for a store whose text is not what this program writes. */
export const damaged = (what: string): CapError =>
  new CapError('invalid', `the store is damaged (${what}): restore it from a backup`);

/** The name in a part of a key. */
export function nameIn(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw damaged('a name');
  }
}

/** The owner of a cell. A row belongs to its table: `t/VAT/ID/`. */
export const ownerOf = (key: string): string =>
  key.startsWith('t/') ? key.slice(0, key.indexOf('/', key.indexOf('/', 2) + 1) + 1) : key;

/** Parses the JSON in a cell. Errors: `invalid` (the store is damaged). */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged('a cell that is no JSON');
  }
}
