/** The public names of `@hob/revocable`: grants, and forwarders around any cap. */
export { bound, facet } from './aliases.ts';
export { definitions } from './definitions.ts';
export { type Forward, forward } from './forwarder/forward.ts';
export { type Guard, type GuardedCall, type Guarding, guardCalls } from './forwarder/guard.ts';
export type { CallOutcome, Policy } from './forwarder/policy.ts';
export { type Revealed, reveal } from './forwarder/reveal.ts';
export { neverCallable, type Shape, shapeOf } from './forwarder/shape.ts';
export { type GatedCall, isData, type Judge, type Onlooker, type PinnedCall } from './forwarder/waiting.ts';
export { gated } from './gated.ts';
export { GrantActor } from './grant.ts';
export type { GrantStatus } from './grant-policy.ts';
export { membrane } from './membrane.ts';
export { type Forwarded, type Grant, type GrantOptions, grantOf, type Revoker, revocable } from './revocable.ts';
export { type Approved, approveFor, approveOnce, approvePermanent, approveSession } from './scopes.ts';
export type { Bound } from './terms/bound.ts';
export { type Bounds, boundText, type GivenBounds, narrowerBound, readBounds } from './terms/bounds.ts';
export {
  checkMaking,
  checkTerms,
  defaultTerm,
  type GrantGroups,
  type GrantLimits,
  longestTerm,
  type Terms,
} from './terms/terms.ts';
