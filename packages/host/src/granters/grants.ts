/**
 * Grants as a granter sees them: what was given to which session, what is left of it, and the way to end it.
 *
 * Promise: a granter grants only what the host offers, only to sessions that name it, and every grant has a deadline. Ending one
 * is a message away; when it answers, no driver works under the grant any more. Another granter's sessions are as absent as those that never were.
 */
import type { GateState, Terms } from '@hob/revocable';
import { CapError, type Definition, define, E, spawn } from '@hob/vat';
import { handOn } from '../holding/delegation.ts';
import { exchange, hasSturdyref, mint, putOut } from '../holding/sturdyrefs.ts';
import { type Answer, answer } from '../powerbox/answers.ts';
import { giveOut } from '../powerbox/give.ts';
import { inbox, type Request } from '../powerbox/inbox.ts';
import { type Judge, JudgeActor } from '../powerbox/judge.ts';
import { endSession, revokeScope } from '../sessions/removal.ts';
import { type Act, stateOf } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { type HostState, tablesOf } from '../state/host-state.ts';
import { grantsFrom, roomsFrom } from '../state/order.ts';
import type { GrantRecord, HostTables, SessionRecord } from '../state/records.ts';
import type { GrantTerms } from '../state/terms.ts';
import { type LedgerReader, LedgerReaderActor } from './ledger-reader.ts';

/** A grant, as data. `until` in ms since 1970. */
export interface Grant {
  readonly id: string;
  readonly session: string;
  readonly petname: string;
  readonly granter: string;
  /** What of the host's offers it leads to. */
  readonly offered: string;
  /** The grant that it hangs under: it was handed on from there. */
  readonly parent?: string;
  readonly state: GateState;
  readonly usesLeft?: number;
  readonly until: number;
}

/** What a granter's connection bootstraps as. */
export interface Granter {
  /** Gives `offered` to `session` under `petname`, on `terms`. Errors: `no-such-object`, `invalid`, `denied`. */
  grant(session: string, petname: string, offered: string, terms: GrantTerms): Grant;
  /** Hands a cap that `from` holds on to its child, narrowed or not: the child's grant hangs under the parent's. */
  delegate(
    from: string,
    petname: string,
    to: string,
    options?: Terms & {
      /** The child's petname; the same by default. */
      readonly as?: string;
    },
  ): Grant;
  /** In pages of at most 100, by the numbers in their ids. A page may be shorter; an empty one is the end. */
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
  /** Takes away from a grant: fewer uses, less time, fewer methods. */
  narrow(grant: string, terms: Terms): Grant;
  /** Lets it last until then, in ms since 1970, at most 90 days from now. */
  renew(grant: string, until: number): Grant;
  /** Lets a grant of a store that was put back go on. */
  confirm(grant: string): Grant;
  /**
   * A secret that opens what `session` holds under that petname, on these terms, for whoever has it. It is a grant of its own, below that one.
   * Errors: `no-such-object`, `invalid`, `limit`.
   */
  mint(session: string, petname: string, terms?: Terms): Promise<{ readonly grant: Grant; readonly sturdyref: string }>;
  /** Another secret for it; the old one dies when the new one is first used. Errors: `no-such-object`. */
  rotate(grant: string): Promise<{ readonly sturdyref: string }>;
  /** The grants that have one, in pages of at most 100. To end one is to revoke its grant. */
  sturdyrefs(filter?: { readonly session?: string; readonly after?: string }): readonly Grant[];
  /** The sessions that name this granter, in pages of at most 100. */
  sessions(after?: string): readonly { readonly id: string; readonly name: string; readonly parent?: string }[];
  /** Ends a session, and those under it. */
  end(session: string, why?: string): Promise<void> | undefined;
  /** What its sessions ask and nobody has answered: in pages, after the id of the last one of the page before. */
  inbox(after?: string): Promise<readonly Request[]>;
  /**
   * Answers the request whose digest it names, once: with a grant on these terms (`{}` lets a gated call go on), or no, once or lasting. Errors:
   * `no-such-object` (not asked any more), `denied` (something else is asked), `STALE` (what was shown has changed: it is asked anew), `expired`.
   */
  answer(request: string, act: Answer): Promise<void> | undefined;
  /** Sees, proposes and refuses; has no method that grants. */
  judge(): Judge;
  /** The host's ledger, to read and verify: the lines of this granter's sessions, and those of no session. */
  ledger(): LedgerReader;
}

export function look(book: HostTables, kept: GrantRecord): Grant {
  const { id, session, petname, granter, offered, parent, gate } = kept;
  const { usesLeft, until } = gate.look();
  return {
    id,
    session,
    petname,
    granter,
    offered,
    ...(parent === undefined ? {} : { parent }),
    state: stateOf(book, kept),
    ...(usesLeft === undefined ? {} : { usesLeft }),
    until,
  };
}

const page = 100;
/** A page of live grants looks at no more than so many, once it has found one. */
const mostLooked = 1000;

