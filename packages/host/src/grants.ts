/**
 * Grants as a granter sees them: what was given to which session, what is left of it, and the way to end it.
 *
 * Promise: a granter grants only what the host offers, only to sessions that name it, and every grant has a deadline. Ending one
 * is a message away; when it answers, no driver works under the grant any more.
 */
import { type Gate, grantOf, type Revoker, type Terms } from '@hob/revocable';
import { CapError, type Definition, define, E, type Table } from '@hob/vat';
import type { LedgerReader } from './ledger-reader.ts';
import { checkName } from './names.ts';

/** A grant, as data. `until` in ms since 1970. */
export interface Grant {
  readonly id: string;
  readonly session: string;
  readonly petname: string;
  readonly granter: string;
  readonly state: 'live' | 'revoked' | 'expired' | 'exhausted' | 'suspended';
  readonly usesLeft?: number;
  readonly until: number;
}

/** What the host keeps of a grant. */
interface Kept {
  readonly id: string;
  readonly session: string;
  readonly petname: string;
  readonly granter: string;
  readonly until: number;
  readonly gate: Gate;
  readonly revoker: Revoker;
}

/** What the host keeps of a session. */
export interface Room {
  readonly name: string;
  readonly granters: readonly string[];
  readonly held: Table<object>;
}

/** What a granter's connection bootstraps as. */
export interface Granter {
  /** Gives `offered` to `session` under `petname`, on `terms`. Errors: `no-such-object`, `invalid`, `denied`. */
  grant(session: string, petname: string, offered: string, terms: Terms): Grant;
  /** In pages of at most 100, in the order of their ids. */
  list(filter?: {
    readonly session?: string;
    readonly live?: boolean;
    readonly after?: string;
    readonly limit?: number;
  }): readonly Grant[];
  /** Answers when it is durable and every driver has stopped. */
  revoke(
    what: { readonly grant: string } | { readonly session: string } | 'all',
    why?: string,
  ): Promise<void> | undefined;
  /** The host's ledger, to read and verify: whole, also the lines of other granters' sessions. */
  ledger(): LedgerReader;
}

/** All there is to know, shared by the granters of a host. */
export interface Book {
  readonly rooms: Table<Room>;
  readonly grants: Table<Kept>;
  readonly offers: Table<object>;
}

const look = ({ gate, revoker: _, ...kept }: Kept): Grant => {
  const { state, usesLeft } = gate.look();
  return { ...kept, state, ...(usesLeft === undefined ? {} : { usesLeft }) };
};

/** Numbers grants so that they sort in the order in which they were made. */
export const Counter: Definition<() => number, [count: number]> = define(
  'Counter',
  (bcom, count) => () => bcom(Counter(count + 1), count + 1),
);

const page = 100;

export const GranterActor: Definition<
  Granter,
  [name: string, book: Book, count: () => number, reader: LedgerReader, era: string]
> = define('Granter', (_bcom, name, book, count, reader, era) => {
  // Another granter's sessions are as absent as those that never were.
  const mine = (session: string): Room => {
    const room = typeof session === 'string' ? book.rooms.get(session) : undefined;
    if (room?.granters.includes(name) !== true)
      throw new CapError('no-such-object', 'you have no session of that id: list shows the grants of yours');
    return room;
  };
  const ofMine = function* (after = ''): Generator<Kept> {
    for (const [id, kept] of book.grants.entries(after))
      if (id !== after && book.rooms.get(kept.session)?.granters.includes(name) === true) yield kept;
  };
  const chosen = (what: Parameters<Granter['revoke']>[0]): readonly Kept[] => {
    if (what === 'all') return [...ofMine()];
    if (typeof what === 'object' && what !== null && 'session' in what) {
      mine(what.session);
      return [...ofMine()].filter((kept) => kept.session === what.session);
    }
    const id = typeof what === 'object' && what !== null && 'grant' in what ? what.grant : undefined;
    const kept = [...ofMine()].find((each) => each.id === id);
    if (kept === undefined) throw new CapError('no-such-object', 'you have no grant of that id: list shows them');
    return [kept];
  };
  return {
    grant(session, petname, offered, terms) {
      const { held } = mine(session);
      checkName(petname, 'a petname');
      if (held.has(petname))
        throw new CapError(
          'invalid',
          `the session has a cap called "${petname}" already: a petname is never bound anew, choose another`,
        );
      const inner = typeof offered === 'string' ? book.offers.get(offered) : undefined;
      if (inner === undefined) throw new CapError('no-such-object', 'the host offers nothing of that name');
      const id = `g${String(count()).padStart(3, '0')}-${era}`;
      const { cap, revoker, gate, until } = grantOf(inner, terms, id, { about: { session, petname, by: name } });
      const kept: Kept = { id, session, petname, granter: name, until, gate, revoker };
      held.set(petname, cap);
      book.grants.set(id, kept);
      return look(kept);
    },
    list(filter = {}) {
      const { session, live, after, limit = page } = filter;
      if (!Number.isSafeInteger(limit) || limit < 1) throw new CapError('invalid', 'limit is a whole number above 0');
      if (after !== undefined && typeof after !== 'string')
        throw new CapError('invalid', 'after is the id of the last grant of the page before');
      const found: Grant[] = [];
      for (const kept of ofMine(after)) {
        if (found.length >= Math.min(limit, page)) break;
        if (session !== undefined && kept.session !== session) continue;
        const grant = look(kept);
        if (live !== true || grant.state === 'live') found.push(grant);
      }
      return found;
    },
    revoke(what, why = '') {
      // All are switched off in this turn; what is waited for is only that their drivers stop.
      const stops = chosen(what).map((kept) => kept.revoker.revoke(`${name}: ${why}`));
      let all: Promise<void> | undefined;
      for (const stop of stops)
        if (stop !== undefined) all = all === undefined ? stop : (E.when(all, () => stop) as unknown as Promise<void>);
      return all;
    },
    ledger: () => reader,
  };
});
