/**
 * Groups: what ends many grants at once.
 *
 * Promise: from the turn that puts a group into the table `ended`, no grant of that group lets a call through, a session whose group it is
 * has ended, and so have those under it. One row does that, whatever the number of grants; their own rows are removed afterwards, some in
 * each turn (`removal.ts`). A grant is in the groups of its session and of all sessions above, of its session's grants, of the granters of
 * its session, and of all grants. The last three can end while the session goes on: their ids have a number, and the next
 * grant is in the group of the next number.
 */
import type { Within } from '@hob/revocable';
import type { Group } from '@hob/vat';
import { chainOf, next } from './host-state.ts';
import type { HostTables, Scope, SessionRecord } from './records.ts';

export const groupOfSession = (id: string): Group => `=session ${id}`;

const groupOf = (book: HostTables, scope: Scope): Group => `=${scope} ${book.counts.get(`revoked ${scope}`) ?? 0}`;

/** In a turn: the group of the grants so far. Those that are made from now on are in another one. */
export function closeGroup(book: HostTables, scope: Scope): Group {
  const group = groupOf(book, scope);
  next(book, `revoked ${scope}`);
  return group;
}

/** In a turn: the session is over, and its grants are gone. */
export const forgetGroups = (book: HostTables, id: string): void => void book.counts.delete(`revoked grants ${id}`);

/** In a turn: for a grant that is made now. */
export function groupsFor(book: HostTables, room: SessionRecord): Within {
  const scopes: readonly Scope[] = [
    'all',
    ...room.granters.map((name): Scope => `granter ${name}`),
    `grants ${room.id}`,
  ];
  const sessions = chainOf(book, room).map(({ id }) => groupOfSession(id));
  return { ended: book.ended, groups: Object.freeze([...scopes.map((scope) => groupOf(book, scope)), ...sessions]) };
}

function hasEnded(book: HostTables, room: SessionRecord): boolean {
  if (book.ended.has(groupOfSession(room.id))) return true;
  if (room.parent === undefined) return false;
  const above = book.rooms.get(room.parent);
  return above === undefined || hasEnded(book, above);
}

/** In a turn: a session that is open. One whose rows are still being removed is none. */
export function sessionOf(book: HostTables, id: string): SessionRecord | undefined {
  const room = book.rooms.get(id);
  return room === undefined || (book.ended.size > 0 && hasEnded(book, room)) ? undefined : room;
}
