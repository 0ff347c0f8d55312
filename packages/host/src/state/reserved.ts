/**
 * Names that are kept for people and for what the host itself says.
 *
 * Promise: no session or petname that is made reads as a granter's name, or begins with a word of `hostWords`, in any spelling that looks
 * like it or that dashes take apart. An agent chooses the names of its children, and a person reads them in the line that says who asks.
 * A session that was there before its name was reserved keeps it and is shown marked; a granter who is added later may take its name.
 */
import { CapError } from '@hob/vat';
import { lookOf } from './names.ts';
import type { HostTables, SessionRecord } from './records.ts';

/** A name may not begin with one of these words. */
export const hostWords: readonly string[] = Object.freeze([
  'allowed',
  'approve',
  'approved',
  'confirmed',
  'denied',
  'granted',
  'granter',
  'hob',
  'host',
  'judge',
  'refused',
  'trusted',
  'verified',
]);

/** All of a name, whatever its dashes. */
const plain = (name: string): string => lookOf(name).replaceAll('-', '');

const firstWords: ReadonlySet<string> = new Set(hostWords.map(lookOf));
/** `revoked` or `ended` alone say nothing of a person; `revoked-by-…` does. */
const statements: readonly string[] = [...hostWords.filter((word) => word.endsWith('ed')), 'asked', 'ended', 'revoked'].map((word) => plain(`${word}by`)); // biome-ignore format: one line

/** Whether it begins with a word of the host: `approved-by-…`, also as `app-roved-by-…`. */
const isStatement = (name: string): boolean =>
  firstWords.has(lookOf(name).split('-', 1)[0] as string) ||
  firstWords.has(plain(name)) ||
  statements.some((statement) => plain(name).startsWith(statement));

/** Errors: `invalid`. */
export function checkStatement(name: string, what: string): void {
  if (isStatement(name))
    throw new CapError(
      'invalid',
      `${what} may not begin with a word that the host uses for what it says itself (${hostWords.join(', ')}): choose another`,
    );
}

const isReserved = (book: HostTables, name: string): boolean => {
  if (isStatement(name)) return true;
  for (const [granter] of book.granters.entries()) if (plain(granter) === plain(name)) return true;
  return false;
};

/** In a turn. Errors: `invalid`. */
export function checkReserved(book: HostTables, name: string, what: string): void {
  checkStatement(name, what);
  if (isReserved(book, name))
    throw new CapError('invalid', `${what} may not be a granter’s name, nor look like one: choose another`);
}

/** In a turn: a petname made of it that is not reserved. */
export const unreserved = (book: HostTables, name: string): string =>
  isReserved(book, name) ? `cap-${name}`.slice(0, 50) : name;

/** In a turn: what a person should know of the names of sessions that were there before their names were reserved. */
export const reservedAmong = (book: HostTables, rooms: readonly SessionRecord[]): readonly string[] =>
  rooms
    .filter(({ name }) => isReserved(book, name))
    .map(({ id }) => `the session “${id}” has a name that is reserved: it is not a person, and its name is no statement of the host`); // biome-ignore format: one line
