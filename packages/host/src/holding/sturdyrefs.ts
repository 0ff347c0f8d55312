/**
 * Sturdyrefs: a secret that opens one cap, for configuration and for people: a job that runs at night, a program of another machine's owner.
 *
 * Promise: what it opens is a grant of its own below one that a session holds, so it can do no more, ends with that grant and with the session, and is
 * narrowed, renewed and revoked like any other. Of the secret only a hash is kept; it is told once, to the granter who made it. A new secret takes
 * the place of the old one when it is first used. After a restart it opens what it opened before, with what is left of it.
 */
import type { Terms } from '@hob/revocable';
import { CapError, E, hashSecret, ledgerLine } from '@hob/vat';
import { type Act, hasEnded, stateOf } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import { addGrant } from '../state/order.ts';
import type { GrantRecord, HostTables, SessionRecord, SturdyrefRecord } from '../state/records.ts';
import { grantBelow } from './delegation.ts';

const most = 1000;
const key = (session: string, grant: string): string => `${session}/${grant}`;

/** Who entered with one is called so among the connections. */
export const callerOf = (grant: string): string => `sturdyref:${grant}`;

/** Who calls under that grant: who entered with its sturdyref, or the session itself. */
export const callerUnder = (book: HostTables, session: string, grant: string): string =>
  book.sturdyrefs.has(key(session, grant)) ? callerOf(grant) : session;

/** Those of a session, by their grants. */
export function sturdyrefsOf(
  book: HostTables,
  session: string,
): readonly (readonly [grant: string, row: SturdyrefRecord])[] {
  const found: (readonly [string, SturdyrefRecord])[] = [];
  const prefix = key(session, '');
  for (const [at, row] of book.sturdyrefs.entries(prefix)) {
    if (!at.startsWith(prefix)) break;
    found.push([at.slice(prefix.length), row]);
  }
  return found;
}

/** Whether that grant is one of a sturdyref. */
export const hasSturdyref = (book: HostTables, { id, session }: GrantRecord): boolean =>
  book.sturdyrefs.has(key(session, id));

const ended = (): CapError =>
  new CapError('revoked', 'this session has ended: there is nothing to make a sturdyref of');

/** In a turn. Answers a promise of the grant and the secret. Errors: `no-such-object`, `invalid`, `limit`, and what the grant above has ended with. */
export function mint(
  house: HostState,
  session: string,
  petname: string,
  terms: Terms,
  act: Act,
): Promise<{ readonly kept: GrantRecord; readonly sturdyref: string }> {
  const make = (book: HostTables): { readonly kept: GrantRecord; readonly cap: object } => {
    const room = sessionOf(book, session);
    if (room === undefined) throw ended();
    if (sturdyrefsOf(book, session).length >= most)
      throw new CapError('limit', `a session has ${most} sturdyrefs at the most: end it, or make them in another one`);
    return grantBelow(book, room, petname, { session: room, as: petname }, terms, act);
  };
  return E.when(E(powersOf(tablesOf(house))).secret(), ({ secret, hash }) => {
    const book = tablesOf(house);
    const { kept, cap } = make(book);
    addGrant(book, kept);
    book.sturdyrefs.set(key(session, kept.id), { cap, secret: hash, nextSecret: undefined });
    book.bearers.set(hash, { sturdyref: [session, kept.id] });
    ledgerLine('sturdyref', { grant: kept.id, session, what: 'mint', ...act });
    return { kept, sturdyref: secret };
  });
}

/** In a turn. Errors: `no-such-object`. */
export function exchange(
  house: HostState,
  { id, session }: GrantRecord,
  act: Act,
): Promise<{ readonly sturdyref: string }> {
  const found = (book: HostTables): SturdyrefRecord => {
    const row = book.sturdyrefs.get(key(session, id));
    const kept = book.grants.get(id);
    if (row === undefined || kept === undefined)
      throw new CapError('no-such-object', 'there is no sturdyref of that grant');
    const state = stateOf(book, kept);
    if (hasEnded(state))
      throw new CapError(state, `the grant of this sturdyref has ended (${state}): another secret would open nothing`);
    return row;
  };
  found(tablesOf(house));
  return E.when(E(powersOf(tablesOf(house))).secret(), ({ secret, hash }) => {
    const book = tablesOf(house);
    const row = found(book);
    if (row.nextSecret !== undefined) book.bearers.delete(row.nextSecret);
    book.sturdyrefs.set(key(session, id), { ...row, nextSecret: hash });
    book.bearers.set(hash, { sturdyref: [session, id] });
    ledgerLine('sturdyref', { grant: id, session, what: 'rotate', ...act });
    return { sturdyref: secret };
  });
}

/** In a turn: what the bearer of that secret is let in to. Undefined where the grant is over. */
export function openSturdyref(
  book: HostTables,
  [session, grant]: readonly [session: string, grant: string],
  secret: string,
): { readonly cap: object; readonly room: SessionRecord } | undefined {
  const [row, room, kept] = [
    book.sturdyrefs.get(key(session, grant)),
    sessionOf(book, session),
    book.grants.get(grant),
  ];
  if (row === undefined || room === undefined || kept === undefined) return undefined;
  const state = stateOf(book, kept);
  if (hasEnded(state)) return undefined;
  const hash = hashSecret(secret);
  if (row.nextSecret === hash) {
    book.bearers.delete(row.secret);
    book.sturdyrefs.set(key(session, grant), { ...row, secret: hash, nextSecret: undefined });
  }
  return { cap: row.cap, room };
}

/** In a turn: its secrets open nothing any more. The grant is still to be ended. */
export function forgetSturdyref(book: HostTables, { id, session }: GrantRecord): void {
  const row = book.sturdyrefs.get(key(session, id));
  for (const hash of [row?.secret, row?.nextSecret]) if (hash !== undefined) book.bearers.delete(hash);
  book.sturdyrefs.delete(key(session, id));
}

/** In a turn: the sockets of who entered with one of these are closed, once that is on the disk. */
export function putOut(book: HostTables, grants: readonly GrantRecord[]): void {
  const those = grants.filter(({ id, session }) => book.sturdyrefs.has(key(session, id))).map(({ id }) => callerOf(id));
  if (those.length > 0) E.sendOnly(powersOf(book)).ended(those);
}
