/**
 * Removes the rows of what has ended, in slices.
 *
 * Promise: an end takes effect in one short turn, whatever the number of grants and children (`groups.ts`).
 * The rows are removed in turns of at most `most` grants, and other turns run in between. The row in
 * `endedGroups` says what is left to remove and is deleted last. So after a crash the next start continues.
 */
import { CapError, type Definition, define, E, ledgerLine, spawn } from '@hob/vat';
import { cut, type Group, tellAnyway } from '@hob/vat/forwarder';
import { forgetAsker } from '../powerbox/pending.ts';
import { disconnectSturdyrefs, forgetSturdyref, hasSturdyref, sturdyrefCaller } from '../sharing/sturdyrefs.ts';
import type { Initiator } from '../state/c-list.ts';
import { closeGroup, forgetGroups, groupOfSession, sessionOf } from '../state/groups.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import { skeletonOf } from '../state/names.ts';
import { deleteGrant, deleteSession, grantsFrom, numberOf, sessionsFrom } from '../state/order.ts';
import type { GrantRecord, HostTables, Removal, RevokeScope, SessionRecord } from '../state/records.ts';

/** Grants that one turn ends. This takes 5 to 10 ms (`bench/listing.ts`). */
const most = 64;
/** Grants of others that one turn passes over. */
const mostLooked = 2000;
/** The cost of removing a session besides its grants, in grants. */
const costOfSession = 4;

interface Remover {
  /** A group has ended: closes sockets, and removes. */
  begin(group: Group, sessions: readonly string[]): void;
  /**
   * Removes some, and sends itself a message for the rest. Fulfilled when nothing is left and the drivers
   * have stopped.
   */
  remove(group: Group): Promise<void> | undefined;
}

export const RemoverActor: Definition<Remover, [hostState: HostState]> = define('host.remover', (bcom, hostState) => ({
  begin(group, sessions) {
    const tables = tablesOf(hostState);
    E.sendOnly(powersOf(tables)).disconnect(sessions);
    E.sendOnly(powersOf(tables)).disconnectEnded();
    E.sendOnly(bcom.self as unknown as Remover).remove(group);
  },
  remove(group) {
    const tables = tablesOf(hostState);
    const stops = removeSome(tables, group, most);
    if (!tables.endedGroups.has(group)) return allOf(stops);
    // Sent before it is known that the drivers of these stop: one that never does must not hold up the rest.
    return allOf([E(bcom.self as unknown as Remover).remove(group) as unknown as Promise<void>, ...stops]);
  },
}));

/** In the first turn of a process: what the one before had not removed. */
export function openRemover(tables: HostTables, hostState: HostState): void {
  if (!tables.remover.has('remover')) tables.remover.set('remover', spawn(RemoverActor(hostState)));
  for (const [group] of tables.endedGroups.entries()) E.sendOnly(removerOf(tables)).remove(group as Group);
}

const removerOf = (tables: HostTables): Remover => tables.remover.get('remover') as Remover;

const revoked: CapError = Object.freeze(new CapError('revoked', 'this grant was revoked: ask for a new one'));

/** In a turn: the group has ended from now on. Fulfilled when its drivers have stopped. */
function markEnded(tables: HostTables, group: Group, removal: Removal): Promise<void> {
  tables.endedGroups.set(group, removal);
  return cut(group, revoked);
}

/** In a turn, after `markEnded`: has the rest removed. Fulfilled when nothing is left. */
function removeRest(tables: HostTables, group: Group, removal: Removal): Promise<void> | undefined {
  const ended = removal.what === 'session' ? [removal.of] : [];
  // Not only as a message of this turn: who ends what they themselves run under is cut off, and sends no
  // more.
  tellAnyway(removerOf(tables), 'begin', group, ended);
  return E(removerOf(tables)).remove(group) as unknown as Promise<void>;
}

export interface Revoking {
  readonly act: Initiator;
  readonly why: string;
}

