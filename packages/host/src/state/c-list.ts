/**
 * The c-list of a session: the caps that it holds, by petname.
 *
 * Promise: a petname is bound once in the life of a session, also after its grant has ended. No second
 * petname that looks like it is bound.
 */
import type { GrantStatus } from '@hob/revocable';
import { CapError, wallTime } from '@hob/vat';
import { nextNumber, storeTagOf } from './host-state.ts';
import { checkName, skeletonOf } from './names.ts';
import { addGrant } from './order.ts';
import type { GrantRecord, HostTables, SessionRecord } from './records.ts';
import { checkReserved } from './reserved.ts';

/** The granter or program that changes something, for the ledger. */
export interface Initiator {
  readonly by: string;
  readonly surface?: string;
  /** The id of the passkey that signed it. */
  readonly passkey?: string;
}

export const nextGrantId = (tables: HostTables): string =>
  `g${String(nextNumber(tables, 'grants')).padStart(3, '0')}-${storeTagOf(tables)}`;

/** In a turn: binds a petname to a cap, for good. Errors: `invalid`. */
export function addToCList(
  tables: HostTables,
  session: SessionRecord,
  petname: string,
  cap: object,
  grant: GrantRecord,
): void {
  checkName(petname, 'a petname');
  checkReserved(tables, petname, 'a petname');
  const taken = session.held.get(skeletonOf(petname));
  if (taken !== undefined)
    throw new CapError(
      'invalid',
      taken.petname === petname
        ? `the session has a cap called "${petname}" already: a petname is never bound anew, choose another`
        : `the session has a cap called "${taken.petname}", which looks like "${petname}": choose another petname`,
    );
  session.held.set(skeletonOf(petname), { petname, cap, grant: grant.id });
  addGrant(tables, grant);
}

const noSuchCap = (): CapError =>
  // The same text for every name that is not held, so that it says nothing about other sessions.
  new CapError(
    'no-such-object',
    'this session holds no cap of that name: caps() lists what it holds; ask the person who opened it for more',
  );

export const petnames = ({ held }: SessionRecord): readonly string[] =>
  [...held.entries()].map(([, { petname }]) => petname).sort();

export function capNamed({ held }: SessionRecord, petname: unknown): object {
  const holding = typeof petname === 'string' && petname.length < 64 ? held.get(skeletonOf(petname)) : undefined;
  if (holding?.petname !== petname || holding === undefined) throw noSuchCap();
  return holding.cap;
}

/** The state of a grant, its uses and its times, as its actor returns them. */
type Look = ReturnType<GrantRecord['gate']['look']>;

/** The state of a grant. A grant under an ended grant has ended too. A caller that has the `look` gives it. */
export function grantState(
  tables: HostTables,
  { gate, parent }: GrantRecord,
  { state: own }: Look = gate.look(),
): GrantStatus {
  const above = parent === undefined ? undefined : tables.grants.get(parent);
  if (hasEnded(own) || above === undefined) return own;
  const theirs = grantState(tables, above);
  return theirs === 'live' ? own : theirs;
}

/**
 * The latest end of the objects that calls of this grant made (the term `made`), in ms since 1970. Undefined if none is
 * left. They outlive the uses and the time of the grant, and end with its revocation. Those of a delegated grant are
 * called through the grant above, so they also end with that one and with the objects that it made.
 */
export function madeUntilOf(
  tables: HostTables,
  { gate, parent }: GrantRecord,
  { state, madeUntil }: Look = gate.look(),
): number | undefined {
  if (state === 'revoked' || madeUntil === undefined || madeUntil <= wallTime()) return undefined;
  const above = parent === undefined ? undefined : tables.grants.get(parent);
  if (above === undefined || !hasEnded(grantState(tables, above))) return madeUntil;
  const theirs = madeUntilOf(tables, above);
  return theirs === undefined ? undefined : Math.min(madeUntil, theirs);
}

/** True for a grant that can never be used again. A suspended grant can: its granter may confirm it. */
export const hasEnded = (state: GrantStatus): state is 'revoked' | 'expired' | 'exhausted' =>
  state !== 'live' && state !== 'suspended';
