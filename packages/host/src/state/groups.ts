/**
 * Groups: one row ends many grants at once.
 *
 * Promise: from the turn that puts a group into the table `endedGroups`, no grant of that group lets a call
 * through. A session whose group it is has ended, and so have its child sessions. One row does that for any
 * number of grants; their own rows are removed later, in slices (`sessions/removal.ts`). A grant is in the
 * groups of its session and of each session above, of its session's grants, of its session's granters, and
 * of all grants. The last three can end while the session goes on, so their ids have a number, and later
 * grants are in the group with the next number.
 */
import type { GrantGroups } from '@hob/revocable';
import type { Group } from '@hob/vat/forwarder';
import { chainOf, nextNumber } from './host-state.ts';
import type { HostTables, RevokeScope, SessionRecord } from './records.ts';

export const groupOfSession = (id: string): Group => `=session ${id}`;

const groupOf = (tables: HostTables, scope: RevokeScope): Group =>
  `=${scope} ${tables.counts.get(`revoked ${scope}`) ?? 0}`;

/** In a turn: returns the group of all grants so far. Later grants are in another group. */
export function closeGroup(tables: HostTables, scope: RevokeScope): Group {
  const group = groupOf(tables, scope);
  nextNumber(tables, `revoked ${scope}`);
  return group;
}

/** In a turn: forgets the group numbers of a session whose grants are gone. */
export const forgetGroups = (tables: HostTables, id: string): void => void tables.counts.delete(`revoked grants ${id}`);

/** In a turn: the groups of a grant that is made now. */
export function groupsFor(tables: HostTables, session: SessionRecord): GrantGroups {
  const scopes: readonly RevokeScope[] = [
    'all',
    ...session.granters.map((name): RevokeScope => `granter ${name}`),
    `grants ${session.id}`,
  ];
  const sessions = chainOf(tables, session).map(({ id }) => groupOfSession(id));
  return {
    ended: tables.endedGroups,
    groups: Object.freeze([...scopes.map((scope) => groupOf(tables, scope)), ...sessions]),
  };
}

function hasEnded(tables: HostTables, session: SessionRecord): boolean {
  if (tables.endedGroups.has(groupOfSession(session.id))) return true;
  if (session.parent === undefined) return false;
  const above = tables.sessions.get(session.parent);
  return above === undefined || hasEnded(tables, above);
}

/** In a turn: returns a session that is open. A session whose rows are still being removed is not open. */
export function sessionOf(tables: HostTables, id: string): SessionRecord | undefined {
  const session = tables.sessions.get(id);
  return session === undefined || (tables.endedGroups.size > 0 && hasEnded(tables, session)) ? undefined : session;
}
