/**
 * The decisions of a grant about each call: whether it is live, whether its terms allow the call, and what
 * the call is charged.
 */
import { CapError, cancelWake, ledgerLine, type Table, vatTime, wakeAt } from '@hob/vat';
import { type FullPolicy, noGroups, opaque, shown } from './forwarder/policy.ts';
import { checkBounds } from './terms/bounds.ts';
import { isOver } from './terms/deadline.ts';
import { checkEra, needsConfirmation } from './terms/era.ts';
import { checkMethod } from './terms/methods.ts';
import { type GrantLimits, groupEnded } from './terms/terms.ts';

/**
 * Whether a grant admits calls, and why not. `suspended`: the store was put back to an earlier state, and
 * nobody has confirmed the grant yet.
 */
export type GrantStatus = 'live' | 'revoked' | 'expired' | 'exhausted' | 'suspended';

/** A grant as it is stored. */
export interface GrantState {
  readonly grant: string;
  readonly limits: GrantLimits;
  /** How it ended. `exhausted` is not among them: it follows from `left`. */
  readonly mode: 'live' | 'revoked' | 'expired';
  /** The uses that are left, if they are limited. */
  readonly left: number | undefined;
  /** Its alarm, while one is set. */
  readonly alarm: string | undefined;
  /** The table of a membrane. */
  readonly wrapped: Table<object> | undefined;
  /** The latest end of the objects that its calls made, in ms since 1970. */
  readonly madeUntil?: number | undefined;
}

// One error of each for all: making an error writes a stack, which costs more than revoking a grant.
const endedBy = (code: 'revoked' | 'expired' | 'exhausted', how: string): CapError =>
  Object.freeze(new CapError(code, `this grant ${how}: ask for a new one`));
export const revoked: CapError = endedBy('revoked', 'was revoked');
export const expired: CapError = endedBy('expired', 'has run out of time');
export const exhausted: CapError = endedBy('exhausted', 'has been used up');

/** Whether a granter ended it. The objects that a call made end with the grant of that call. */
export const isRevoked = ({ limits, mode }: GrantState): boolean =>
  mode === 'revoked' || groupEnded(limits) || limits.from?.forMade().isRevoked === true;

/** The era in which it was made or confirmed. A granter confirms a grant together with the objects that it made. */
const eraOf = ({ era, from }: GrantLimits): number => from?.forMade().era ?? era;

export function checkLive(state: GrantState): void {
  if (state.mode === 'expired') throw expired;
  if (isRevoked(state)) throw revoked;
  checkEra(eraOf(state.limits));
}

export function statusOf(state: GrantState): GrantStatus {
  const { limits, mode, left } = state;
  if (mode !== 'live') return mode;
  if (isRevoked(state)) return 'revoked';
  if (isOver(limits, 0)) return 'expired';
  if (left === 0) return 'exhausted';
  return needsConfirmation(eraOf(limits)) ? 'suspended' : 'live';
}

/** Returns the uses that are left after one more. */
function chargeUse(left: number): number {
  if (left <= 0) throw exhausted;
  return left - 1;
}

/** The name that the ledger has for the objects of one call. Undefined for the grant itself. */
export const madeName = ({ from, part }: GrantLimits): string | undefined =>
  from === undefined ? undefined : part?.slice('=part '.length);

const policy: FullPolicy<readonly [GrantState]> = {
  timeless: true,
  near: ([{ limits }]) => limits.uses === undefined && limits.where === undefined,
  latch: ([state]) => (state.mode === 'live' && isOver(state.limits, 0) ? [{ ...state, mode: 'expired' }] : undefined),
  onLatched: ([state], self) => {
    const made = madeName(state.limits);
    if (made === undefined) ledgerLine('expire', { grant: state.grant });
    else ledgerLine('made', { what: 'expire', grant: state.grant, made });
    if (state.alarm !== undefined) cancelWake(state.alarm);
    // The grace starts now: the wall clock or a boot may have ended the grant before its vat time.
    return [{ ...state, alarm: wakeAt(vatTime() + state.limits.grace, self, 'finish') }];
  },
  before: ([state], method, args) => {
    const { limits, left } = state;
    checkLive(state);
    const next = left === undefined ? undefined : chargeUse(left);
    if (limits.methods !== undefined) checkMethod(limits.methods, method);
    if (limits.where !== undefined) checkBounds(limits.where, method, args);
    return next === undefined ? undefined : [{ ...state, left: next }];
  },
  admitCallback: ([state]) => checkLive(state),
  admitResult: ([state]) => {
    if (isRevoked(state)) throw revoked;
    if (isOver(state.limits, state.limits.grace)) throw expired;
  },
  ledgerFields: ([{ grant, limits, left }]) => ({
    grant,
    use: limits.uses === undefined || left === undefined ? undefined : limits.uses - left + 1,
    act: limits.act,
    made: madeName(limits),
    audited: limits.audited ? true : undefined,
  }),
  cause: ([{ grant }]) => grant,
  groups: ([{ limits }]) => {
    const groups = limits.within?.groups ?? noGroups;
    return limits.part === undefined ? groups : [...groups, limits.part];
  },
  wrapped: ([{ wrapped }]) => wrapped,
  reveal: ([state]) => {
    const { grant, limits, wrapped } = state;
    checkLive(state);
    const filters =
      limits.uses !== undefined || limits.methods !== undefined || limits.where !== undefined || wrapped !== undefined;
    if (filters || limits.made !== undefined) throw opaque();
    if (limits.audited) {
      if (!limits.mount) throw opaque();
      ledgerLine('call', { grant, what: 'mount' });
    }
    return grant;
  },
};

/** An audited grant writes a line for each result. A failure writes one in any case. */
const audited: FullPolicy<readonly [GrantState]> = {
  ...policy,
  after: ([{ grant, limits }], method, { ok }) => {
    if (ok) ledgerLine('result', { grant, method: shown(method), made: madeName(limits), audited: true, code: 'ok' });
  },
};

/** Without a line for each result, a near call of a near object returns at once. */
export const policyOf = ({ limits }: GrantState): FullPolicy<readonly [GrantState]> =>
  limits.audited ? audited : policy;
