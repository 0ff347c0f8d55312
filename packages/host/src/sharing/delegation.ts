/**
 * Delegation: a session gives a cap that it holds to a child session.
 *
 * Promise: the child gets a forwarder around its parent's forwarder. It is revoked, expires and is used up
 * together with the parent's, and can do no more. A call spends a use of every grant above, or of none.
 * Nothing else of the parent reaches the child.
 */
import { grantOf, longestTerm, type Terms } from '@hob/revocable';
import { CapError, wallTime } from '@hob/vat';
import { addToCList, grantState, type Initiator, nextGrantId } from '../state/c-list.ts';
import { groupsFor, sessionOf } from '../state/groups.ts';
import { chainText } from '../state/host-state.ts';
import { skeletonOf } from '../state/names.ts';
import type { CListEntry, GrantRecord, HostTables, SessionRecord } from '../state/records.ts';

/** In a turn. Errors: `no-such-object`, `invalid`, and the code that the parent's grant has ended with. */
export function delegate(
  tables: HostTables,
  from: SessionRecord,
  petname: string,
  to: string,
  options: Terms & { readonly as?: string },
  initiator: Initiator,
): GrantRecord {
  const { as = petname, ...terms } = options;
  const child = sessionOf(tables, to);
  if (child?.parent !== from.id)
    throw new CapError(
      'no-such-object',
      'that session has no such child: a cap can be delegated only to a child of its holder',
    );
  const { grant, cap } = makeChildGrant(tables, from, petname, { session: child, as }, terms, initiator);
  addToCList(tables, child, as, cap, grant);
  return grant;
}

/**
 * In a turn: makes a grant for `session` around the cap that `from` holds. It is in no c-list yet. Errors:
 * as for `delegate`.
 */
export function makeChildGrant(
  tables: HostTables,
  from: SessionRecord,
  petname: string,
  { session, as }: { readonly session: SessionRecord; readonly as: string },
  terms: Terms,
  initiator: Initiator,
): { readonly grant: GrantRecord; readonly cap: object; readonly holding: CListEntry } {
  const holding = typeof petname === 'string' ? from.held.get(skeletonOf(petname)) : undefined;
  const above = holding?.petname === petname ? tables.grants.get(holding.grant) : undefined;
  if (holding === undefined || above === undefined)
    throw new CapError('no-such-object', 'that session holds no cap of that name');
  const state = grantState(tables, above);
  if (state === 'suspended')
    throw new CapError('unavailable', 'the grant is suspended: its granter has to confirm it first');
  if (state !== 'live')
    throw new CapError(state, `the grant of "${petname}" has ended (${state}): there is nothing to delegate`);
  const { until, lasting } = above.gate.look();
  // Without a time of its own it lasts as long as the grant above, over boots if that one does.
  const timed = terms.for !== undefined || terms.until !== undefined;
  const left = Math.min(longestTerm, Math.max(1, until - wallTime()));
  const id = nextGrantId(tables);
  const human = above.act === undefined ? {} : { act: above.act };
  const { cap, actor: gate } = grantOf(holding.cap, !timed && lasting ? { ...terms, until } : terms, id, {
    about: {
      session: session.id,
      petname: String(as),
      ...initiator,
      offered: above.offered,
      parent: above.id,
      chain: chainText(tables, session),
    },
    otherwise: left,
    ...human,
    within: groupsFor(tables, session),
  });
  const grant: GrantRecord = {
    id,
    session: session.id,
    petname: as,
    granter: above.granter,
    offered: above.offered,
    parent: above.id,
    delegated: true,
    ...human,
    gate,
  };
  return { grant, cap, holding };
}
