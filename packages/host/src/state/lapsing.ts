/**
 * Sessions whose grace time is over, while their grants are looked at (`sessions/grace.ts`).
 *
 * Promise: such a session has a row until the look is over. The row names the last grant that was looked
 * at. Anything that keeps the session open deletes the row: somebody enters the session, or a grant that
 * was looked at already becomes lasting.
 */
import { sessionOf } from './groups.ts';
import { skeletonOf } from './names.ts';
import type { GrantRecord, HostTables, SessionRecord } from './records.ts';

const key = (session: string): string => `lapsing ${session}`;

/** In a turn: from the first grant on. */
export const beginLook = (tables: HostTables, session: string): void => void tables.facts.set(key(session), '');

/**
 * In a turn: the last grant that was looked at, '' before the first. Undefined where no look is under way.
 */
export const lookedUpTo = (tables: HostTables, session: string): string | undefined => tables.facts.get(key(session));

/** In a turn. */
export const noteLooked = (tables: HostTables, { id, session }: GrantRecord): void =>
  void tables.facts.set(key(session), id);

/** In a turn: the look is over, or has no reason any more. */
export function endLook(tables: HostTables, session: string): void {
  if (tables.facts.has(key(session))) tables.facts.delete(key(session));
}

/**
 * In a turn: whether this grant keeps its session open without a connection. A sturdyref does not, since
 * the session does not hold it.
 */
export function keepsOpen({ held }: SessionRecord, { id, petname, gate }: GrantRecord): boolean {
  if (held.get(skeletonOf(petname))?.grant !== id) return false;
  const { state, lasting } = gate.look();
  return lasting && (state === 'live' || state === 'suspended');
}

/** In a turn that gives this grant time or uses. It may have been looked at already. */
export function lookAgainAt(tables: HostTables, grant: GrantRecord): void {
  if (lookedUpTo(tables, grant.session) === undefined) return;
  const session = sessionOf(tables, grant.session);
  if (session !== undefined && keepsOpen(session, grant)) endLook(tables, grant.session);
}
