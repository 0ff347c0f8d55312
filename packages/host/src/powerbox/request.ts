/**
 * A session asks for another grant.
 *
 * Promise: it gets a forwarder that a granter gave for this very request, and the revoker stays with the
 * granter. It can ask for what the host offers, and no more often than a person would bear.
 */
import { isData } from '@hob/revocable';
import { CapError, E } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { petnames } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { chainOf, type HostState, tablesOf } from '../state/host-state.ts';
import { skeletonOf } from '../state/names.ts';
import { numberOf } from '../state/order.ts';
import type { HostTables, SessionRecord } from '../state/records.ts';
import { checkShownTerms, type GrantTerms } from '../state/terms.ts';
import type { WaitResult } from '../state/waiters.ts';
import { digestOf } from './digest.ts';
import { flagsIn, permits, termRows, termText } from './display.ts';
import { offerRows, offerText } from './offer-text.ts';
import { countRequest, fileRequest, type NewRequest, waitForAnswer } from './pending.ts';

interface RequestArgs {
  readonly asks: string;
  readonly terms: GrantTerms;
  readonly why: string;
}

const longestWhy = 2000;

type Granted = Extract<WaitResult, { readonly cap: object }>;

function parseRequest(given: unknown): RequestArgs {
  const shape = 'request takes {asks: "notes", terms: {uses: 1}, why: "to correct a typo"}';
  if (typeof given !== 'object' || given === null) throw new CapError('invalid', shape);
  const {
    asks,
    terms = {},
    why = '',
  } = takeOptions<Partial<Record<keyof RequestArgs, unknown>>>(given, 'request', {
    asks: true,
    terms: true,
    why: true,
  });
  if (typeof asks !== 'string' || typeof why !== 'string') throw new CapError('invalid', shape);
  if (!isData(terms)) throw new CapError('invalid', 'the terms of a request are data: an object could change after it was shown'); // biome-ignore format: one line
  checkShownTerms(terms as GrantTerms);
  return { asks, terms: terms as GrantTerms, why: why.slice(0, longestWhy) };
}

/** Text that says what the session could ask for instead. */
export function suggestAlternatives(tables: HostTables, session: SessionRecord, not?: string): string {
  const names = [...tables.offerInfo.entries('', 30)].map(([name]) => name);
  const rest = [...new Set([...petnames(session), ...names])].filter((name) => name !== not).slice(0, 12);
  const less =
    not === undefined ? '' : `fewer methods, uses or less time of "${not}"${rest.length === 0 ? '' : ', or '}`;
  return rest.length === 0 && less === '' ? 'the host offers nothing' : `you could ask for ${less}${rest.join(', ')}`;
}

/**
 * The offer behind a petname that is held, also of a grant that has ended, by the session or by one above it; or
 * the offer of that name. A child that gets no ended cap of its parent asks for it by the name that people use.
 */
function resolveOffer(
  tables: HostTables,
  session: SessionRecord,
  asks: string,
): { readonly offered: string; readonly holder?: string } {
  for (const { id, held } of asks.length < 64 ? [...chainOf(tables, session)].reverse() : []) {
    const holding = held.get(skeletonOf(asks));
    const offered = holding?.petname === asks ? tables.grants.get(holding.grant)?.offered : undefined;
    if (offered !== undefined && isOffered(tables, offered)) return { offered, holder: id };
  }
  if (isOffered(tables, asks)) return { offered: asks };
  throw new CapError('no-such-object', `there is no offer of that name: ${suggestAlternatives(tables, session)}`);
}

/**
 * Whether the session, or one above it, holds a grant of the offer that waits for a person alone. Asking for another
 * grant does not lift that.
 */
const isForPersonAlone = (tables: HostTables, session: SessionRecord, offered: string): boolean =>
  chainOf(tables, session).some(({ held }) =>
    [...held.entries()].some(([, { grant: id }]) => {
      const grant = tables.grants.get(id);
      return grant?.offered === offered && grant.personOnly === true;
    }),
  );

const isOffered = (tables: HostTables, offer: string): boolean =>
  tables.offers.has(offer) && tables.offerInfo.has(offer);

function openSessionNamed(tables: HostTables, id: string): SessionRecord {
  const session = sessionOf(tables, id);
  if (session === undefined) throw new CapError('revoked', 'this session has ended: ask for a new one');
  return session;
}

/** In a turn of the session. */
export function requestGrant(hostState: HostState, session: string, given: unknown): Promise<object> {
  return fileAndWait(hostState, session, parseRequest(given)).granted;
}

/** A request that waits: its id as its granters read it, such as R7, and the petname that it was granted under. */
export interface Asked {
  readonly request: string;
  readonly outcome: Promise<{ readonly petname: string }>;
}

/** In a turn of the session: as `requestGrant`, and tells the id at once. */
export function askForGrant(hostState: HostState, session: string, given: unknown): Asked {
  const { id, granted } = fileAndWait(hostState, session, parseRequest(given), (tables, { grant }) => ({
    petname: tables.grants.get(grant ?? '')?.petname ?? '',
  }));
  return { request: `R${numberOf(id)}`, outcome: granted as Asked['outcome'] };
}

/**
 * Files the request and waits. If something changes in between, it is filed again with what a person sees
 * then.
 */
function fileAndWait(
  hostState: HostState,
  sessionId: string,
  of: RequestArgs,
  resultOf: (tables: HostTables, said: Granted) => object = (_tables, { cap }) => cap,
  stale?: string,
): { readonly id: string; readonly granted: Promise<object> } {
  const tables = tablesOf(hostState);
  const session = openSessionNamed(tables, sessionId);
  if (session.granters.length === 0)
    throw new CapError('denied', 'this session names no granter, so nobody could say yes: use what it holds');
  const { asks, why } = of;
  const { offered, holder } = resolveOffer(tables, session, asks);
  const terms: GrantTerms = isForPersonAlone(tables, session, offered) ? { ...of.terms, personOnly: true } : of.terms;
  const facts = tables.offerInfo.get(offered);
  if (facts === undefined) throw new CapError('unavailable', 'the host is starting: try again');
  const named = offerText(offered, facts);
  const who = holder === sessionId ? 'it' : `session “${holder}”`;
  const what = asks === offered ? named : `${named}, of which ${who} holds “${asks}”`;
  const asking: NewRequest = {
    kind: 'grant',
    session: sessionId,
    asker: sessionId,
    payer: session.payer,
    digest: digestOf({ cap: [sessionId, offered, facts.number], method: 'grant', data: [asks, terms], files: [] }),
    asks,
    why,
    offered,
    offer: facts.number,
    terms,
    method: undefined,
    under: [],
    seen: [],
    stale,
    ...(terms.personOnly === true ? { personOnly: true as const } : {}),
    shown: () => ({
      effect: `lets session “${sessionId}” use ${what}: ${termText(terms)}`,
      table: [...offerRows(offered, facts), ...termRows(terms)],
      permits: permits(named, facts, terms),
      flags: flagsIn([terms, why, facts.label]),
    }),
  };
  const id = fileRequest(tables, asking, stale === undefined ? () => countRequest(tables, session.payer) : undefined);
  const granted = E.when(waitForAnswer(tables, id, sessionId, undefined), (said) =>
    'cap' in said ? resultOf(tablesOf(hostState), said) : fileAndWait(hostState, sessionId, of, resultOf, id).granted,
  ) as unknown as Promise<object>;
  return { id, granted };
}
