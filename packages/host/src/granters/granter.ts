/**
 * A granter's cap. It grants, lists, narrows, renews and revokes; it answers requests and reads the ledger.
 *
 * Promise: a granter grants only what the host offers, and only to sessions that name it. Every grant has a
 * deadline. When `revoke` resolves, no driver works under the grant any more. A session of another granter
 * is as absent as one that never was.
 */
import type { Terms } from '@hob/revocable';
import { CapError, type Definition, define, E, spawn } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { refuseByHand } from '../passkeys/needed.ts';
import { type Passkeys, PasskeysActor } from '../passkeys/passkeys.ts';
import { answerRequest, type RequestAnswer } from '../powerbox/answer-request.ts';
import { grantOffer } from '../powerbox/grant-offer.ts';
import { inbox, type Request, type RequestedCall, requestedCall } from '../powerbox/inbox.ts';
import { type Judge, JudgeActor } from '../powerbox/judge.ts';
import { endSession, revokeScope } from '../sessions/removal.ts';
import { delegate } from '../sharing/delegation.ts';
import { disconnectSturdyrefs, mintSturdyref, rotateSturdyref } from '../sharing/sturdyrefs.ts';
import { acceptancesOf, checkText } from '../state/acceptances.ts';
import type { Initiator } from '../state/c-list.ts';
import type { SuggestedChange } from '../state/host-powers.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import { lookAgainAt } from '../state/lapsing.ts';
import type { AcceptanceRecord, AcceptedText, GrantRecord, HostTables, OwnName } from '../state/records.ts';
import type { GrantTerms } from '../state/terms.ts';
import { accept, endAcceptance } from './acceptances.ts';
import { type LedgerReader, LedgerReaderActor } from './ledger-reader.ts';
import { ownNames, removeOwnName, setOwnName } from './own-names.ts';
import { type Grant, grantView, isGranter, OwnRows } from './own-rows.ts';

/** A text that a granter accepted, by its name and its SHA-256. `at` is in ms since 1970. */
export type Acceptance = AcceptanceRecord;

