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
  /** Charges one call, or throws why it may not pass. */
  admit(method: string, argc: number): void;
  /** Answers when every driver that worked under the grant is done. */
  revoke(why: string): Promise<void> | undefined;
  /** Notes that its time is over, if it is. */
  expire(): void;
  look(): { readonly state: GateState; readonly usesLeft: number | undefined };
}

const remedies: Readonly<Record<Exclude<GateState, 'live'>, string>> = {
  revoked: 'this grant was revoked: ask for a new one',
  expired: 'this grant has run out of time: ask for a new one',
  exhausted: 'this grant has been used up: ask for a new one',
};

const withoutRevoker = mutant('revoker');
const withoutLimit = mutant('limit');

export const Gate: Definition<Gate, [grant: string, limits: Limits, state: GateState, left: number | undefined]> =
  define('Gate', (bcom, grant, limits, state, left) => {
    const now = (): GateState => {
      if (state === 'revoked' || state === 'expired') return state;
      if (vatTime() >= limits.deadline || wallTime() >= limits.wallDeadline) return 'expired';
      return left === 0 && !withoutLimit ? 'exhausted' : 'live';
    };
    const refuse = (code: string, remedy: string, method: string): never => {
      ledgerLine('refuse', { grant, method, code });
      throw new CapError(code, remedy);
    };
    return {
      admit(method, argc) {
        const state = now();
        if (state !== 'live') return refuse(state, remedies[state], method);
        if (limits.methods !== undefined && !limits.methods.includes(method))
          return refuse('no-such-method', `this grant does not include "${method.slice(0, 64)}"`, method);
        ledgerLine('call', {
          grant,
          method,
          argc,
          ...(limits.uses === undefined || left === undefined ? {} : { use: limits.uses - left + 1 }),
        });
        return left === undefined ? undefined : bcom(Gate(grant, limits, 'live', left - 1));
      },
      revoke(why) {
        // A second revocation changes nothing, and a granter whose first was cut off by a crash may repeat it.
        if (state === 'revoked') return undefined;
        ledgerLine('revoke', { grant, why });
        if (withoutRevoker) return undefined;
        return bcom(Gate(grant, limits, 'revoked', left), cut(grant, new CapError('revoked', remedies.revoked)));
      },
      expire() {
        if (state !== 'live' || now() !== 'expired') return undefined;
        ledgerLine('expire', { grant });
        cut(grant, new CapError('expired', remedies.expired));
        return bcom(Gate(grant, limits, 'expired', left));
      },
      look: () => ({ state: now(), usesLeft: left }),
    };
  });
