/**
 * Lists grants and sessions in the order of their numbers, so `g1000` comes after `g999`.
 *
 * Promise: listing a page visits only the rows of that page, for one session or for all. Stored ids do not
 * change. An index has a row for each grant and each session, under a key that sorts by number.
 */
import { CapError, type Table } from '@hob/vat';
import type { GrantRecord, HostTables, SessionRecord } from './records.ts';

const key = (number: number): string => String(number).padStart(15, '0');
/** No session has such an id. */
const all = '*';

/** The number in `g012-ab3d` or `q012-ab3d`. Undefined for any other text. */
export function numberOf(id: string): number | undefined {
  const digits = /^[gq](\d{3,15})-[a-z2-7]{4}$/.exec(id)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The number in `work-ab3d12`, whose last part begins with the four letters of the store. */
export function numberOfSession(id: string): number | undefined {
  const digits = /-[a-z2-7]{4}(\d{1,15})$/.exec(id)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Errors: `invalid`. */
function startOf(after: string | undefined, numbered: (id: string) => number | undefined): string {
  if (after === undefined || after === '') return key(0);
  const number = numbered(after);
  if (number === undefined)
    throw new CapError('invalid', 'after is the id of the last one of the page before: give one of this list');
  return key(number + 1);
}

type Index = Table<string>;

function indexGrant(index: Index, { id, session }: Pick<GrantRecord, 'id' | 'session'>): void {
  const number = key(numberOf(id) as number);
  index.set(`${all}/${number}`, id);
  index.set(`${session}/${number}`, id);
}

const indexSession = (index: Index, id: string): void => index.set(key(numberOfSession(id) as number), id);

/** In a turn. */
export function addGrant(tables: HostTables, grant: GrantRecord): void {
  tables.grants.set(grant.id, grant);
  indexGrant(tables.grantIndex, grant);
}

/** In a turn. */
export function deleteGrant(tables: HostTables, { id, session }: Pick<GrantRecord, 'id' | 'session'>): void {
  tables.grants.delete(id);
  if (tables.loops.has(id)) tables.loops.delete(id);
  const number = key(numberOf(id) as number);
  tables.grantIndex.delete(`${all}/${number}`);
  tables.grantIndex.delete(`${session}/${number}`);
}

/** In a turn. */
export function addSession(tables: HostTables, session: SessionRecord): void {
  tables.sessions.set(session.id, session);
  indexSession(tables.sessionIndex, session.id);
}

/** In a turn. */
export function deleteSession(tables: HostTables, id: string): void {
  tables.sessions.delete(id);
  tables.sessionIndex.delete(key(numberOfSession(id) as number));
}

/** In a turn: of one session, or all, after the id of one. Errors: `invalid`. */
export function* grantsFrom(tables: HostTables, session?: string, after?: string): Generator<GrantRecord> {
  const prefix = `${session ?? all}/`;
  for (const [at, id] of tables.grantIndex.entries(`${prefix}${startOf(after, numberOf)}`)) {
    if (!at.startsWith(prefix)) return;
    const grant = tables.grants.get(id);
    if (grant !== undefined) yield grant;
  }
}

/** In a turn: all sessions, after the id of one. Errors: `invalid`. */
export function* sessionsFrom(tables: HostTables, after?: string): Generator<SessionRecord> {
  for (const [, id] of tables.sessionIndex.entries(startOf(after, numberOfSession))) {
    const session = tables.sessions.get(id);
    if (session !== undefined) yield session;
  }
}

/** In the turn that wakes the state of a version without these indexes: makes them. */
export function indexAll(
  grants: Table<GrantRecord> | undefined,
  sessions: Table<SessionRecord> | undefined,
  index: { readonly grants: Index; readonly sessions: Index },
): void {
  for (const [, grant] of grants?.entries() ?? []) indexGrant(index.grants, grant);
  for (const [id] of sessions?.entries() ?? []) indexSession(index.sessions, id);
}
