/** The public face of `@hob/revocable`: authority with a lifecycle. */
export { audited } from './aliases/audited.ts';
export { bound } from './aliases/bound.ts';
export { counted } from './aliases/counted.ts';
export { facet } from './aliases/facet.ts';
export { type GatedCall, gated, isData, type Judge } from './aliases/gated.ts';
export { timed } from './aliases/timed.ts';
export { definitions } from './definitions.ts';
export { type Forward, forward, type Outcome, type Policy } from './forwarder/forward.ts';
export { type Revealed, reveal } from './forwarder/reveal.ts';
export { type Shape, shapeOf } from './forwarder/shape.ts';
export { Gate, type GateState } from './grant.ts';
export { membrane } from './membrane.ts';
export { type Forwarded, type Grant, type GrantOptions, grantOf, type Revoker, revocable } from './revocable.ts';
export { type Approved, approveFor, approveOnce, approvePermanent, approveSession } from './scopes.ts';
export { type Bound, type Bounds, boundText, narrowerBound } from './terms/bounds.ts';
export { checkTerms, defaultTerm, type Limits, longestTerm, type Terms, type Within } from './terms/terms.ts';
