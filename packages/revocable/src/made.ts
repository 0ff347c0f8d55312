/**
 * Terms for the objects that a call makes (the term `made`).
 *
 * "Create one event, and share it" is one grant: one use of `create`, and some uses of `share` for the event. All objects
 * in the result of one call share one `GrantActor`. It has the id of the grant, so that gates and firewalls find the
 * grant. A method that returns its own object gives it no new terms: one use would then be as many as `made` says.
 */
import { isReference, ledgerLine } from '@hob/vat';
import { freshName, type Group } from '@hob/vat/forwarder';
import { cross, standsFor } from './forwarder/cross.ts';
import type { ForwarderState } from './forwarder/forwarder.ts';
import type { FullPolicy } from './forwarder/policy.ts';
import { type GrantState, madeName } from './grant-policy.ts';
import { clocks, type GrantLimits, limitsOf, type MakingGrant, type Terms } from './terms/terms.ts';

type GrantPolicy = FullPolicy<readonly [GrantState]>;
type SpawnMade = (grant: string, limits: GrantLimits) => ForwarderState;

/** In a turn: a cause for the calls of one part of a grant. */
export const freshPart = (): Group => `=part ${freshName('p')}`;

/** Returns the policy of a grant. If its limits have `made`, references in results get these terms. */
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
      const { wallDeadline: until, uses, methods } = own;
      ledgerLine('made', { what: 'begin', grant, made: madeName(own), until, uses, methods });
      const state = spawnMade(grant, own);
      // Held by a variable: the table of forwarders holds it weakly.
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

/** Whether a reference, or a promise of one, is in `value`. `value` is data as a message carries it. */
function holdsReference(value: unknown): boolean {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false;
  if (isReference(value) || value instanceof Promise) return true;
  if (Array.isArray(value)) return value.some(holdsReference);
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).some(holdsReference);
}
