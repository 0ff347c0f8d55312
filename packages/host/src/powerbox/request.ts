/**
 * A session asks for more.
 *
 * Promise: what it gets is a forwarder that a granter gave out for this very request, whose revoker stays with the granter. It can ask for what the
 * host offers, and no more often than a person would bear.
 */
import { checkTerms, isData } from '@hob/revocable';
import { CapError, E } from '@hob/vat';
import { petnames } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { type HostState, tablesOf } from '../state/host-state.ts';
import { lookOf } from '../state/names.ts';
import type { HostTables, SessionRecord } from '../state/records.ts';
import { type GrantTerms, scoped } from '../state/terms.ts';
import { digestOf } from './digest.ts';
import { type Asking, countAsk, file, waitFor } from './pending.ts';
import { flagsIn, permits, termRows, termText } from './shown.ts';

export interface Ask {
  readonly asks: string;
  readonly terms: GrantTerms;
  readonly why: string;
}

const longestWhy = 2000;

function readAsk(given: unknown): Ask {
  const shape = 'request takes {asks: "notes", terms: {uses: 1}, why: "to correct a typo"}';
  if (typeof given !== 'object' || given === null) throw new CapError('invalid', shape);
  const { asks, terms = {}, why = '' } = given as { readonly asks?: unknown; readonly terms?: unknown; readonly why?: unknown }; // biome-ignore format: one line
  if (typeof asks !== 'string' || typeof why !== 'string') throw new CapError('invalid', shape);
  if (!isData(terms)) throw new CapError('invalid', 'the terms of a request are data: an object could change after it was shown'); // biome-ignore format: one line
  checkTerms(scoped(terms as GrantTerms).terms);
  return { asks, terms: terms as GrantTerms, why: why.slice(0, longestWhy) };
}

/** What a session that was refused, or asked amiss, could ask for. */
export function instead(book: HostTables, room: SessionRecord, not?: string): string {
  const names = [...book.offered.entries('', 30)].map(([name]) => name);
  const rest = [...new Set([...petnames(room), ...names])].filter((name) => name !== not).slice(0, 12);
  const less =
    not === undefined ? '' : `fewer methods, uses or less time of "${not}"${rest.length === 0 ? '' : ', or '}`;
  return rest.length === 0 && less === '' ? 'the host offers nothing' : `you could ask for ${less}${rest.join(', ')}`;
}

/** The offer behind a petname that is held, or of that name. */
function offerOf(book: HostTables, room: SessionRecord, asks: string): string {
  const holding = asks.length < 64 ? room.held.get(lookOf(asks)) : undefined;
  const kept = holding?.petname === asks ? book.grants.get(holding.grant) : undefined;
  const offer = kept?.offered ?? asks;
  if (!book.offers.has(offer) || !book.offered.has(offer))
    throw new CapError('no-such-object', `there is nothing of that name to ask for: ${instead(book, room)}`);
  return offer;
}

function roomOf(book: HostTables, id: string): SessionRecord {
  const room = sessionOf(book, id);
  if (room === undefined) throw new CapError('revoked', 'this session has ended: ask for a new one');
  return room;
}

/** In a turn of the session. */
export function request(house: HostState, session: string, given: unknown): Promise<object> {
  return ask(house, session, readAsk(given), undefined);
}

/** Files it and waits: the shape that a person sees is made anew where something has changed meanwhile. */
function ask(house: HostState, session: string, of: Ask, stale: string | undefined): Promise<object> {
  const book = tablesOf(house);
  const room = roomOf(book, session);
  if (room.granters.length === 0)
    throw new CapError('denied', 'this session names no granter, so nobody could say yes: use what it holds');
  const { asks, terms, why } = of;
  const offered = offerOf(book, room, asks);
  const facts = book.offered.get(offered);
  if (facts === undefined) throw new CapError('unavailable', 'the host is starting: try again');
  const what = asks === offered ? `“${offered}”` : `“${offered}”, of which it holds “${asks}”`;
  const asking: Asking = {
    kind: 'grant',
    session,
    asker: session,
    payer: room.payer,
    digest: digestOf({ cap: [session, offered, facts.number], method: 'grant', data: [asks, terms], seen: [] }),
    asks,
    why,
    offered,
    offer: facts.number,
    terms,
    method: undefined,
    under: [],
    seen: [],
    stale,
    shown: () => ({
      effect: `lets session “${session}” use ${what}: ${termText(terms)}`,
      table: [['what', `“${offered}”`], ...termRows(terms)],
      permits: permits(offered, facts, terms),
      flags: flagsIn([terms, why]),
    }),
  };
  const id = file(book, asking, stale === undefined ? () => countAsk(book, room.payer) : undefined);
  return E.when(waitFor(book, id, session, undefined), (said) =>
    'cap' in said ? said.cap : ask(house, session, of, id),
  ) as unknown as Promise<object>;
}
