/**
 * One grant: the switch, the clock, the counter and the filters of its terms, shared by everything that came out of it.
 *
 * Promise: from the revoking turn on nothing is admitted, whoever still holds a face; callers who wait are told at once, drivers at work are
 * aborted, and what they still answer goes no further. A use is charged in the turn that sends the call, and that and its ledger line are
 * durable before the call leaves: a crash in between burns the use, the other order would give one back. Its end by time is a turn of its own
 * with a ledger line, whether or not anybody calls.
 */
import {
  type Bcom,
  CapError,
  cancelWake,
  cut,
  type Definition,
  define,
  ledgerLine,
  storeEra,
  type Table,
  vatTime,
  wakeAt,
} from '@hob/vat';
import { tellMount, tellOutcome } from './aliases/audited.ts';
import { exhausted, spend } from './aliases/counted.ts';
import { checkMethod } from './aliases/facet.ts';
import { expired, isOver } from './aliases/timed.ts';
import { type FullPolicy, forwarderStateOf, opaque } from './forwarder/forward.ts';
import type { ForwarderState } from './forwarder/forwarder.ts';
import { checkBounds } from './terms/bounds.ts';
import { narrowed, renewed } from './terms/change.ts';
import { checkEra, waitsIn } from './terms/era.ts';
import { clocks, groupEnded, type Limits, type Now, type Terms } from './terms/terms.ts';

export type GateState = 'live' | 'revoked' | 'expired' | 'exhausted' | 'suspended';

export interface Gate extends ForwarderState {
  /** Sets its alarm: once, when it is made. */
  begin(): void;
  /** Answers when every driver that worked under the grant is done. `about`: what its line tells besides, say by whom. */
  revoke(why: string, about?: Readonly<Record<string, string>>): Promise<void>;
  /** The same without a line of its own, for whoever ends many and says so in one. */
  end(): Promise<void>;
  /** Takes away: fewer uses, less time, fewer methods. It never gives. Errors: `invalid`, and what it has ended with. */
  narrow(terms: Terms, about?: Readonly<Record<string, string>>): void;
  /**
   * Gives so many uses back that were charged at `charged` (vat time) for calls that nobody was asked about: they went nowhere and never will.
   * Uses that were narrowed since stay away.
   */
  giveBack(charged: number, uses: number): void;
  /** Lets it last until then, at most 90 days from now, over boots. What is over stays over. Errors: as above. */
  renew(until: number, about?: Readonly<Record<string, string>>): void;
  /** Notes that its time is over, if it is: sent by its alarm. */
  expire(): void;
  /** The grace is over too: ends what is under way. */
  finish(): void;
  /** The store was put back, and its granter (`by`, for the ledger) says that it goes on. */
  confirm(by: string): void;
  /** `until` in ms since 1970; `lasting`: a boot of the machine does not end it. */
  look(): {
    readonly state: GateState;
    readonly usesLeft: number | undefined;
    readonly until: number;
    readonly lasting: boolean;
  };
}

/** What is left of it: `exhausted` is a number, not a state. */
type Mode = 'live' | 'revoked' | 'expired';

type State = readonly [
  grant: string,
  limits: Limits,
  mode: Mode,
  left: number | undefined,
  /** Its alarm, while one is set. */
  wake: string | undefined,
  /** Of a membrane. */
  members: Table<object> | undefined,
];

// One for all: to make an error is to write down a stack, which costs more than revoking a grant.
const revoked: CapError = Object.freeze(new CapError('revoked', 'this grant was revoked: ask for a new one'));
const ended = (mode: Mode): CapError | undefined =>
  mode === 'live' ? undefined : mode === 'revoked' ? revoked : expired;

const live = ([, limits, mode]: State): void => {
  const why = ended(mode);
  if (why !== undefined) throw why;
  if (groupEnded(limits)) throw revoked;
  checkEra(limits.era);
};

const policy: FullPolicy<State> = {
  timeless: true,
  near: ([, limits]) => limits.uses === undefined && limits.where === undefined,
  note: (state) => {
    const [grant, limits, mode, left, wake, members] = state;
    return mode === 'live' && isOver(limits, 0) ? [grant, limits, 'expired', left, wake, members] : undefined;
  },
  noted: ([grant, limits, mode, left, wake, members], self) => {
    ledgerLine('expire', { grant });
    if (wake !== undefined) cancelWake(wake);
    return [grant, limits, mode, left, graceOf(limits, self), members];
  },
  before: (state, method, args) => {
    const [grant, limits, mode, left, wake, members] = state;
    live(state);
    const next = left === undefined ? undefined : spend(left);
    if (limits.methods !== undefined) checkMethod(limits.methods, method);
    if (limits.where !== undefined) checkBounds(limits.where, method, args);
    return next === undefined ? undefined : [grant, limits, mode, next, wake, members];
  },
  after: ([grant, limits], method, outcome) => {
    if (limits.audited) tellOutcome(grant, method, outcome);
  },
  live,
  pass: ([, limits, mode]) => {
    if (mode === 'revoked' || groupEnded(limits)) throw revoked;
    if (isOver(limits, limits.grace)) throw expired;
  },
  line: ([grant, { uses, act }, , left]) =>
    uses === undefined || left === undefined
      ? act === undefined
        ? { grant }
        : { grant, act }
      : { grant, use: uses - left + 1, ...(act === undefined ? {} : { act }) },
  cause: ([grant]) => grant,
  groups: ([, { within }]) => within?.groups ?? [],
  members: ([, , , , , members]) => members,
  reveal: (state) => {
    const [grant, { uses, methods, where, audited, mount }, , , , members] = state;
    live(state);
    const filters = uses !== undefined || methods !== undefined || where !== undefined || members !== undefined;
    if (filters) throw opaque();
    if (audited) tellMount(grant, mount);
    return grant;
  },
};
/** The same where outcomes need no line: then a near call of a near object answers at once. */
const { after: _, ...unaudited } = policy;

