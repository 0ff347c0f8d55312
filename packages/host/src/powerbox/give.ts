/**
 * Giving out what the host offers.
 *
 * Promise: nothing that is offered reaches a session but through a forwarder with a deadline, and, where its terms say so, through a gate that
 * asks a granter about each call. One ledger line tells who let whom have what, and for which request.
 */
import { gated, grantOf } from '@hob/revocable';
import { CapError, spawn } from '@hob/vat';
import { type Act, grantId, hold } from '../state/c-list.ts';
import { groupsFor } from '../state/groups.ts';
import { chainText, type HostState } from '../state/host-state.ts';
import { checkName } from '../state/names.ts';
import type { GrantRecord, HostTables, SessionRecord } from '../state/records.ts';
import { type GrantTerms, scoped } from '../state/terms.ts';
import { GateAskActor } from './gate.ts';

export interface Giving {
  readonly petname: string;
  readonly offered: unknown;
  readonly given: GrantTerms;
  readonly act: Act;
  /** The request that is answered so, and its digest. */
  readonly request?: { readonly id: string; readonly digest: string };
}

/** In a turn. Errors: `no-such-object`, `invalid`. */
export function giveOut(
  book: HostTables,
  house: HostState,
  room: SessionRecord,
  { petname, offered, given, act, request }: Giving,
): { readonly cap: object; readonly kept: GrantRecord } {
  checkName(petname, 'a petname');
  const inner = typeof offered === 'string' ? book.offers.get(offered) : undefined;
  if (inner === undefined || typeof offered !== 'string')
    throw new CapError('no-such-object', 'the host offers nothing of that name');
  const { terms, otherwise, gated: waits } = scoped(given);
  const id = grantId(book);
  const chain = room.parent === undefined ? {} : { chain: chainText(book, room) };
  const behind =
    waits === undefined
      ? inner
      : (gated(inner, spawn(GateAskActor(house, id)), waits === true ? {} : { methods: waits }) as unknown as object);
  const about: Record<string, string> = { session: room.id, petname, by: act.by, offered, ...chain };
  if (act.surface !== undefined) about['surface'] = act.surface;
  if (request !== undefined) about['request'] = request.id;
  const human = request === undefined ? {} : { act: request.digest };
  const { cap, gate } = grantOf(behind, terms, id, {
    about,
    ...(otherwise === undefined ? {} : { otherwise }),
    ...human,
    within: groupsFor(book, room),
  });
  const kept: GrantRecord = {
    id,
    session: room.id,
    petname,
    granter: act.by,
    offered,
    parent: undefined,
    ...human,
    gate,
  };
  hold(book, room, petname, cap, kept);
  return { cap, kept };
}