export const GranterActor: Definition<Granter, [name: string, surface: string, house: HostState]> = define(
  'host.granter',
  (_bcom, name, surface, house) => {
    const act: Act = { by: name, surface };
    const names = (room: SessionRecord | undefined): room is SessionRecord => room?.granters.includes(name) === true; // biome-ignore format: one line
    const mine = (book: HostTables, session: unknown): SessionRecord => {
      const room = typeof session === 'string' ? sessionOf(book, session) : undefined;
      if (!names(room))
        throw new CapError('no-such-object', 'you have no session of that id: list shows the grants of yours');
      return room;
    };
    const one = (book: HostTables, grant: unknown): GrantRecord => {
      const kept = typeof grant === 'string' ? book.grants.get(grant) : undefined;
      if (kept === undefined || !names(sessionOf(book, kept.session)))
        throw new CapError('no-such-object', 'you have no grant of that id: list shows them');
      return kept;
    };
    const ofMine = function* (book: HostTables, after?: string): Generator<GrantRecord> {
      for (const kept of grantsFrom(book, undefined, after)) if (names(sessionOf(book, kept.session))) yield kept;
    };
    /** Those of one session: none where it is another granter's. */
    const ofOne = (book: HostTables, session: unknown, after?: string): Iterable<GrantRecord> => {
      const room = typeof session === 'string' ? sessionOf(book, session) : undefined;
      return names(room) ? grantsFrom(book, room.id, after) : [];
    };
    return {
      grant(session, petname, offered, given) {
        const book = tablesOf(house);
        const room = mine(book, session);
        return look(book, giveOut(book, house, room, { petname, offered, given, act }).kept);
      },
      delegate(from, petname, to, options = {}) {
        const book = tablesOf(house);
        mine(book, to);
        if (typeof options !== 'object' || options === null)
          throw new CapError('invalid', 'the options of delegate are a record such as {uses: 1, as: "notes"}');
        return look(book, handOn(book, mine(book, from), petname, to, options, act));
      },
      list(filter = {}) {
        const { session, live, after, limit = page } = filter;
        if (!Number.isSafeInteger(limit) || limit < 1) throw new CapError('invalid', 'limit is a whole number above 0');
        if (after !== undefined && typeof after !== 'string')
          throw new CapError('invalid', 'after is the id of the last grant of the page before');
        const book = tablesOf(house);
        const found: Grant[] = [];
        let looked = 0;
        for (const kept of session === undefined ? ofMine(book, after) : ofOne(book, session, after)) {
          // An empty page would say that there are no more.
          if (found.length >= Math.min(limit, page) || (found.length > 0 && looked >= mostLooked)) break;
          const grant = look(book, kept);
          looked += 1;
          if (live !== true || grant.state === 'live') found.push(grant);
        }
        return found;
      },
      revoke(what, why = '') {
        // All are switched off in this turn. Their lines follow, and what is waited for is that they have, and that the drivers stop.
        const book = tablesOf(house);
        const revoking = { act, why: short(why) };
        if (what === 'all') return revokeScope(book, `granter ${name}`, revoking);
        const said = typeof what === 'object' && what !== null ? what : {};
        if ('session' in said) return revokeScope(book, `grants ${mine(book, said.session).id}`, revoking);
        const kept = one(book, (said as { readonly grant?: unknown }).grant);
        putOut(book, [kept]);
        return kept.gate.revoke(revoking.why, { ...act });
      },
      mint(session, petname, terms = {}) {
        mine(tablesOf(house), session);
        if (typeof terms !== 'object' || terms === null)
          throw new CapError('invalid', 'the terms of a sturdyref are a record such as {uses: 1, for: 60000}');
        const made = mint(house, session, petname, terms, act);
        return E.when(made, ({ kept, sturdyref }) => ({ grant: look(tablesOf(house), kept), sturdyref })) as never;
      },
      rotate: (grant) => exchange(house, one(tablesOf(house), grant), act) as never,
      sturdyrefs({ session, after } = {}) {
        const book = tablesOf(house);
        const from = typeof after === 'string' ? after : undefined;
        const grants = session === undefined ? ofMine(book, from) : grantsFrom(book, mine(book, session).id, from);
        const found: Grant[] = [];
        for (const kept of grants) {
          if (found.length >= page) break;
          if (hasSturdyref(book, kept)) found.push(look(book, kept));
        }
        return found;
      },
      narrow(grant, terms) {
        const book = tablesOf(house);
        const kept = one(book, grant);
        kept.gate.narrow(terms, { ...act });
        return look(book, kept);
      },
      renew(grant, until) {
        const book = tablesOf(house);
        const kept = one(book, grant);
        kept.gate.renew(until, { ...act });
        return look(book, kept);
      },
      confirm(grant) {
        const book = tablesOf(house);
        const kept = one(book, grant);
        kept.gate.confirm(name);
        return look(book, kept);
      },
      sessions(after = '') {
        const found: { readonly id: string; readonly name: string; readonly parent?: string }[] = [];
        const book = tablesOf(house);
        for (const room of roomsFrom(book, typeof after === 'string' ? after : '')) {
          if (found.length >= page) break;
          const { id, parent } = room;
          if (names(room) && sessionOf(book, id) !== undefined)
            found.push({ id, name: room.name, ...(parent === undefined ? {} : { parent }) });
        }
        return found;
      },
      end(session, why = '') {
        const book = tablesOf(house);
        return endSession(book, mine(book, session), act, short(why));
      },
      inbox: (after) => inbox(house, names, after),
      answer: (request, said) => answer(house, names, act, request, said),
      judge: () => spawn(JudgeActor(name, house)),
      ledger: () => spawn(LedgerReaderActor(name, house)),
    };
  },
);

const short = (why: unknown): string => String(why).slice(0, 500);
