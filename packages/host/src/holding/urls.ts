/**
 * Object URLs: for a host program that has to put a cap into text (Goblins' Mandy pattern).
 *
 * Promise: a URL is resolved only by the session that it was made in, until its time is over or the cap's grant is; only a hash of its id is
 * kept. Whoever else tries, and whatever else is tried, gets the same words, and is written down.
 */
import type { GateState } from '@hob/revocable';
import { CapError, E, hashSecret, ledgerLine, vatTime, wallTime } from '@hob/vat';
import { hasEnded, heldBy, stateOf } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import { lookOf } from '../state/names.ts';
import type { HostTables, Published, SessionRecord } from '../state/records.ts';

/** 32 random bytes, base32. */
const form = /^\/object\/([a-z2-7]{52})$/;
const defaultTime = 15 * 60_000;
const longestTime = 24 * 3_600_000;
const most = 1000;

export const hashOfId = (id: string): string => hashSecret(`object:${id}`);

/** In a turn. Errors: `invalid`, `no-such-object`, `limit`. */
export function publish(house: HostState, session: string, petname: string, ms: number = defaultTime): Promise<string> {
  if (!(typeof ms === 'number' && ms > 0 && ms <= longestTime))
    throw new CapError('invalid', 'for is a number of ms above 0, and a day at the most');
  const roomIn = (book: HostTables): SessionRecord => {
    const room = sessionOf(book, session);
    if (room === undefined) throw new CapError('revoked', 'this session has ended: open a new one');
    heldBy(room, petname);
    const state = stateOfHeld(book, room, petname);
    if (hasEnded(state))
      throw new CapError(state, `the grant of "${petname}" has ended (${state}): there is no object for a URL`);
    return room;
  };
  const before = tablesOf(house);
  roomIn(before);
  return E.when(E(powersOf(before)).objectId(), ({ id, hash }) => {
    const book = tablesOf(house);
    const room = roomIn(book);
    const { urls } = room;
    const [vat, wall] = [vatTime(), wallTime()];
    // Whose grant has ended is looked for only where room is needed: it costs more than a time.
    const full = urls.size >= most;
    for (const [old, published] of [...urls.entries()])
      if (full ? isDead(book, room, published) : isOver(published)) urls.delete(old);
    if (urls.size >= most)
      throw new CapError('limit', `a session has ${most} object URLs at the most: revoke some, or let them run out`);
    urls.set(hash, { petname, deadline: vat + ms, wallDeadline: wall + ms });
    return `/object/${id}`;
  });
}

const idIn = (url: unknown): string | undefined => (typeof url === 'string' ? form.exec(url)?.[1] : undefined);

/** In a turn. One that is not there is no error. */
export function unpublish({ urls }: SessionRecord, url: string): void {
  const id = idIn(url);
  if (id !== undefined) urls.delete(hashOfId(id));
}

/** Of the grant that the petname stands for, or stood for. */
function stateOfHeld(book: HostTables, { held }: SessionRecord, petname: string): GateState {
  const grant = held.get(lookOf(petname))?.grant;
  const kept = grant === undefined ? undefined : book.grants.get(grant);
  return kept === undefined ? 'revoked' : stateOf(book, kept);
}

const isOver = ({ deadline, wallDeadline }: Published): boolean => vatTime() >= deadline || wallTime() >= wallDeadline;

/** Its time is over, or the grant of its object has ended. */
const isDead = (book: HostTables, room: SessionRecord, published: Published): boolean =>
  isOver(published) || hasEnded(stateOfHeld(book, room, published.petname));

/** In a turn. Throws `no-such-object`, always in the same words: an id that is dead cannot be told from one that never was. */
export function resolveUrl(book: HostTables, room: SessionRecord, url: unknown): object {
  const id = idIn(url);
  const found = id === undefined ? undefined : room.urls.get(hashOfId(id));
  if (found !== undefined && !isDead(book, room, found)) return heldBy(room, found.petname);
  ledgerLine('refuse', { session: room.id, what: 'object', code: 'no-such-object' });
  throw new CapError('no-such-object', noSuchObject);
}

export const noSuchObject = 'this names no object here';
