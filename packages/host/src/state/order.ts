/**
 * The order of grants and sessions: by their numbers, so `g1000` comes after `g999`.
 *
 * Promise: a page of a list visits the rows of that page, whether it is of one session or of all. Ids are as they are stored; an index
 * has a row for each grant and for each session, under a key that sorts by number.
 */
import { CapError, type Table } from '@hob/vat';
import type { GrantRecord, HostTables, SessionRecord } from './records.ts';

const key = (number: number): string => String(number).padStart(15, '0');
/** No session has such an id. */
const all = '*';

/** The number in `g012-ab3d` or `q012-ab3d`; undefined in what is no such id. */
export function numberOf(id: string): number | undefined {
  const digits = /^[gq](\d{3,15})-[a-z2-7]{4}$/.exec(id)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The number in `work-ab3d12`, whose last part begins with the four letters of the store. */
function numberOfSession(id: string): number | undefined {
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

const indexRoom = (index: Index, id: string): void => index.set(key(numberOfSession(id) as number), id);

/** In a turn. */
export function addGrant(book: HostTables, kept: GrantRecord): void {
  book.grants.set(kept.id, kept);
  indexGrant(book.grantIndex, kept);
}

/** In a turn. */
export function dropGrant(book: HostTables, { id, session }: Pick<GrantRecord, 'id' | 'session'>): void {
  book.grants.delete(id);
  const number = key(numberOf(id) as number);
  book.grantIndex.delete(`${all}/${number}`);
  book.grantIndex.delete(`${session}/${number}`);
}

/** In a turn. */
export function addRoom(book: HostTables, room: SessionRecord): void {
  book.rooms.set(room.id, room);
  indexRoom(book.roomIndex, room.id);
}

/** In a turn. */
export function dropRoom(book: HostTables, id: string): void {
  book.rooms.delete(id);
  book.roomIndex.delete(key(numberOfSession(id) as number));
}

/** In a turn: of one session, or all, after the id of one. Errors: `invalid`. */
export function* grantsFrom(book: HostTables, session?: string, after?: string): Generator<GrantRecord> {
  const prefix = `${session ?? all}/`;
  for (const [at, id] of book.grantIndex.entries(`${prefix}${startOf(after, numberOf)}`)) {
    if (!at.startsWith(prefix)) return;
    const kept = book.grants.get(id);
    if (kept !== undefined) yield kept;
  }
}

/** In a turn: all sessions, after the id of one. Errors: `invalid`. */
export function* roomsFrom(book: HostTables, after?: string): Generator<SessionRecord> {
  for (const [, id] of book.roomIndex.entries(startOf(after, numberOfSession))) {
    const room = book.rooms.get(id);
    if (room !== undefined) yield room;
  }
}

/** In the turn that wakes a house of a version without these indexes: makes them. */
export function indexAll(
  grants: Table<GrantRecord> | undefined,
  rooms: Table<SessionRecord> | undefined,
  index: { readonly grants: Index; readonly rooms: Index },
): void {
  for (const [, kept] of grants?.entries() ?? []) indexGrant(index.grants, kept);
  for (const [id] of rooms?.entries() ?? []) indexRoom(index.rooms, id);
}