/** In a turn: all grants of a scope are over from now on. */
function markRevoked(
  tables: HostTables,
  scope: RevokeScope,
  { act, why }: Revoking,
): { readonly group: Group; readonly removal: Removal; readonly stopped: Promise<void> | undefined } {
  const to = tables.counts.get('grants') ?? 0;
  const removal: Removal = { what: 'grants', scope, to, after: undefined, act: { ...act }, why };
  const earlier = [...withoutGroups(tables)].filter((session) => isIn(scope, session));
  const stops = earlier.flatMap((session) => revokeThese(tables, [...grantsFrom(tables, session.id)], { act, why }));
  const group = closeGroup(tables, scope);
  return { group, removal, stopped: allOf([markEnded(tables, group, removal), ...stops]) };
}

/**
 * In a turn: revokes all grants of a scope that there are now. Fulfilled when each has its line and its
 * drivers have stopped.
 */
export function revokeScope(tables: HostTables, scope: RevokeScope, revoking: Revoking): Promise<void> | undefined {
  const { group, removal, stopped } = markRevoked(tables, scope, revoking);
  return allOf([removeRest(tables, group, removal), stopped]);
}

/**
 * The same from outside turns, also before the host has started. Their drivers are told to stop; who closes
 * the vats waits for them.
 */
export async function revokeAll(
  turn: <R>(body: (tables: HostTables) => R) => Promise<R>,
  revoking: Revoking,
): Promise<void> {
  const group = await turn((tables) => markRevoked(tables, 'all', revoking).group);
  const some = (tables: HostTables): boolean => {
    void removeSome(tables, group, most);
    return tables.endedGroups.has(group);
  };
  while (await turn(some));
}

/**
 * Sessions of a version that knew no groups: their grants have to be ended one by one, in one turn. They have
 * the lowest numbers.
 */
function* withoutGroups(tables: HostTables): Generator<SessionRecord> {
  for (const session of sessionsFrom(tables)) {
    if (session.grouped === true) return;
    yield session;
  }
}

const isIn = (scope: RevokeScope, { id, granters }: SessionRecord): boolean =>
  scope === 'all' || scope === `grants ${id}` || granters.some((name) => scope === `granter ${name}`);

/** In a turn: ends so many grants of the group. Answers when their drivers have stopped. */
export function removeSome(tables: HostTables, group: Group, atMost: number): readonly Promise<void>[] {
  const removal = tables.endedGroups.get(group);
  if (removal === undefined) return [];
  return removal.what === 'session'
    ? removeSessions(tables, group, removal, atMost)
    : revokeSome(tables, group, removal, atMost);
}

function revokeSome(
  tables: HostTables,
  group: Group,
  removal: Removal & { readonly what: 'grants' },
  atMost: number,
): readonly Promise<void>[] {
  const { scope, to, after, act, why } = removal;
  const sessionId = scope.startsWith('grants ') ? scope.slice('grants '.length) : undefined;
  const ended: GrantRecord[] = [];
  let looked = 0;
  for (const grant of grantsFrom(tables, sessionId, after)) {
    if ((numberOf(grant.id) as number) > to) break;
    const session = tables.sessions.get(grant.session);
    if (session !== undefined && isIn(scope, session)) ended.push(grant);
    looked += 1;
    if (ended.length < atMost && looked < mostLooked) continue;
    tables.endedGroups.set(group, { ...removal, after: grant.id });
    return revokeThese(tables, ended, { act, why });
  }
  tables.endedGroups.delete(group);
  return revokeThese(tables, ended, { act, why });
}

/** In a turn. */
export function revokeThese(
  tables: HostTables,
  grants: readonly GrantRecord[],
  { act, why }: Revoking,
): readonly Promise<void>[] {
  disconnectSturdyrefs(tables, grants);
  return grants.map(({ gate }) => gate.revoke(why, { ...act }));
}

/** From the deepest up: as long as there is a row of a session, there are those of the sessions above. */
function removeSessions(
  tables: HostTables,
  group: Group,
  removal: Removal & { readonly what: 'session' },
  atMost: number,
): readonly Promise<void>[] {
  const stops: Promise<void>[] = [];
  const over: string[] = [];
  let { held } = removal;
  let left = atMost;
  for (let session = deepest(tables, removal.of); session !== undefined; session = deepest(tables, removal.of)) {
    const some = empty(tables, session, left, stops, over);
    held += some.held;
    left -= some.cost;
    if (!some.empty) break;
    removeSession(tables, session);
    if (session.id !== removal.of)
      ledgerLine('session', { session: session.id, what: 'end', ...removal.act, why: removal.why, grants: held });
    over.push(session.id);
    held = 0;
    left -= costOfSession;
    if (left <= 0) break;
  }
  if (tables.sessions.has(removal.of)) tables.endedGroups.set(group, { ...removal, held });
  else tables.endedGroups.delete(group);
  if (over.length > 0) E.sendOnly(powersOf(tables)).disconnect(over);
  return stops;
}

