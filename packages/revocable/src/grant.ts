/**
 * One grant: an actor with its terms, uses and end, shared by every forwarder that came out of it.
 *
 * From the turn that revokes it, no call is admitted, whoever still holds a forwarder. Waiting callers are
 * told at once, drivers at work are aborted, and their late results go no further. A use is charged in the
 * turn that sends the call (`chargeUse` in `grant-policy.ts`). The charge and its ledger line are durable before the call leaves: a crash in
 * between burns the use, and the other order would give one back. The end by time is a turn of its own with a
 * ledger line, whether or not anybody calls.
 */
import { type Bcom, type Become, cancelWake, type Definition, define, ledgerLine, spawn, wakeAt } from '@hob/vat';
import { cut, storeEra } from '@hob/vat/forwarder';
import { forwarderStateOf } from './forwarder/forward-call.ts';
import type { ForwarderState } from './forwarder/forwarder.ts';
import {
  checkLive,
  exhausted,
  expired,
  type GrantState,
  type GrantStatus,
  isRevoked,
  policyOf,
  revoked,
  statusOf,
} from './grant-policy.ts';
import { makingPolicy } from './made.ts';
import { narrowed, renewed } from './terms/change.ts';
import { isOver } from './terms/deadline.ts';
import { needsConfirmation } from './terms/era.ts';
import { clocks, type GrantLimits, groupEnded, type MakingGrant, type Now, type Terms } from './terms/terms.ts';

/** Further fields of a ledger line, for example the person who acted. */
type About = Readonly<Record<string, string>>;

/** One grant, held by its granter. See Redell's caretaker (1974); Miller, Robust Composition (2006). */
export interface GrantActor extends ForwarderState, MakingGrant {
  /** Sets its alarm. Called once, when it is made. */
  begin(): void;
  /** Returns when every driver that worked under the grant is done. */
  revoke(why: string, about?: About): Promise<void>;
  /** The same without a ledger line, for a caller that ends many grants and writes one line. */
  end(): Promise<void>;
  /**
   * Takes away uses, time or methods. It never gives. Errors: `invalid`, and the error that the grant ended
   * with.
   */
  narrow(terms: Terms, about?: About): void;
  /**
   * Gives back `uses` that were charged at vat time `charged`, for calls that nobody was asked about and that
   * never will be sent. If the uses were narrowed since, nothing is given back. Nothing is given back either once its
   * calls have made objects: the refused call may have spent a use of one of these.
   */
  giveBack(charged: number, uses: number): void;
  /**
   * Moves its end to `until`, at most 90 days from now. It then outlives boots. Errors: those of `narrow`.
   */
  renew(until: number, about?: About): void;
  /** Its alarm calls this: ends the grant if its time is over. */
  expire(): void;
  /** Its alarm calls this after the grace: ends the calls that are under way. */
  finish(): void;
  /** The store was put back to an earlier state, and the granter `by` says that the grant goes on. */
  confirm(by: string): void;
  /**
   * `until` is in ms since 1970. `lasting`: it outlives a boot of the machine. `methods`: those that it allows,
   * undefined for all. `madeUntil`: when the last of the objects that its calls made ends, in ms since 1970.
   */
  look(): {
    readonly state: GrantStatus;
    readonly usesLeft: number | undefined;
    readonly until: number;
    readonly lasting: boolean;
    readonly methods: readonly string[] | undefined;
    readonly madeUntil: number | undefined;
  };
}

/** The arguments as they are stored. */
type Stored = readonly [
  grant: string,
  limits: GrantState['limits'],
  mode: GrantState['mode'],
  left: number | undefined,
  alarm: string | undefined,
  wrapped: GrantState['wrapped'],
  madeUntil?: GrantState['madeUntil'],
];

const portraitOf = ({
  grant,
  limits,
  mode,
  left,
  alarm,
  wrapped,
  madeUntil,
}: GrantState): ReturnType<typeof GrantActor> =>
  madeUntil === undefined
    ? GrantActor(grant, limits, mode, left, alarm, wrapped)
    : GrantActor(grant, limits, mode, left, alarm, wrapped, madeUntil);

/** In a turn: the state of the objects that a call made. */
function spawnMade(grant: string, limits: GrantLimits): GrantActor {
  const actor = spawn(GrantActor(grant, limits, 'live', limits.uses, undefined, undefined));
  actor.begin();
  return actor;
}