/** What is under way may still answer within the grace: from now, for the wall clock or a boot may have ended it before its vat time. */
const graceOf = ({ grace }: Limits, self: object): string => wakeAt(vatTime() + grace, self, 'finish');

/** What is over cannot be changed any more, and what waits for a person has to be confirmed first. */
function goesOn(state: State): Now {
  const [, limits, , left] = state;
  live(state);
  if (isOver(limits, 0)) throw expired;
  if (left !== undefined && left <= 0) throw exhausted;
  return clocks();
}

function tellChange(kind: string, about: object, { wallDeadline, methods }: Limits, uses: number | undefined): void {
  ledgerLine(kind, { ...about, until: wallDeadline, uses, methods });
}

const isState = ([grant, limits, mode, left]: readonly unknown[]): boolean =>
  typeof grant === 'string' &&
  typeof limits === 'object' &&
  Number.isFinite((limits as Limits | null)?.deadline) &&
  Number.isFinite((limits as Limits | null)?.wallDeadline) &&
  Number.isSafeInteger((limits as Limits | null)?.era) &&
  ['live', 'revoked', 'expired'].includes(mode as string) &&
  (left === undefined || Number.isSafeInteger(left));

export const Gate: Definition<Gate, [...State]> = define(
  'revocable.grant',
  (bcom, ...state) => {
    const [grant, limits, mode, left, wake, members] = state as State;
    const rules = forwarderStateOf<State>(
      bcom as unknown as Bcom<never>,
      (next) => Gate(...next),
      state as State,
      limits.audited ? policy : unaudited,
    );
    return {
      ...rules,
      begin: () => bcom(Gate(grant, limits, mode, left, wakeAt(limits.deadline, bcom.self, 'expire'), members)),
      revoke(why, about = {}) {
        const stopped = (): Promise<void> => cut(grant, revoked);
        // A second revocation changes nothing, and a granter whose first was cut off by a crash may repeat it.
        if (mode === 'revoked') return stopped();
        ledgerLine('revoke', { ...about, grant, why });
        if (wake !== undefined) cancelWake(wake);
        return bcom(Gate(grant, limits, 'revoked', left, undefined, members), stopped());
      },
      expire() {
        if (mode !== 'live') return undefined;
        // Woken too early, say by a clock that was read anew: the alarm is set again.
        if (!isOver(limits, 0))
          return bcom(Gate(grant, limits, mode, left, wakeAt(limits.deadline, bcom.self, 'expire'), members));
        return rules.note() as undefined;
      },
      finish() {
        if (mode !== 'expired') return undefined;
        cut(grant, expired);
        return bcom(Gate(grant, limits, mode, left, undefined, members));
      },
      end() {
        const stopped = (): Promise<void> => cut(grant, revoked);
        if (mode === 'revoked') return stopped();
        if (wake !== undefined) cancelWake(wake);
        return bcom(Gate(grant, limits, 'revoked', left, undefined, members), stopped());
      },
      narrow(terms, about = {}) {
        const [next, uses] = narrowed(limits, left, terms, goesOn(state as State));
        tellChange('narrow', { ...about, grant }, next, uses);
        if (wake !== undefined) cancelWake(wake);
        return bcom(Gate(grant, next, mode, uses, wakeAt(next.deadline, bcom.self, 'expire'), members));
      },
      giveBack(charged, uses) {
        if (mode !== 'live' || groupEnded(limits) || left === undefined || limits.uses === undefined) return undefined;
        if (limits.narrowed !== undefined && limits.narrowed >= charged) return undefined;
        const next = Math.min(limits.uses, left + uses);
        ledgerLine('give-back', { grant, uses: next - left });
        return bcom(Gate(grant, limits, mode, next, wake, members));
      },
      renew(until, about = {}) {
        const next = renewed(limits, until, goesOn(state as State));
        ledgerLine('renew', { ...about, grant, until: next.wallDeadline });
        if (wake !== undefined) cancelWake(wake);
        return bcom(Gate(grant, next, mode, left, wakeAt(next.deadline, bcom.self, 'expire'), members));
      },
      confirm(by) {
        if (mode !== 'live' || groupEnded(limits) || !waitsIn(limits.era)) return undefined;
        ledgerLine('confirm', { grant, by });
        return bcom(Gate(grant, { ...limits, era: storeEra() }, mode, left, wake, members));
      },
      look() {
        const more = { usesLeft: left, until: limits.wallDeadline, lasting: limits.boot === undefined };
        if (mode !== 'live') return { state: mode, ...more };
        if (groupEnded(limits)) return { state: 'revoked', ...more };
        const now = isOver(limits, 0)
          ? 'expired'
          : left === 0
            ? 'exhausted'
            : waitsIn(limits.era)
              ? 'suspended'
              : 'live';
        return { state: now, ...more };
      },
    };
  },
  // Version 0 knows no groups: it would let calls of an ended one through.
  { shape: isState, version: 1, upgrade: { 0: (...state: readonly unknown[]) => state as unknown as [...State] } },
);
