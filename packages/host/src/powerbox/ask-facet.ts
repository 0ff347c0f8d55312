/**
 * A cap that asks before it is there: it has the methods of an offer, and a call of it waits until a granter grants
 * the offer.
 *
 * Promise: without a live grant that a granter gave for this facet, no call reaches the offer. The call that was
 * shown is the first that runs under the grant. The grant is in no c-list, so only this facet leads to it, and it ends
 * with the facet. A session uses only what was granted for its own calls, also if several sessions hold the facet.
 */
import { isData } from '@hob/revocable';
import { CapError, type Definition, defineProcedure, E, type Table } from '@hob/vat';
import { callerUnder } from '../sharing/sturdyrefs.ts';
import { grantState } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import type { GrantRecord, HostTables, Lease, SessionRecord } from '../state/records.ts';
import type { GrantTerms } from '../state/terms.ts';
import { safeText } from '../text/safe-text.ts';
import { digestOf } from './digest.ts';
import { argumentRows, flagsIn, methodText, permits, termRows, termText } from './display.ts';
import { offerRows, offerText } from './offer-text.ts';
import { countRequest, fileRequest, waitForAnswer } from './pending.ts';

/** `leases` has the latest grant for each session that called, by its id. */
export const AskFacetActor: Definition<
  object,
  [hostState: HostState, facet: string, terms: GrantTerms, leases: Table<Lease>]
> = defineProcedure('host.askFacet', (_bcom, hostState, facet, terms, leases) => (method, args) => {
  const ask = { hostState, facet, terms, leases, method, args };
  return E.when(E(powersOf(tablesOf(hostState))).callingGrants() as unknown as Promise<readonly string[]>, (under) =>
    useOrAsk(ask, under),
  );
});

interface FacetCall {
  readonly hostState: HostState;
  /** The grant of the facet. */
  readonly facet: string;
  /** The terms that are proposed. */
  readonly terms: GrantTerms;
  readonly leases: Table<Lease>;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** In a turn: sends the call under the grant that there is, or asks for one. */
function useOrAsk(call: FacetCall, under: readonly string[]): unknown {
  const tables = tablesOf(call.hostState);
  const { asking, session } = callerOf(tables, under[0] ?? call.facet);
  const lease = call.leases.get(session.id);
  const grant = lease === undefined ? undefined : tables.grants.get(lease.grant);
  if (lease !== undefined && grant !== undefined && grantState(tables, grant) === 'live')
    return sendTo(lease.cap, call);
  if (!isData(call.args))
    throw new CapError('invalid', `"${safeText(call.method, 64).text}" waits for approval here, so its arguments must be data: an object or a promise could change after the approval`); // biome-ignore format: one line
  countRequest(tables, session.payer);
  return askAndUse(call, { under, asking: asking.id, session: session.id }, undefined);
}

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;

/** Sent, because a counted grant is reached by message only. */
function sendTo(cap: object, { method, args }: FacetCall): unknown {
  const sent = E(cap) as unknown as Methods & ((...args: readonly unknown[]) => unknown);
  if (method === '') return sent(...args);
  const send = sent[method];
  if (send === undefined) throw new CapError('no-such-method', 'that cannot be the name of a method');
  return send(...args);
}

function callerOf(tables: HostTables, id: string): { readonly asking: GrantRecord; readonly session: SessionRecord } {
  const asking = tables.grants.get(id);
  const session = asking === undefined ? undefined : sessionOf(tables, asking.session);
  if (asking === undefined || session === undefined)
    throw new CapError('revoked', 'this grant has ended: ask for a new one');
  return { asking, session };
}

interface Asker {
  readonly under: readonly string[];
  /** The grant that was called. */
  readonly asking: string;
  readonly session: string;
}

function askAndUse(call: FacetCall, asker: Asker, stale: string | undefined): Promise<unknown> {
  const tables = tablesOf(call.hostState);
  const { asking, session } = callerOf(tables, asker.asking);
  const id = fileLease(tables, call, { asking, session, under: asker.under }, stale);
  return E.when(waitForAnswer(tables, id, callerUnder(tables, session.id, asking.id), undefined), (said) => {
    if ('unseen' in said) throw new CapError(said.unseen.code, said.unseen.message);
    if (!('cap' in said)) return askAndUse(call, asker, id);
    if (said.grant !== undefined) call.leases.set(asker.session, { cap: said.cap, grant: said.grant });
    return sendTo(said.cap, call);
  }) as unknown as Promise<unknown>;
}

function fileLease(
  tables: HostTables,
  { facet, terms: given, method, args }: FacetCall,
  { asking, session, under }: { readonly asking: GrantRecord; readonly session: SessionRecord; readonly under: readonly string[] }, // biome-ignore format: one line
  stale: string | undefined,
): string {
  const held = tables.grants.get(facet);
  const { offered = '', petname = '', personOnly } = held ?? {};
  const terms: GrantTerms = personOnly === true ? { ...given, personOnly } : given;
  const facts = tables.offerInfo.get(offered);
  if (held === undefined || facts === undefined) throw new CapError('unavailable', 'the host is starting: try again');
  const named = offerText(offered, facts);
  const does = `lets session “${session.id}” use ${named}, as “${petname}”: ${termText(terms)}`;
  return fileRequest(tables, {
    kind: 'grant',
    session: held.session,
    asker: session.id,
    payer: session.payer,
    // One yes is for one call: another call of the same facet is another request.
    digest: digestOf({ cap: [under, facet, offered, facts.number], method, data: [args, terms], files: [] }),
    asks: petname,
    why: '',
    offered,
    offer: facts.number,
    terms,
    method: undefined,
    under: [],
    seen: [],
    stale,
    lease: asking.id,
    ...(terms.personOnly === true ? { personOnly: true as const } : {}),
    shown: () => ({
      effect: `${does}; first it calls ${methodText(method)}`,
      table: [
        ...offerRows(offered, facts),
        ...termRows(terms),
        ['first call', methodText(method)],
        ...argumentRows(method, args, facts.directory),
      ],
      permits: permits(named, facts, terms),
      flags: flagsIn([method, args, terms, facts.label]),
    }),
  });
}