/** Throws if the grant is over or waits for confirmation: then nothing of it can be changed. */
function checkChangeable(state: GrantState): Now {
  checkLive(state);
  if (isOver(state.limits, 0)) throw expired;
  if (state.left !== undefined && state.left <= 0) throw exhausted;
  return clocks();
}

const isStored = ([grant, limits, mode, left]: readonly unknown[]): boolean =>
  typeof grant === 'string' &&
  typeof limits === 'object' &&
  Number.isFinite((limits as GrantState['limits'] | null)?.deadline) &&
  Number.isFinite((limits as GrantState['limits'] | null)?.wallDeadline) &&
  Number.isSafeInteger((limits as GrantState['limits'] | null)?.era) &&
  ['live', 'revoked', 'expired'].includes(mode as string) &&
  (left === undefined || Number.isSafeInteger(left));

const asStored = (...stored: readonly unknown[]): [...Stored] => stored as unknown as [...Stored];

export const GrantActor: Definition<GrantActor, [...Stored]> = define(
  'revocable.grant',
  (bcom, ...[grant, limits, mode, left, alarm, wrapped, madeUntil]) => {
    const state: GrantState = { grant, limits, mode, left, alarm, wrapped, madeUntil };
    const become = (change: Partial<GrantState>): Become<void> => bcom(portraitOf({ ...state, ...change }));
    const forwarding = forwarderStateOf<readonly [GrantState]>(
      bcom as unknown as Bcom<never>,
      ([next]) => portraitOf(next),
      [state],
      makingPolicy(policyOf(state), limits, spawnMade),
    );
    const alarmAt = (deadline: number): string => {
      if (alarm !== undefined) cancelWake(alarm);
      return wakeAt(deadline, bcom.self, 'expire');
    };
    /**
     * `note` writes the ledger line. A second call changes nothing: a granter may repeat one that a crash cut
     * off.
     */
    const endNow = (note: () => void): Promise<void> | Become<Promise<void>> => {
      const stopped = (): Promise<void> => cut(grant, revoked);
      if (mode === 'revoked') return stopped();
      note();
      if (alarm !== undefined) cancelWake(alarm);
      return bcom(portraitOf({ ...state, mode: 'revoked', alarm: undefined }), stopped());
    };
    return {
      ...forwarding,
      begin: () => become({ alarm: alarmAt(limits.deadline) }),
      revoke: (why, about = {}) => endNow(() => ledgerLine('revoke', { ...about, grant, why })),
      end: () => endNow(() => {}),
      expire() {
        if (mode !== 'live') return undefined;
        // A clock that was read anew may wake it too early. The alarm is set again.
        return isOver(limits, 0) ? (forwarding.latch() as undefined) : become({ alarm: alarmAt(limits.deadline) });
      },
      finish() {
        if (mode !== 'expired') return undefined;
        cut(limits.part ?? grant, expired);
        return become({ alarm: undefined });
      },
      narrow(terms, about = {}) {
        const next = narrowed({ limits, left }, terms, checkChangeable(state));
        const { wallDeadline: until, methods } = next.limits;
        ledgerLine('narrow', { ...about, grant, until, uses: next.left, methods });
        return become({ ...next, alarm: alarmAt(next.limits.deadline) });
      },
      giveBack(charged, uses) {
        if (mode !== 'live' || groupEnded(limits) || left === undefined || limits.uses === undefined) return undefined;
        if (madeUntil !== undefined) return undefined;
        if (limits.narrowed !== undefined && limits.narrowed >= charged) return undefined;
        const next = Math.min(limits.uses, left + uses);
        ledgerLine('give-back', { grant, uses: next - left });
        return become({ left: next });
      },
      renew(until, about = {}) {
        const next = renewed(limits, until, checkChangeable(state));
        ledgerLine('renew', { ...about, grant, until: next.wallDeadline });
        return become({ limits: next, alarm: alarmAt(next.deadline) });
      },
      confirm(by) {
        if (mode !== 'live' || groupEnded(limits) || !needsConfirmation(limits.era)) return undefined;
        ledgerLine('confirm', { grant, by });
        return become({ limits: { ...limits, era: storeEra() } });
      },
      forMade: () => ({ isRevoked: isRevoked(state), era: limits.era }),
      look: () => ({
        state: statusOf(state),
        usesLeft: left,
        until: limits.wallDeadline,
        lasting: limits.boot === undefined,
        methods: limits.methods,
        madeUntil,
      }),
    };
  },
  // A reader of version 0 ignores groups, and one of version 1 a revocation of the grant that made the objects.
  { shape: isStored, version: 2, upgrade: { 0: asStored, 1: asStored } },
);
