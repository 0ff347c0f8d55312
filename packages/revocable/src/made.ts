/**
 * What a call makes: the objects that come out of it have terms of their own, if the grant says so (`made`).
 *
 * "Create one event, and share it" is then one grant: one use of `create`, and for the event some uses of `share`. The
 * objects of one call share their terms. They have the id of the grant, so who looks at a call finds the grant; its
 * ledger lines name them in `made`. The object that was called never gets other terms by returning itself.
 */
import { isReference, ledgerLine } from '@hob/vat';
import { freshName, type Group } from '@hob/vat/forwarder';
import { cross, standsFor } from './forwarder/cross.ts';
import type { ForwarderState } from './forwarder/forwarder.ts';
import type { FullPolicy } from './forwarder/policy.ts';
import type { GrantState } from './grant-policy.ts';
import { clocks, type GrantLimits, limitsOf, type MakingGrant, type Terms } from './terms/terms.ts';

type GrantPolicy = FullPolicy<readonly [GrantState]>;
type SpawnMade = (grant: string, limits: GrantLimits) => ForwarderState;

/** In a turn. */
export const freshPart = (): Group => `=part ${freshName('p')}`;

/** The policy of a grant, with that of `made` if its limits have it. */
export function makingPolicy(policy: GrantPolicy, { made }: GrantLimits, spawnMade: SpawnMade): GrantPolicy {
  if (made === undefined) return policy;
  return {
    ...policy,
    after: ([state], method, outcome) => {
      policy.after?.([state], method, outcome);
      if (!outcome.ok || !holdsReference(outcome.value)) return undefined;
      const { wallDeadline } = limitsOf(made, clocks());
      return [{ ...state, madeUntil: Math.max(state.madeUntil ?? 0, wallDeadline) }];
    },
    wrap: ([{ grant, limits }], value, inner, by) => {
      if (!holdsReference(value)) return value;
      const own = madeLimits(limits, made, by.state as ForwarderState & MakingGrant);
      const { wallDeadline: until, uses, methods, part } = own;
      ledgerLine('grant', { grant, made: part?.slice('=part '.length), until, uses, methods });
      const state = spawnMade(grant, own);
      const itself = cross(inner, by) as object;
      standsFor(state, inner, itself);
      return cross(value, { ...by, state, pipelined: own.uses === undefined && own.where === undefined });
    },
  };
}

function madeLimits({ act, within, audited }: GrantLimits, made: Terms, from: MakingGrant): GrantLimits {
  const own = limitsOf(made, clocks());
  return Object.freeze({
    ...own,
    ...(act === undefined ? {} : { act }),
    ...(within === undefined ? {} : { within }),
    audited: own.audited || audited,
    part: freshPart(),
    from,
  });
}

/** Whether an object, or a promise of one, is in `value`, which is data as a message carries it. */
function holdsReference(value: unknown): boolean {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false;
  if (isReference(value) || value instanceof Promise) return true;
  if (Array.isArray(value)) return value.some(holdsReference);
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).some(holdsReference);
}
