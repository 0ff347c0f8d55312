/**
 * Grants an offer of the host to a session.
 *
 * Promise: an offer reaches a session only through a forwarder with a deadline. If the terms say so, a gate
 * also asks a granter about each call. One ledger line says who granted what to whom, and for which
 * request.
 */
import { gated, grantOf } from '@hob/revocable';
import { CapError, spawn, type Table, table } from '@hob/vat';
import { refuseByHand } from '../passkeys/needed.ts';
import { isAccepted } from '../state/acceptances.ts';
import { addToCList, type Initiator, nextGrantId } from '../state/c-list.ts';
import { groupsFor } from '../state/groups.ts';
import { chainText, type HostState } from '../state/host-state.ts';
import { checkName } from '../state/names.ts';
import { addGrant } from '../state/order.ts';
import type { AcceptedText, GrantRecord, HostTables, SessionRecord } from '../state/records.ts';
import { type GrantTerms, parseTerms } from '../state/terms.ts';
import { AskFacetActor } from './ask-facet.ts';
import { GateAskActor } from './gate.ts';
import { ownFiles } from './own/own-files.ts';
import { ownObjects } from './own/own-objects.ts';

interface OfferGrant {
  readonly petname: string;
  readonly offered: unknown;
  readonly terms: GrantTerms;
  readonly initiator: Initiator;
  /** The request that this grant approves, with its digest. */
  readonly request?: { readonly id: string; readonly digest: string };
  /** The grant of the facet that asked. The new grant is in no c-list, and ends with that one. */
  readonly lease?: string;
  /** The accepted text that this grant is made for. */
  readonly accepted?: AcceptedText;
}

/**
 * In a turn. Errors: `no-such-object`, `invalid`, `denied` (the text that it is for is not accepted, or it needs a passkey).
 */
export function grantOffer(
  tables: HostTables,
  hostState: HostState,
  session: SessionRecord,
  { petname, offered, terms: given, initiator, request, lease, accepted }: OfferGrant,
): { readonly cap: object; readonly grant: GrantRecord } {
  checkName(petname, 'a petname');
  const inner = typeof offered === 'string' ? tables.offers.get(offered) : undefined;
  if (inner === undefined || typeof offered !== 'string')
    throw new CapError('no-such-object', 'the host offers nothing of that name: choose another, or offer it first');
  if (request === undefined) refuseByHand(tables, offered, initiator);
  // In this turn, so no acceptance ends between this look and the grant.
  if (accepted !== undefined && !isAccepted(tables, initiator.by, accepted))
    throw new CapError('denied', 'nobody accepts that text any more: it has changed, or its acceptance was ended');
  const { terms, defaultMs: otherwise, gated: waits, drafts, level, personOnly, own, asks } = parseTerms(given);
  const id = nextGrantId(tables);
  const chain = session.parent === undefined ? {} : { chain: chainText(tables, session) };
  const mine = own === true ? ownThings(tables, offered) : undefined;
  const behind = behindGrant(hostState, inner, { id, waits, drafts, asks, mine });
  const about: Record<string, string> = { session: session.id, petname, by: initiator.by, offered, ...chain };
  if (initiator.surface !== undefined) about['surface'] = initiator.surface;
  if (request !== undefined) about['request'] = request.id;
  if (accepted !== undefined) about['accepted'] = accepted.hash;
  const human = request === undefined ? {} : { act: request.digest };
  const { cap, actor: gate } = grantOf(behind, terms, id, {
    about,
    ...(otherwise === undefined ? {} : { otherwise }),
    ...human,
    within: groupsFor(tables, session),
  });
  const grant: GrantRecord = {
    id,
    session: session.id,
    petname,
    granter: initiator.by,
    offered,
    parent: lease,
    ...human,
    ...(accepted === undefined ? {} : { accepted: { name: accepted.name, hash: accepted.hash } }),
    ...(waits === undefined ? {} : { waits }),
    ...(drafts === undefined ? {} : { drafts }),
    ...(asks === undefined ? {} : { asks: true as const }),
    ...(level === undefined ? {} : { level }),
    ...(personOnly === undefined ? {} : { personOnly }),
    ...(mine === undefined ? {} : { own: mine.things }),
    gate,
  };
  if (lease === undefined) addToCList(tables, session, petname, cap, grant);
  else addGrant(tables, grant);
  return { cap, grant };
}

interface Behind {
  readonly id: string;
  readonly waits: true | readonly string[] | undefined;
  readonly drafts: readonly string[] | undefined;
  readonly asks: GrantTerms | undefined;
  readonly mine: OwnThings | undefined;
}

/** The things that the session of a grant made itself. */
interface OwnThings {
  readonly offered: string;
  readonly directory: boolean;
  readonly things: Table<string>;
}

/** In a turn. A cap that tells no identity of its things has none that are own: each call waits as the terms say. */
function ownThings(tables: HostTables, offered: string): OwnThings | undefined {
  const { directory = false, effects = {} } = tables.offerInfo.get(offered) ?? {};
  if (!directory && !Object.values(effects).some(({ makes }) => makes !== undefined)) return undefined;
  return { offered, directory, things: table<string>() };
}

/** The object that the forwarder of a grant leads to: the offer, its gate, or the facet that asks for it. */
function behindGrant(hostState: HostState, inner: object, { id, waits, drafts, asks, mine }: Behind): object {
  if (asks !== undefined) return spawn(AskFacetActor(hostState, id, asks, table()));
  if (waits === undefined && drafts === undefined) return inner;
  const judge = spawn(GateAskActor(hostState, id, drafts));
  const methods = waits === true ? undefined : [...(waits ?? []), ...(drafts ?? [])];
  if (mine?.directory === true) return ownFiles(hostState, inner, { grant: id, files: mine.things, judge, methods });
  if (mine !== undefined) return ownObjects(hostState, inner, { grant: id, ...mine, judge, methods });
  return gated(inner, judge, methods === undefined ? {} : { methods }) as unknown as object;
}