function deepest(tables: HostTables, id: string): SessionRecord | undefined {
  const session = tables.sessions.get(id);
  for (const [name, child] of session?.children.entries() ?? []) {
    const found = deepest(tables, child);
    if (found !== undefined) return found;
    session?.children.delete(name);
  }
  return session;
}

/** Ends up to `atMost` grants of a session. */
function empty(
  tables: HostTables,
  { id, held, urls }: SessionRecord,
  atMost: number,
  stops: Promise<void>[],
  over: string[],
): { readonly empty: boolean; readonly cost: number; readonly held: number } {
  let cost = 0;
  let dropped = 0;
  for (const grant of grantsFrom(tables, id)) {
    if (cost >= atMost) return { empty: false, cost, held: dropped };
    stops.push(grant.gate.end());
    if (hasSturdyref(tables, grant)) {
      forgetSturdyref(tables, grant);
      over.push(sturdyrefCaller(grant.id));
    } else if (held.delete(skeletonOf(grant.petname))) dropped += 1;
    deleteGrant(tables, grant);
    cost += 1;
  }
  for (const [hash] of urls.entries()) {
    if (cost >= atMost) return { empty: false, cost, held: dropped };
    urls.delete(hash);
    cost += 1;
  }
  return { empty: true, cost, held: dropped };
}

function removeSession(tables: HostTables, { id, name, parent, secret, nextSecret }: SessionRecord): void {
  forgetAsker(tables, id);
  forgetGroups(tables, id);
  for (const hash of [secret, nextSecret]) if (hash !== undefined) tables.secretOwners.delete(hash);
  deleteSession(tables, id);
  tables.personTurns.delete(id);
  const siblings = parent === undefined ? tables.rootSessions : tables.sessions.get(parent)?.children;
  // The name of the session that was ended is free at once: another one may have it.
  if (siblings?.get(name) === id) siblings.delete(name);
}

/**
 * In a turn: ends a session and those under it. Fulfilled when nothing of them is left and their drivers have
 * stopped.
 */
export function endSession(
  tables: HostTables,
  session: SessionRecord,
  act: Initiator,
  why: string,
): Promise<void> | undefined {
  const { id, name, parent, secret, nextSecret, held } = session;
  const group = groupOfSession(id);
  const siblings = parent === undefined ? tables.rootSessions : tables.sessions.get(parent)?.children;
  siblings?.delete(name);
  for (const hash of [secret, nextSecret]) if (hash !== undefined) tables.secretOwners.delete(hash);
  ledgerLine('session', { session: id, what: 'end', ...act, why, grants: held.size });
  const removal: Removal = { what: 'session', of: id, act: { ...act }, why, held: 0 };
  const stopped = markEnded(tables, group, removal);
  // Grants of a version that knew no groups are ended now.
  const now = session.grouped === true ? [] : removeSome(tables, group, Number.POSITIVE_INFINITY);
  return allOf([removeRest(tables, group, removal), stopped, ...now]);
}

/** In a turn: the callers whose sockets are to be closed. */
export function endedCallers(tables: HostTables, callers: readonly string[]): readonly string[] {
  return callers.filter((who) => {
    if (who.startsWith('granter:')) return false;
    if (!who.startsWith(sturdyrefCaller(''))) return sessionOf(tables, who) === undefined;
    const grant = tables.grants.get(who.slice(sturdyrefCaller('').length));
    return (
      grant === undefined || sessionOf(tables, grant.session) === undefined || grant.gate.look().state === 'revoked'
    );
  });
}

/** In a turn: fulfilled when all are. */
export function allOf(stops: readonly (Promise<void> | undefined)[]): Promise<void> | undefined {
  let all: Promise<void> | undefined;
  for (const stop of stops)
    if (stop !== undefined) all = all === undefined ? stop : (E.when(all, () => stop) as unknown as Promise<void>);
  return all;
}
