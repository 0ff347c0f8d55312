/**
 * Removing what has ended, some of it in each turn.
 *
 * Promise: ending takes hold in one short turn, whatever the number of grants and children (`groups.ts`); what is left of them goes in
 * turns of at most `most` grants, between which others have their turns. The row in `ended` says what is to be done and is deleted with
 * the last of it, so work that a crash cut off goes on at the next start.
 */
import { CapError, cut, type Definition, define, E, type Group, ledgerLine, spawn, tellAnyway } from '@hob/vat';
import { callerOf, forgetSturdyref, hasSturdyref, putOut } from '../holding/sturdyrefs.ts';
import { forgetAsker } from '../powerbox/pending.ts';
import type { Act } from '../state/c-list.ts';
import { closeGroup, forgetGroups, groupOfSession, sessionOf } from '../state/groups.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import { lookOf } from '../state/names.ts';
import { dropGrant, dropRoom, grantsFrom, numberOf, roomsFrom } from '../state/order.ts';
import type { GrantRecord, HostTables, Removal, Scope, SessionRecord } from '../state/records.ts';

/** Grants that one turn ends: 5 to 10 ms of work. */
const most = 64;
/** Grants of others that one turn passes over. */
const mostLooked = 2000;
/** What removing a session costs beside its grants, in grants. */
const costOfSession = 4;

export interface Remover {
  /** A group has ended: closes sockets, and removes. */
  begin(group: Group, sessions: readonly string[]): void;
  /** Removes some, and sends itself a message for the rest. Fulfilled when nothing is left and the drivers have stopped. */
  remove(group: Group): Promise<void> | undefined;
}

export const RemoverActor: Definition<Remover, [house: HostState]> = define('host.remover', (bcom, house) => ({
  begin(group, sessions) {
    const book = tablesOf(house);
    E.sendOnly(powersOf(book)).ended(sessions);
    E.sendOnly(powersOf(book)).closeEnded();
    E.sendOnly(bcom.self as unknown as Remover).remove(group);
  },
  remove(group) {
    const book = tablesOf(house);
    const stops = removeSome(book, group, most);
    if (!book.ended.has(group)) return allOf(stops);
    // Sent before it is known that the drivers of these stop: one that never does must not hold up the rest.
    return allOf([E(bcom.self as unknown as Remover).remove(group) as unknown as Promise<void>, ...stops]);
  },
}));

/** In the first turn of a process: what the one before had not removed. */
export function openRemover(book: HostTables, house: HostState): void {
  if (!book.remover.has('remover')) book.remover.set('remover', spawn(RemoverActor(house)));
  for (const [group] of book.ended.entries()) E.sendOnly(removerOf(book)).remove(group as Group);
}

const removerOf = (book: HostTables): Remover => book.remover.get('remover') as Remover;

const revoked: CapError = Object.freeze(new CapError('revoked', 'this grant was revoked: ask for a new one'));

/** In a turn: the group has ended from now on. Fulfilled when its drivers have stopped. */
function markEnded(book: HostTables, group: Group, removal: Removal): Promise<void> {
  book.ended.set(group, removal);
  return cut(group, revoked);
}

/** In a turn, after `markEnded`: has the rest removed. Fulfilled when nothing is left. */
function removeRest(book: HostTables, group: Group, removal: Removal): Promise<void> | undefined {
  const ended = removal.what === 'session' ? [removal.of] : [];
  // Not only as a message of this turn: who ends what they themselves run under is cut off, and sends no more.
  tellAnyway(removerOf(book), 'begin', group, ended);
  return E(removerOf(book)).remove(group) as unknown as Promise<void>;
}

export interface Revoking {
  readonly act: Act;
  readonly why: string;
}

