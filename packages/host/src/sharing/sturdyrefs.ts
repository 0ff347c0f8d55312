/**
 * Sturdyrefs: a secret that opens one cap, such as for a job that runs at night or a program on another
 * machine.
 *
 * Promise: a sturdyref is a grant of its own under a grant of a session. It can do no more, ends with that
 * grant and with the session, and is narrowed, renewed and revoked like any other. Only a hash of the
 * secret is stored, and the secret is shown once. A new secret replaces the old one when it is first used.
 * After a restart it opens the same cap, with what is left of the grant.
 */
import type { Terms } from '@hob/revocable';
import { CapError, E, ledgerLine } from '@hob/vat';
import { hashSecret } from '@hob/vat/forwarder';
import { grantState, hasEnded, type Initiator } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import { addGrant } from '../state/order.ts';
import type { GrantRecord, HostTables, SessionRecord, SturdyrefRecord } from '../state/records.ts';
import { makeChildGrant } from './delegation.ts';

const most = 1000;
const key = (session: string, grant: string): string => `${session}/${grant}`;

/** How the bearer of a sturdyref is named among the connections. */
export const sturdyrefCaller = (grant: string): string => `sturdyref:${grant}`;

/** The caller under that grant: the bearer of its sturdyref, or the session. */
export const callerUnder = (tables: HostTables, session: string, grant: string): string =>
  tables.sturdyrefs.has(key(session, grant)) ? sturdyrefCaller(grant) : session;

/** The sturdyrefs of a session, with their grants. */
function sturdyrefsOf(
  tables: HostTables,
  session: string,
): readonly (readonly [grant: string, row: SturdyrefRecord])[] {
  const found: (readonly [string, SturdyrefRecord])[] = [];
  const prefix = key(session, '');
  for (const [at, row] of tables.sturdyrefs.entries(prefix)) {
    if (!at.startsWith(prefix)) break;
    found.push([at.slice(prefix.length), row]);
  }
  return found;
}

/** Whether that grant has a sturdyref. */
export const hasSturdyref = (tables: HostTables, { id, session }: GrantRecord): boolean =>
  tables.sturdyrefs.has(key(session, id));

const ended = (): CapError => new CapError('revoked', 'this session has ended: its caps can get no sturdyref');

/**
 * In a turn. Resolves to the grant and the secret. Errors: `no-such-object`, `invalid`, `limit`, and the
 * code that the grant above has ended with.
 */
export function mintSturdyref(
  hostState: HostState,
  sessionId: string,
  petname: string,
  terms: Terms,
  initiator: Initiator,
): Promise<{ readonly grant: GrantRecord; readonly sturdyref: string }> {
  const make = (tables: HostTables): { readonly grant: GrantRecord; readonly cap: object } => {
    const session = sessionOf(tables, sessionId);
    if (session === undefined) throw ended();
    if (sturdyrefsOf(tables, sessionId).length >= most)
      throw new CapError('limit', `a session has ${most} sturdyrefs at the most: end it, or make them in another one`);
    return makeChildGrant(tables, session, petname, { session, as: petname }, terms, initiator);
  };
  return E.when(E(powersOf(tablesOf(hostState))).secret(), ({ secret, hash }) => {
    const tables = tablesOf(hostState);
    const { grant, cap } = make(tables);
    addGrant(tables, grant);
    tables.sturdyrefs.set(key(sessionId, grant.id), { cap, secret: hash, nextSecret: undefined });
    tables.secretOwners.set(hash, { sturdyref: [sessionId, grant.id] });
    ledgerLine('sturdyref', { grant: grant.id, session: sessionId, what: 'mint', ...initiator });
    return { grant, sturdyref: secret };
  });
}

/** In a turn. Errors: `no-such-object`. */
export function rotateSturdyref(
  hostState: HostState,
  { id, session }: GrantRecord,
  initiator: Initiator,
): Promise<{ readonly sturdyref: string }> {
  const found = (tables: HostTables): SturdyrefRecord => {
    const row = tables.sturdyrefs.get(key(session, id));
    const grant = tables.grants.get(id);
    if (row === undefined || grant === undefined)
      throw new CapError('no-such-object', 'there is no sturdyref of that grant');
    const state = grantState(tables, grant);
    if (hasEnded(state))
      throw new CapError(state, `the grant of this sturdyref has ended (${state}): a new secret would not work`);
    return row;
  };
  found(tablesOf(hostState));
  return E.when(E(powersOf(tablesOf(hostState))).secret(), ({ secret, hash }) => {
    const tables = tablesOf(hostState);
    const row = found(tables);
    if (row.nextSecret !== undefined) tables.secretOwners.delete(row.nextSecret);
    tables.sturdyrefs.set(key(session, id), { ...row, nextSecret: hash });
    tables.secretOwners.set(hash, { sturdyref: [session, id] });
    ledgerLine('sturdyref', { grant: id, session, what: 'rotate', ...initiator });
    return { sturdyref: secret };
  });
}

/** In a turn: the cap that this secret opens. Undefined if the grant has ended. */
export function openSturdyref(
  tables: HostTables,
  [sessionId, grantId]: readonly [session: string, grant: string],
  secret: string,
): { readonly cap: object; readonly session: SessionRecord } | undefined {
  const [row, session, grant] = [
    tables.sturdyrefs.get(key(sessionId, grantId)),
    sessionOf(tables, sessionId),
    tables.grants.get(grantId),
  ];
  if (row === undefined || session === undefined || grant === undefined) return undefined;
  const state = grantState(tables, grant);
  if (hasEnded(state)) return undefined;
  const hash = hashSecret(secret);
  if (row.nextSecret === hash) {
    tables.secretOwners.delete(row.secret);
    tables.sturdyrefs.set(key(sessionId, grantId), { ...row, secret: hash, nextSecret: undefined });
  }
  return { cap: row.cap, session };
}

/** In a turn: its secrets open nothing from now on. The caller ends the grant. */
export function forgetSturdyref(tables: HostTables, { id, session }: GrantRecord): void {
  const row = tables.sturdyrefs.get(key(session, id));
  for (const hash of [row?.secret, row?.nextSecret]) if (hash !== undefined) tables.secretOwners.delete(hash);
  tables.sturdyrefs.delete(key(session, id));
}

/** In a turn: closes the connections of the bearers of these sturdyrefs, once the turn is on the disk. */
export function disconnectSturdyrefs(tables: HostTables, grants: readonly GrantRecord[]): void {
  const those = grants
    .filter(({ id, session }) => tables.sturdyrefs.has(key(session, id)))
    .map(({ id }) => sturdyrefCaller(id));
  if (those.length > 0) E.sendOnly(powersOf(tables)).disconnect(those);
}
