/**
 * The session that a program opens when it starts, such as the daemon's "workspace".
 *
 * Promise: for one purpose (one directory) a state grants once. A later start goes on with that session and with what is left of its
 * grants, and opens none where the session has ended: what was revoked, used up or ended by time does not come back by a restart.
 * `fresh` ends the earlier session and opens another one; that is a person's act and has a line in the ledger. The session, its grants
 * and the note that it was opened are written in one turn, so a crash leaves all of them or none.
 */
import { ledgerLine } from '@hob/vat';
import { giveOut } from '../powerbox/give.ts';
import { endSession } from '../sessions/removal.ts';
import { openSession } from '../sessions/sessions.ts';
import { sessionOf } from '../state/groups.ts';
import type { HostState } from '../state/host-state.ts';
import type { HostTables, SessionRecord } from '../state/records.ts';
import type { GrantTerms } from '../state/terms.ts';
import { type Grant, look } from './grants.ts';

export interface StartOptions {
  /** The name of the session. */
  readonly name: string;
  /** Who grants. */
  readonly granter: string;
  /** What the session is for, such as a directory: for another purpose another session is opened. */
  readonly purpose: string;
  readonly grants: readonly { readonly petname: string; readonly offered: string; readonly terms: GrantTerms }[];
  /** Ends the session of an earlier start and opens another one, with new grants. */
  readonly fresh?: boolean;
}

/** `again`: the session of an earlier start goes on. `ended`: it has ended, and no other was opened. */
export interface Begun {
  readonly how: 'opened' | 'again' | 'ended';
  /** The id of the session; undefined where it has ended and the state does not know its id. */
  readonly session: string | undefined;
  /** What it was granted, as it is now. */
  readonly grants: readonly Grant[];
}

const by = { by: 'hob start --fresh', surface: 'process' } as const;

/** In a turn. `secret` is the hash of the secret of a session that is opened. Errors: `no-such-object`, `invalid`. */
export function beginSession(
  book: HostTables,
  house: HostState,
  { name, granter, purpose, grants, fresh = false }: StartOptions,
  secret: string,
): Begun {
  const earlier = earlierSession(book, { name, purpose, grants });
  if (earlier !== undefined && !fresh) {
    const room = earlier.session === undefined ? undefined : sessionOf(book, earlier.session);
    if (room === undefined) return { how: 'ended', session: earlier.session, grants: [] };
    book.starts.set(purpose, room.id);
    return { how: 'again', session: room.id, grants: heldBy(book, room) };
  }
  const open = roomCalled(book, name);
  if (open !== undefined) void endSession(book, open, fresh ? by : { by: 'host' }, 'another session takes its place');
  const room = openSession(book, house, { name, granters: [granter], secret, by: 'host' });
  if (fresh) ledgerLine('session', { session: room.id, what: 'fresh', ...by, before: earlier?.session ?? open?.id });
  for (const { petname, offered, terms } of grants)
    giveOut(book, house, room, { petname, offered, given: terms, act: { by: granter, surface: 'program' } });
  book.starts.set(purpose, room.id);
  return { how: 'opened', session: room.id, grants: heldBy(book, room) };
}

function roomCalled(book: HostTables, name: string): SessionRecord | undefined {
  const id = book.firsts.get(name);
  return id === undefined ? undefined : sessionOf(book, id);
}

function heldBy(book: HostTables, { held }: SessionRecord): readonly Grant[] {
  return [...held.entries()].flatMap(([, { grant }]) => {
    const kept = book.grants.get(grant);
    return kept === undefined ? [] : [look(book, kept)];
  });
}

/** What an earlier start opened for this purpose; undefined where none did. */
function earlierSession(
  book: HostTables,
  { name, purpose, grants }: Pick<StartOptions, 'name' | 'purpose' | 'grants'>,
): { readonly session: string | undefined } | undefined {
  const noted = book.starts.get(purpose);
  if (noted !== undefined) return { session: noted };
  // Versions before this one noted no start. Where such a store ever had a session, assume one for this purpose: the only safe guess.
  const noNotes = !book.facts.has('starts') && book.starts.size === 0;
  if (!noNotes || (book.counts.get('sessions') ?? 0) === 0) return undefined;
  const room = roomCalled(book, name);
  const offers = new Set(grants.map(({ offered }) => offered));
  const same = room !== undefined && heldBy(book, room).some(({ offered }) => offers.has(offered));
  return { session: same ? room.id : undefined };
}
