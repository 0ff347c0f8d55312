/**
 * The c-list of a session: what it holds, by petname.
 *
 * Promise: a petname is bound once in the life of a session, also after its grant is over; no other that looks like it is bound beside it.
 */
import type { GateState } from '@hob/revocable';
import { CapError } from '@hob/vat';
import { eraOf, next } from './host-state.ts';
import { checkName, lookOf } from './names.ts';
import { addGrant } from './order.ts';
import type { GrantRecord, HostTables, SessionRecord } from './records.ts';
import { checkReserved } from './reserved.ts';

/** Who ended or changed something, for the ledger. */
export interface Act {
  readonly by: string;
  readonly surface?: string;
}

export const grantId = (book: HostTables): string => `g${String(next(book, 'grants')).padStart(3, '0')}-${eraOf(book)}`;

/** In a turn: puts a cap into a c-list, for good. Errors: `invalid`. */
export function hold(book: HostTables, room: SessionRecord, petname: string, cap: object, kept: GrantRecord): void {
  checkName(petname, 'a petname');
  checkReserved(book, petname, 'a petname');
  const taken = room.held.get(lookOf(petname));
  if (taken !== undefined)
    throw new CapError(
      'invalid',
      taken.petname === petname
        ? `the session has a cap called "${petname}" already: a petname is never bound anew, choose another`
        : `the session has a cap called "${taken.petname}", which looks like "${petname}": choose another petname`,
    );
  room.held.set(lookOf(petname), { petname, cap, grant: kept.id });
  addGrant(book, kept);
}

const noSuchCap = (): CapError =>
  // The same words whether it never was there or never will be: a name that is not held says nothing.
  new CapError(
    'no-such-object',
    'this session holds no cap of that name: caps() lists what it holds; ask the person who opened it for more',
  );

export const petnames = ({ held }: SessionRecord): readonly string[] =>
  [...held.entries()].map(([, { petname }]) => petname).sort();

export function heldBy({ held }: SessionRecord, petname: unknown): object {
  const holding = typeof petname === 'string' && petname.length < 64 ? held.get(lookOf(petname)) : undefined;
  if (holding?.petname !== petname || holding === undefined) throw noSuchCap();
  return holding.cap;
}

/** What has become of it: the end of a grant that it hangs under is its own. */
export function stateOf(book: HostTables, { gate, parent }: GrantRecord): GateState {
  const above = parent === undefined ? undefined : book.grants.get(parent);
  const own = gate.look().state;
  if (hasEnded(own) || above === undefined) return own;
  const theirs = stateOf(book, above);
  return theirs === 'live' ? own : theirs;
}

/** What waits for its granter may still go on. */
export const hasEnded = (state: GateState): state is 'revoked' | 'expired' | 'exhausted' =>
  state !== 'live' && state !== 'suspended';