/** In a turn: all grants of a scope are over from now on. */
function markRevoked(
  book: HostTables,
  scope: Scope,
  { act, why }: Revoking,
): { readonly group: Group; readonly removal: Removal; readonly stopped: Promise<void> | undefined } {
  const to = book.counts.get('grants') ?? 0;
  const removal: Removal = { what: 'grants', scope, to, after: undefined, act: { ...act }, why };
  const earlier = [...withoutGroups(book)].filter((room) => isIn(scope, room));
  const stops = earlier.flatMap((room) => revokeThese(book, [...grantsFrom(book, room.id)], { act, why }));
  const group = closeGroup(book, scope);
  return { group, removal, stopped: allOf([markEnded(book, group, removal), ...stops]) };
}

/** In a turn: revokes all grants of a scope that there are now. Fulfilled when each has its line and its drivers have stopped. */
export function revokeScope(book: HostTables, scope: Scope, revoking: Revoking): Promise<void> | undefined {
  const { group, removal, stopped } = markRevoked(book, scope, revoking);
  return allOf([removeRest(book, group, removal), stopped]);
}

/** The same from outside turns, also before the host has started. Their drivers are told to stop; who closes the vats waits for them. */
export async function revokeAll(
  turn: <R>(body: (book: HostTables) => R) => Promise<R>,
  revoking: Revoking,
): Promise<void> {
  const group = await turn((book) => markRevoked(book, 'all', revoking).group);
  const some = (book: HostTables): boolean => {
    void removeSome(book, group, most);
    return book.ended.has(group);
  };
  while (await turn(some));
}

/** Sessions of a version that knew no groups: their grants have to be ended one by one, in one turn. They have the lowest numbers. */
function* withoutGroups(book: HostTables): Generator<SessionRecord> {
  for (const room of roomsFrom(book)) {
    if (room.grouped === true) return;
    yield room;
  }
}

const isIn = (scope: Scope, { id, granters }: SessionRecord): boolean =>
  scope === 'all' || scope === `grants ${id}` || granters.some((name) => scope === `granter ${name}`);

/** In a turn: ends so many grants of the group. Answers when their drivers have stopped. */
export function removeSome(book: HostTables, group: Group, atMost: number): readonly Promise<void>[] {
  const removal = book.ended.get(group);
  if (removal === undefined) return [];
  return removal.what === 'session'
    ? removeSessions(book, group, removal, atMost)
    : revokeSome(book, group, removal, atMost);
}

function revokeSome(
  book: HostTables,
  group: Group,
  removal: Removal & { readonly what: 'grants' },
  atMost: number,
): readonly Promise<void>[] {
  const { scope, to, after, act, why } = removal;
  const session = scope.startsWith('grants ') ? scope.slice('grants '.length) : undefined;
  const ended: GrantRecord[] = [];
  let looked = 0;
  for (const kept of grantsFrom(book, session, after)) {
    if ((numberOf(kept.id) as number) > to) break;
    const room = book.rooms.get(kept.session);
    if (room !== undefined && isIn(scope, room)) ended.push(kept);
    looked += 1;
    if (ended.length < atMost && looked < mostLooked) continue;
    book.ended.set(group, { ...removal, after: kept.id });
    return revokeThese(book, ended, { act, why });
  }
  book.ended.delete(group);
  return revokeThese(book, ended, { act, why });
}

function revokeThese(
  book: HostTables,
  grants: readonly GrantRecord[],
  { act, why }: Revoking,
): readonly Promise<void>[] {
  putOut(book, grants);
  return grants.map(({ gate }) => gate.revoke(why, { ...act }));
}

/** From the deepest up: as long as there is a row of a session, there are those of the sessions above. */
function removeSessions(
  book: HostTables,
  group: Group,
  removal: Removal & { readonly what: 'session' },
  atMost: number,
): readonly Promise<void>[] {
  const stops: Promise<void>[] = [];
  const over: string[] = [];
  let { held } = removal;
  let left = atMost;
  for (let room = deepest(book, removal.of); room !== undefined; room = deepest(book, removal.of)) {
    const some = empty(book, room, left, stops, over);
    held += some.held;
    left -= some.cost;
    if (!some.empty) break;
    removeSession(book, room);
    if (room.id !== removal.of)
      ledgerLine('session', { session: room.id, what: 'end', ...removal.act, why: removal.why, grants: held });
    over.push(room.id);
    held = 0;
    left -= costOfSession;
    if (left <= 0) break;
  }
  if (book.rooms.has(removal.of)) book.ended.set(group, { ...removal, held });
  else book.ended.delete(group);
  if (over.length > 0) E.sendOnly(powersOf(book)).ended(over);
  return stops;
}

