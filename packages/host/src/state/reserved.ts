/**
 * Names that are reserved for granters and for what the host says itself.
 *
 * Promise: no new session or petname reads like a granter's name or begins with a word of `hostWords`, in
 * any spelling that looks alike, with or without dashes. This matters because an agent chooses the names of
 * its child sessions, and a person reads them beside a request. An older session keeps such a name and is
 * flagged. A granter who is added later may take the name of a session.
 */
import { CapError } from '@hob/vat';
import { skeletonOf } from './names.ts';
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

/** The skeleton of a name without its dashes. */
const withoutDashes = (name: string): string => skeletonOf(name).replaceAll('-', '');

const firstWords: ReadonlySet<string> = new Set(hostWords.map(skeletonOf));
/** `revoked` or `ended` alone say nothing of a person; `revoked-by-…` does. */
const statements: readonly string[] = [...hostWords.filter((word) => word.endsWith('ed')), 'asked', 'ended', 'revoked'].map((word) => withoutDashes(`${word}by`)); // biome-ignore format: one line

/** Whether a name begins with a word of the host, such as `approved-by-…` or `app-roved-by-…`. */
const startsWithHostWord = (name: string): boolean =>
  firstWords.has(skeletonOf(name).split('-', 1)[0] as string) ||
  firstWords.has(withoutDashes(name)) ||
  statements.some((statement) => withoutDashes(name).startsWith(statement));

/** Errors: `invalid`. */
export function checkHostWords(name: string, what: string): void {
  if (startsWithHostWord(name))
    throw new CapError(
      'invalid',
      `${what} may not begin with a word that the host uses in its own messages (${hostWords.join(', ')}): choose another`,
    );
}

const isReserved = (tables: HostTables, name: string): boolean => {
  if (startsWithHostWord(name)) return true;
  for (const [granter] of tables.granters.entries()) if (withoutDashes(granter) === withoutDashes(name)) return true;
  return false;
};

/** In a turn. Errors: `invalid`. */
export function checkReserved(tables: HostTables, name: string, what: string): void {
  checkHostWords(name, what);
  if (isReserved(tables, name))
    throw new CapError('invalid', `${what} may not be a granter’s name, nor look like one: choose another`);
}

/** In a turn: returns the name, or a petname made from it if it is reserved. */
export const withoutReservedName = (tables: HostTables, name: string): string =>
  isReserved(tables, name) ? `cap-${name}`.slice(0, 50) : name;

/** In a turn: a warning for each session whose name was reserved after it was opened. */
export const reservedNameFlags = (tables: HostTables, sessions: readonly SessionRecord[]): readonly string[] =>
  sessions
    .filter(({ name }) => isReserved(tables, name))
    .map(({ id }) => `the session “${id}” has a name that is reserved: it is not a person, and its name is no statement of the host`); // biome-ignore format: one line