/** The bootstrap of a granter's connection. */
export interface Granter {
  /**
   * Gives `offered` to `session` under `petname`, on `terms`. With `accepted` the grant is for a text that this granter
   * accepted: it ends with that acceptance. Errors: `no-such-object`, `invalid`, `denied`.
   */
  grant(session: string, petname: string, offered: string, terms: GrantTerms, accepted?: AcceptedText): Grant;
  /**
   * Grants a cap that `from` holds to a child session of `from`, with the same terms or narrower ones. The
   * child's grant ends with its parent's.
   */
  delegate(
    from: string,
    petname: string,
    to: string,
    options?: Terms & {
      /** The child's petname; the same by default. */
      readonly as?: string;
    },
  ): Grant;
  /**
   * Lists grants in pages of at most 100, in the order of the numbers in their ids. A page may be shorter.
   * An empty page is the end.
   */
  list(filter?: {
    readonly session?: string;
    readonly live?: boolean;
    readonly after?: string;
    readonly limit?: number;
  }): readonly Grant[];
  /** Resolves when the revocation is on the disk and every driver has stopped. */
  revoke(
    what: { readonly grant: string } | { readonly session: string } | 'all',
    why?: string,
  ): Promise<void> | undefined;
  /** Takes uses, time or methods away from a grant. */
  narrow(grant: string, terms: Terms): Grant;
  /** Extends the grant to `until`, in ms since 1970, at most 90 days from now. */
  renew(grant: string, until: number): Grant;
  /** Makes a grant live again that is suspended because the store was restored to an earlier state. */
  confirm(grant: string): Grant;
  /**
   * Makes a sturdyref: a secret that opens what `session` holds under that petname, on these terms, for its
   * bearer. It is a grant of its own under the session's grant. Errors: `no-such-object`, `invalid`,
   * `limit`.
   */
  mint(session: string, petname: string, terms?: Terms): Promise<{ readonly grant: Grant; readonly sturdyref: string }>;
  /**
   * Makes a new secret for a sturdyref. The old one ends when the new one is first used. Errors:
   * `no-such-object`.
   */
  rotate(grant: string): Promise<{ readonly sturdyref: string }>;
  /**
   * Lists the grants that have a sturdyref, in pages of at most 100. Revoke the grant to end its sturdyref.
   */
  sturdyrefs(filter?: { readonly session?: string; readonly after?: string }): readonly Grant[];
  /** The sessions that name this granter, in pages of at most 100. */
  sessions(after?: string): readonly { readonly id: string; readonly name: string; readonly parent?: string }[];
  /** Ends a session and its child sessions. */
  end(session: string, why?: string): Promise<void> | undefined;
  /**
   * Lists the requests of its sessions that nobody has answered, in pages that start after the id `after`.
   */
  inbox(after?: string): Promise<readonly Request[]>;
  /** Returns a call that waits as data, for a program that answers. Errors: `no-such-object`. */
  requestedCall(request: string): RequestedCall;
  /**
   * A change of its settings that the program of this host proposes to this granter, as a diff to copy. Undefined if it
   * proposes none. No method makes the change.
   */
  suggestions(): Promise<SuggestedChange | undefined>;
  /** The passkeys of this granter. */
  passkeys(): Passkeys;
  /** A code with which this granter enters once from a page, within two minutes: `consoleLink` makes a link of it. */
  pageCode(): Promise<{ readonly code: string }>;
  /**
   * Resolves with a number when the requests of its sessions have changed since the number `since`. Without `since`, or
   * with the number of an earlier start of the host, it resolves at once. Errors: `invalid`, `limit`.
   */
  changed(since?: number): Promise<number>;
  /**
   * Decides a request once: grants it on these terms (`{}` for a gated call), or refuses it, once or for
   * good. Errors: `no-such-object` (the request is gone), `denied` (the digest differs), `STALE` (it has
   * changed and is asked anew), `expired`.
   */
  answer(request: string, answer: RequestAnswer): Promise<void> | undefined;
  /** Returns a judge: it sees requests, proposes answers and refuses. It has no method that grants. */
  judge(): Judge;
  /**
   * Accepts a text by the SHA-256 of its bytes, under a name. Grants can be made for it (`grant`). Accepting another
   * text under the name ends this. Errors: `invalid`, `limit`.
   */
  accept(text: AcceptedText): Acceptance;
  /** The texts that this granter accepts now. */
  acceptances(): readonly Acceptance[];
  /** Ends an acceptance, and every grant that was made for its text. Errors: `no-such-object`. */
  endAcceptance(name: string, why?: string): Promise<void> | undefined;
  /**
   * Gives a grant, a session or a request that waits a name of this granter's own, which nobody else sees. Its earlier
   * name ends. A name has 1 to 63 of a–z, 0–9 and -. Errors: `no-such-object`, `limit`, `invalid` (it is no name, or looks
   * like another of these names or like an id).
   */
  setName(id: string, name: string): OwnName;
  /** Takes the name of that thing away, also when the thing has ended. Errors: `no-such-object`. */
  removeName(id: string): void;
  /** This granter's own names, in pages of at most 100, after the id `after`. */
  names(after?: string): readonly OwnName[];
  /**
   * Returns a reader of the ledger. It shows the lines of this granter's sessions and those of no session.
   */
  ledger(): LedgerReader;
}

