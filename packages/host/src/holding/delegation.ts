/**
 * Handing on: a session gives a cap that it holds to a session under it.
 *
 * Promise: what the child gets is a forwarder around its parent's forwarder, so it is revoked, has run out and is used up together with it, and
 * can do no more. A use is spent of every grant above at once, or of none. Nothing else of the parent's reaches the child.
 */
import { grantOf, longestTerm, type Terms } from '@hob/revocable';
import { CapError, wallTime } from '@hob/vat';
import { type Act, grantId, hold, stateOf } from '../state/c-list.ts';
import { groupsFor, sessionOf } from '../state/groups.ts';
import { chainText } from '../state/host-state.ts';
import { lookOf } from '../state/names.ts';
import type { CListEntry, GrantRecord, HostTables, SessionRecord } from '../state/records.ts';

/** In a turn. Errors: `no-such-object`, `invalid`, and what the parent's grant has ended with. */
export function handOn(
  book: HostTables,
  from: SessionRecord,
  petname: string,
  to: string,
  options: Terms & { readonly as?: string },
  act: Act,
): GrantRecord {
  const { as = petname, ...terms } = options;
  const child = sessionOf(book, to);
  if (child?.parent !== from.id)
    throw new CapError('no-such-object', 'that session has no such child: a cap is handed on to a child of its holder');
  const { kept, cap } = grantBelow(book, from, petname, { session: child, as }, terms, act);
  hold(book, child, as, cap, kept);
  return kept;
}

/** In a turn: a grant around the cap that `from` holds under that petname, for `session`. It is in nobody's c-list yet. Errors: as above. */
export function grantBelow(
  book: HostTables,
  from: SessionRecord,
  petname: string,
  { session, as }: { readonly session: SessionRecord; readonly as: string },
  terms: Terms,
  act: Act,
): { readonly kept: GrantRecord; readonly cap: object; readonly holding: CListEntry } {
  const holding = typeof petname === 'string' ? from.held.get(lookOf(petname)) : undefined;
  const above = holding?.petname === petname ? book.grants.get(holding.grant) : undefined;
  if (holding === undefined || above === undefined)
    throw new CapError('no-such-object', 'that session holds no cap of that name');
  const state = stateOf(book, above);
  if (state === 'suspended') throw new CapError('unavailable', 'the grant waits for its granter: confirm it first');
  if (state !== 'live')
    throw new CapError(state, `the grant of "${petname}" has ended (${state}): there is nothing to hand on`);
  const { until, lasting } = above.gate.look();
  // Without a time of its own it lasts as long as what it hangs under, over boots if that does.
  const timed = terms.for !== undefined || terms.until !== undefined;
  const left = Math.min(longestTerm, Math.max(1, until - wallTime()));
  const id = grantId(book);
  const human = above.act === undefined ? {} : { act: above.act };
  const { cap, gate } = grantOf(holding.cap, !timed && lasting ? { ...terms, until } : terms, id, {
    about: {
      session: session.id,
      petname: String(as),
      ...act,
      offered: above.offered,
      parent: above.id,
      chain: chainText(book, session),
    },
    otherwise: left,
    ...human,
    within: groupsFor(book, session),
  });
  const kept: GrantRecord = {
    id,
    session: session.id,
    petname: as,
    granter: above.granter,
    offered: above.offered,
    parent: above.id,
    ...human,
    gate,
  };
  return { kept, cap, holding };
}
