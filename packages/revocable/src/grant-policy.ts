/**
 * The decisions of a grant about each call: whether it is live, whether its terms allow the call, and what
 * the call is charged.
 */
import { CapError, cancelWake, ledgerLine, type Table, vatTime, wakeAt } from '@hob/vat';
import { type FullPolicy, opaque, shown } from './forwarder/policy.ts';
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
}

// One error of each for all: making an error writes a stack, which costs more than revoking a grant.
const endedBy = (code: 'revoked' | 'expired' | 'exhausted', how: string): CapError =>
  Object.freeze(new CapError(code, `this grant ${how}: ask for a new one`));
export const revoked: CapError = endedBy('revoked', 'was revoked');
export const expired: CapError = endedBy('expired', 'has run out of time');
export const exhausted: CapError = endedBy('exhausted', 'has been used up');

export function checkLive({ limits, mode }: GrantState): void {
  if (mode !== 'live') throw mode === 'revoked' ? revoked : expired;
  if (groupEnded(limits)) throw revoked;
  checkEra(limits.era);
}

export function statusOf({ limits, mode, left }: GrantState): GrantStatus {
  if (mode !== 'live') return mode;
  if (groupEnded(limits)) return 'revoked';
  if (isOver(limits, 0)) return 'expired';
  if (left === 0) return 'exhausted';
  return needsConfirmation(limits.era) ? 'suspended' : 'live';
}

/** Returns the uses that are left after one more. */
function chargeUse(left: number): number {
  if (left <= 0) throw exhausted;
  return left - 1;
}

const policy: FullPolicy<readonly [GrantState]> = {
  timeless: true,
  near: ([{ limits }]) => limits.uses === undefined && limits.where === undefined,
  latch: ([state]) => (state.mode === 'live' && isOver(state.limits, 0) ? [{ ...state, mode: 'expired' }] : undefined),
  onLatched: ([state], self) => {
    ledgerLine('expire', { grant: state.grant });
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
  admitResult: ([{ limits, mode }]) => {
    if (mode === 'revoked' || groupEnded(limits)) throw revoked;
    if (isOver(limits, limits.grace)) throw expired;
  },
  ledgerFields: ([
    {
      grant,
      limits: { uses, act },
      left,
    },
  ]) => ({
    grant,
    use: uses === undefined || left === undefined ? undefined : uses - left + 1,
    act,
  }),
  cause: ([{ grant }]) => grant,
  groups: ([{ limits }]) => limits.within?.groups ?? [],
  wrapped: ([{ wrapped }]) => wrapped,
  reveal: ([state]) => {
    const { grant, limits, wrapped } = state;
    checkLive(state);
    const filters =
      limits.uses !== undefined || limits.methods !== undefined || limits.where !== undefined || wrapped !== undefined;
    if (filters) throw opaque();
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
  after: ([{ grant }], method, { ok }) => {
    if (ok) ledgerLine('result', { grant, method: shown(method), code: 'ok' });
  },
};

/** Without a line for each result, a near call of a near object returns at once. */
export const policyOf = ({ limits }: GrantState): FullPolicy<readonly [GrantState]> =>
  limits.audited ? audited : policy;
