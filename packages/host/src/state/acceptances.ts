/**
 * Texts that granters accepted by their hashes, such as the wish list of a repository.
 *
 * Promise: an acceptance is one recorded act of one granter, for one text under one name. A grant that is made for an
 * accepted text is refused as soon as the text is not accepted any more. An acceptance that ended never comes back by
 * itself.
 */
import { CapError, ledgerLine, wallTime } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import type { Initiator } from './c-list.ts';
import type { AcceptanceRecord, AcceptedText, HostTables } from './records.ts';

/** More than a person reads. */
const mostAcceptances = 100;

const key = (granter: string, name: string): string => `${granter}/${name}`;

/** Errors: `invalid`. */
export function checkText(text: AcceptedText): AcceptedText {
  const { name, hash } = takeOptions(text, 'an accepted text', { name: true, hash: true });
  if (typeof name !== 'string' || !/^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u.test(name))
    throw new CapError('invalid', 'the name of a text has 1 to 200 characters that can be seen');
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash))
    throw new CapError('invalid', 'the hash of a text is its SHA-256 as 64 hexadecimal digits in small letters');
  return { name, hash };
}

/** In a turn. */
export const acceptanceOf = (tables: HostTables, granter: string, name: string): AcceptanceRecord | undefined =>
  tables.acceptances.get(key(granter, name));

/** In a turn: the texts that a granter accepts now. */
export const acceptancesOf = (tables: HostTables, granter: string): readonly AcceptanceRecord[] =>
  [...tables.acceptances.entries(key(granter, ''))].flatMap(([, row]) => (row.granter === granter ? [row] : []));

/** In a turn: whether the granter accepts exactly this text. */
export const isAccepted = (tables: HostTables, granter: string, { name, hash }: AcceptedText): boolean =>
  acceptanceOf(tables, granter, name)?.hash === hash;

/** In a turn: adds the row and its line. Nothing else is accepted under that name. Errors: `limit`. */
export function addAcceptance(tables: HostTables, { name, hash }: AcceptedText, act: Initiator): AcceptanceRecord {
  if (acceptancesOf(tables, act.by).length >= mostAcceptances)
    throw new CapError('limit', `a granter accepts at most ${mostAcceptances} texts: end one of them first`);
  const row: AcceptanceRecord = { name, hash, granter: act.by, at: wallTime() };
  tables.acceptances.set(key(act.by, name), row);
  ledgerLine('accept', { what: 'begin', name, sha256: hash, ...act });
  return row;
}

/** In a turn: removes the row, with the line that says why and how many grants end with it. */
export function removeAcceptance(
  tables: HostTables,
  { name, hash, granter }: AcceptanceRecord,
  { act, why, grants }: { readonly act: Initiator; readonly why: string; readonly grants: number },
): void {
  tables.acceptances.delete(key(granter, name));
  ledgerLine('accept', { what: 'end', name, sha256: hash, ...act, why, grants });
}