function deepest(book: HostTables, id: string): SessionRecord | undefined {
  const room = book.rooms.get(id);
  for (const [name, child] of room?.children.entries() ?? []) {
    const found = deepest(book, child);
    if (found !== undefined) return found;
    room?.children.delete(name);
  }
  return room;
}

/** Of what a session holds, so much. */
function empty(
  book: HostTables,
  { id, held, urls }: SessionRecord,
  atMost: number,
  stops: Promise<void>[],
  over: string[],
): { readonly empty: boolean; readonly cost: number; readonly held: number } {
  let cost = 0;
  let dropped = 0;
  for (const kept of grantsFrom(book, id)) {
    if (cost >= atMost) return { empty: false, cost, held: dropped };
    stops.push(kept.gate.end());
    if (hasSturdyref(book, kept)) {
      forgetSturdyref(book, kept);
      over.push(callerOf(kept.id));
    } else if (held.delete(lookOf(kept.petname))) dropped += 1;
    dropGrant(book, kept);
    cost += 1;
  }
  for (const [hash] of urls.entries()) {
    if (cost >= atMost) return { empty: false, cost, held: dropped };
    urls.delete(hash);
    cost += 1;
  }
  return { empty: true, cost, held: dropped };
}

function removeSession(book: HostTables, { id, name, parent, secret, nextSecret }: SessionRecord): void {
  forgetAsker(book, id);
  forgetGroups(book, id);
  for (const hash of [secret, nextSecret]) if (hash !== undefined) book.bearers.delete(hash);
  dropRoom(book, id);
  const siblings = parent === undefined ? book.firsts : book.rooms.get(parent)?.children;
  // The name of the session that was ended is free at once: another one may have it.
  if (siblings?.get(name) === id) siblings.delete(name);
}

/** In a turn: ends a session and those under it. Fulfilled when nothing of them is left and their drivers have stopped. */
export function endSession(book: HostTables, room: SessionRecord, act: Act, why: string): Promise<void> | undefined {
  const { id, name, parent, secret, nextSecret, held } = room;
  const group = groupOfSession(id);
  const siblings = parent === undefined ? book.firsts : book.rooms.get(parent)?.children;
  siblings?.delete(name);
  for (const hash of [secret, nextSecret]) if (hash !== undefined) book.bearers.delete(hash);
  ledgerLine('session', { session: id, what: 'end', ...act, why, grants: held.size });
  const removal: Removal = { what: 'session', of: id, act: { ...act }, why, held: 0 };
  const stopped = markEnded(book, group, removal);
  // Grants of a version that knew no groups are ended now.
  const now = room.grouped === true ? [] : removeSome(book, group, Number.POSITIVE_INFINITY);
  return allOf([removeRest(book, group, removal), stopped, ...now]);
}

/** In a turn: the callers whose sockets are to be closed. */
export function endedOf(book: HostTables, callers: readonly string[]): readonly string[] {
  return callers.filter((who) => {
    if (who.startsWith('granter:')) return false;
    if (!who.startsWith(callerOf(''))) return sessionOf(book, who) === undefined;
    const kept = book.grants.get(who.slice(callerOf('').length));
    return kept === undefined || sessionOf(book, kept.session) === undefined || kept.gate.look().state === 'revoked';
  });
}

/** In a turn: fulfilled when all are. */
export function allOf(stops: readonly (Promise<void> | undefined)[]): Promise<void> | undefined {
  let all: Promise<void> | undefined;
  for (const stop of stops)
    if (stop !== undefined) all = all === undefined ? stop : (E.when(all, () => stop) as unknown as Promise<void>);
  return all;
}