export const GranterActor: Definition<Granter, [name: string, surface: string, hostState: HostState]> = define(
  'host.granter',
  (_bcom, name, surface, hostState) => {
    const initiator: Initiator = { by: name, surface };
    const mine = (tables: HostTables): OwnRows => new OwnRows(tables, name);
    const change = (id: string, how: (grant: GrantRecord, tables: HostTables) => void): Grant => {
      const tables = tablesOf(hostState);
      const grant = mine(tables).grant(id);
      how(grant, tables);
      return grantView(tables, grant);
    };
    return {
      grant(sessionId, petname, offered, terms, accepted) {
        const tables = tablesOf(hostState);
        const session = mine(tables).session(sessionId);
        const text = accepted === undefined ? {} : { accepted: checkText(accepted) };
        const given = { petname, offered, terms, initiator, ...text };
        return grantView(tables, grantOffer(tables, hostState, session, given).grant);
      },
      delegate(from, petname, to, options = {}) {
        const tables = tablesOf(hostState);
        mine(tables).session(to);
        checkRecord(options, 'the options of delegate are a record such as {uses: 1, as: "notes"}');
        return grantView(tables, delegate(tables, mine(tables).session(from), petname, to, options, initiator));
      },
      list: (filter = {}) => mine(tablesOf(hostState)).list(filter),
      revoke(what, why = '') {
        // All grants end in this turn. The promise waits for their ledger lines and for their drivers.
        const tables = tablesOf(hostState);
        const revoking = { act: initiator, why: short(why) };
        if (what === 'all') return revokeScope(tables, `granter ${name}`, revoking);
        const ids = typeof what === 'object' && what !== null && !Array.isArray(what) ? what : undefined;
        const said = takeOptions<NonNullable<typeof ids>>(ids, 'revoke', { grant: true, session: true });
        if ('grant' in said && 'session' in said)
          throw new CapError('invalid', 'revoke takes {grant} or {session}, not both');
        if ('session' in said) return revokeScope(tables, `grants ${mine(tables).session(said.session).id}`, revoking);
        const grant = mine(tables).grant(said.grant);
        disconnectSturdyrefs(tables, [grant]);
        return grant.gate.revoke(revoking.why, { ...initiator });
      },
      mint(sessionId, petname, terms = {}) {
        mine(tablesOf(hostState)).session(sessionId);
        checkRecord(terms, 'the terms of a sturdyref are a record such as {uses: 1, for: 60000}');
        const made = mintSturdyref(hostState, sessionId, petname, terms, initiator);
        return E.when(made, ({ grant, sturdyref }) => ({
          grant: grantView(tablesOf(hostState), grant),
          sturdyref,
        })) as never;
      },
      rotate: (id) => rotateSturdyref(hostState, mine(tablesOf(hostState)).grant(id), initiator) as never,
      sturdyrefs: (filter = {}) => mine(tablesOf(hostState)).sturdyrefs(filter),
      narrow: (id, terms) => change(id, ({ gate }) => gate.narrow(terms, { ...initiator })),
      renew: (id, until) =>
        change(id, (grant, tables) => {
          refuseByHand(tables, grant.offered, initiator);
          grant.gate.renew(until, { ...initiator });
          lookAgainAt(tables, grant);
        }),
      confirm: (id) => change(id, ({ gate }) => gate.confirm(name)),
      sessions: (after) => mine(tablesOf(hostState)).sessions(after),
      end: (id, why = '') =>
        endSession(tablesOf(hostState), mine(tablesOf(hostState)).session(id), initiator, short(why)),
      requestedCall: (request) => requestedCall(hostState, isGranter(name), request),
      pageCode: () => pageCode(hostState, name),
      passkeys: () => spawn(PasskeysActor(name, initiator, hostState)),
      suggestions: () => suggestions(hostState, name),
      inbox: (after) => inbox(hostState, isGranter(name), 'granter', after),
      changed: (since = 0) => nextChange(hostState, name, since),
      answer: (request, said) => answerRequest(hostState, isGranter(name), initiator, request, said),
      judge: () => spawn(JudgeActor(name, hostState)),
      accept: (text) => accept(tablesOf(hostState), text, initiator),
      acceptances: () => acceptancesOf(tablesOf(hostState), name),
      endAcceptance: (text, why = '') => endAcceptance(tablesOf(hostState), text, { act: initiator, why: short(why) }),
      setName: (id, own) => setOwnName(tablesOf(hostState), id, own, initiator),
      removeName: (id) => removeOwnName(tablesOf(hostState), id, initiator),
      names: (after) => ownNames(tablesOf(hostState), name, after),
      ledger: () => spawn(LedgerReaderActor(name, hostState)),
    };
  },
);

const pageCode = (hostState: HostState, name: string): ReturnType<Granter['pageCode']> =>
  E.when(E(powersOf(tablesOf(hostState))).pageCode(name) as unknown as Promise<string>, (code) => ({ code })) as never;

const suggestions = (hostState: HostState, name: string): ReturnType<Granter['suggestions']> =>
  E(powersOf(tablesOf(hostState))).suggested(name) as unknown as ReturnType<Granter['suggestions']>;

function checkRecord(given: unknown, shape: string): void {
  if (typeof given !== 'object' || given === null) throw new CapError('invalid', shape);
}

/** In a turn. Errors: `invalid`, `limit`. */
function nextChange(hostState: HostState, granter: string, since: number): Promise<number> {
  if (!Number.isSafeInteger(since)) throw new CapError('invalid', 'since is a number that changed returned');
  return E(powersOf(tablesOf(hostState))).nextChange(granter, since) as unknown as Promise<number>;
}

const short = (why: unknown): string => String(why).slice(0, 500);
