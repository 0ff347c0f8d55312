/**
 * The switch and counter of one grant, shared by every forwarder that came out of it.
 *
 * Promise: from the revoking turn on nothing is admitted, whoever still holds a forwarder; a grant of N uses admits N calls,
 * however many callers race and whatever the calls answer. A use is charged in the turn that sends the call, and its ledger
 * line is durable before the call leaves: a crash in between burns the use, the other order would give one back.
 */
import { CapError, cut, type Definition, define, ledgerLine, mutant, vatTime, wallTime } from '@hob/vat';
import type { Limits } from './terms.ts';

export type GateState = 'live' | 'revoked' | 'expired' | 'exhausted';

export interface Gate {
  /** Charges one call, or throws why it may not pass. What it throws is to be committed: the end of a grant is for good. */
  admit(method: string, args: readonly unknown[]): void;
  /** Throws where what a call answered may not be passed on any more. */
  pass(): void;
  /** Answers when every driver that worked under the grant is done. */
  revoke(why: string): Promise<void>;
  /** Notes that its time is over, if it is; stops what is under way once the grace is over too. */
  expire(): void;
  look(): { readonly state: GateState; readonly usesLeft: number | undefined };
}

const remedies: Readonly<Record<Exclude<GateState, 'live'>, string>> = {
  revoked: 'this grant was revoked: ask for a new one',
  expired: 'this grant has run out of time: ask for a new one',
  exhausted: 'this grant has been used up: ask for a new one',
};

/** A method's name is the caller's to choose: no longer than a person reads goes into errors and ledger. */
const shown = (method: string): string => method.slice(0, 64);

const withoutRevoker = mutant('revoker');
const withoutLimit = mutant('limit');

export const Gate: Definition<Gate, [grant: string, limits: Limits, state: GateState, left: number | undefined]> =
  define('Gate', (bcom, grant, limits, state, left) => {
    const over = (grace: number): boolean =>
      vatTime() >= limits.deadline + grace || wallTime() >= limits.wallDeadline + grace;
    const now = (): GateState => {
      if (state === 'revoked' || state === 'expired') return state;
      if (over(0)) return 'expired';
      return left === 0 && !withoutLimit ? 'exhausted' : 'live';
    };
    const refusal = (code: string, remedy: string, method: string): CapError => {
      ledgerLine('refuse', { grant, method: shown(method), code });
      return new CapError(code, remedy);
    };
    const expired = Gate(grant, limits, 'expired', left);
    return {
      admit(method, args) {
        const found = now();
        if (found === 'expired' && state === 'live') {
          // Latched, so that a wall clock that is set forward and back again revives nothing.
          ledgerLine('expire', { grant });
          return bcom.broken(expired, refusal(found, remedies[found], method));
        }
        if (found !== 'live') throw refusal(found, remedies[found], method);
        if (limits.methods !== undefined && !limits.methods.includes(method))
          throw refusal('no-such-method', `this grant does not include "${shown(method)}"`, method);
        ledgerLine(
          'call',
          {
            grant,
            method: shown(method),
            ...(limits.uses === undefined || left === undefined ? {} : { use: limits.uses - left + 1 }),
          },
          args,
        );
        return left === undefined ? undefined : bcom(Gate(grant, limits, 'live', left - 1));
      },
      pass() {
        const end = state === 'revoked' ? 'revoked' : over(limits.grace) ? 'expired' : undefined;
        if (end !== undefined) throw new CapError(end, remedies[end]);
      },
      revoke(why) {
        const stopped = (): Promise<void> => cut(grant, new CapError('revoked', remedies.revoked));
        // A second revocation changes nothing, and a granter whose first was cut off by a crash may repeat it.
        if (state === 'revoked') return stopped();
        ledgerLine('revoke', { grant, why });
        if (withoutRevoker) return undefined as unknown as Promise<void>;
        return bcom(Gate(grant, limits, 'revoked', left), stopped());
      },
      expire() {
        if (now() !== 'expired') return undefined;
        if (over(limits.grace)) cut(grant, new CapError('expired', remedies.expired));
        if (state === 'expired') return undefined;
        ledgerLine('expire', { grant });
        return bcom(expired);
      },
      look: () => ({ state: now(), usesLeft: left }),
    };
  });
