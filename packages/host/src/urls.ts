/**
 * Object URLs: for a host program that has to put a cap into text (Goblins' Mandy pattern).
 *
 * Promise: a URL is resolved only by the session that it was made in, until its time is over or the cap's grant is; only a hash of its id is
 * kept. Whoever else tries, and whatever else is tried, gets the same words, and is written down.
 */
import { CapError, E, hashSecret, ledgerLine, vatTime, wallTime } from '@hob/vat';
import { type Book, bookOf, type House, type Room, worldOf } from './book.ts';
import { heldBy } from './c-list.ts';

/** 32 random bytes, base32. */
const form = /^\/object\/([a-z2-7]{52})$/;
const defaultTime = 15 * 60_000;
const longestTime = 24 * 3_600_000;
const most = 1000;

export const hashOfId = (id: string): string => hashSecret(`object:${id}`);

/** In a turn. Errors: `invalid`, `no-such-object`, `limit`. */
export function publish(house: House, session: string, petname: string, ms: number = defaultTime): Promise<string> {
  if (!(typeof ms === 'number' && ms > 0 && ms <= longestTime))
    throw new CapError('invalid', 'for is a number of ms above 0, and a day at the most');
  const roomIn = (book: Book): Room => {
    const room = book.rooms.get(session);
    if (room === undefined) throw new CapError('revoked', 'this session has ended: open a new one');
    heldBy(room, petname);
    return room;
  };
  const before = bookOf(house);
  roomIn(before);
  return E.when(E(worldOf(before)).objectId(), ({ id, hash }) => {
    const { urls } = roomIn(bookOf(house));
    const [vat, wall] = [vatTime(), wallTime()];
    for (const [old, { deadline, wallDeadline }] of [...urls.entries()])
      if (vat >= deadline || wall >= wallDeadline) urls.delete(old);
    if (urls.size >= most)
      throw new CapError('limit', `a session has ${most} object URLs at the most: revoke some, or let them run out`);
    urls.set(hash, { petname, deadline: vat + ms, wallDeadline: wall + ms });
    return `/object/${id}`;
  });
}

const idIn = (url: unknown): string | undefined => (typeof url === 'string' ? form.exec(url)?.[1] : undefined);

/** In a turn. One that is not there is no error. */
export function unpublish({ urls }: Room, url: string): void {
  const id = idIn(url);
  if (id !== undefined) urls.delete(hashOfId(id));
}

/** In a turn. Throws `no-such-object`, always in the same words. */
export function resolveUrl(room: Room, url: unknown): object {
  const id = idIn(url);
  const found = id === undefined ? undefined : room.urls.get(hashOfId(id));
  const over = found === undefined || vatTime() >= found.deadline || wallTime() >= found.wallDeadline;
  if (!over) return heldBy(room, found.petname);
  ledgerLine('refuse', { session: room.id, what: 'object', code: 'no-such-object' });
  throw new CapError('no-such-object', noSuchObject);
}

export const noSuchObject = 'this names no object here';
