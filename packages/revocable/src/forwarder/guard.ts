/**
 * The guard of the vats: it is told of each call of each grant, after the grant has allowed it and before the
 * call is sent on.
 *
 * Promise: a guard only makes stricter. It refuses a call, or makes it wait for a judge. No return value of it
 * lets a call through that the grant has refused, because it is not asked about such a call. It is no part of a
 * stored grant, so it also guards grants that were made before there was one.
 */
import type { Vats } from '@hob/vat';
import { vatsOf } from '@hob/vat/forwarder';
import type { CallOutcome } from './policy.ts';
import type { Judge, Onlooker } from './waiting.ts';

/** A call that its grant allows. `inner` is the object behind the grant, or an object that came out of it. */
export interface GuardedCall {
  readonly grant: string;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly inner: object;
  /** It is the first grant on the way of the call: the one that its caller holds. */
  readonly outermost: boolean;
}

/** What a guard makes of a call. */
export interface Guarding {
  /** Further fields of the ledger line of the call. Plain data without secrets. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The call waits until this judge, an object of the same vats, says yes. */
  readonly judge?: Judge;
  /** The caller gets the answer when this onlooker, an object of the same vats, has seen it. */
  readonly onlooker?: Onlooker;
  /** Runs when the call has ended, in a later turn. A call of an earlier process never ends. */
  readonly ended?: (outcome: CallOutcome) => void;
}

/** Decides about the calls of grants, in the turn of the call. Throws to refuse the call, which then costs nothing. */
export type Guard = (call: GuardedCall) => Guarding | undefined;

const guards = new WeakMap<Vats, Guard>();

/** Puts `guard` before all calls of grants in `vats`, for as long as they are open. Vats have one guard at the most. */
export function guardCalls(vats: Vats, guard: Guard): void {
  guards.set(vats, guard);
}

/** The guard of the vats that `reference` lives in. */
export const guardOf = (reference: object): Guard | undefined => guards.get(vatsOf(reference));
