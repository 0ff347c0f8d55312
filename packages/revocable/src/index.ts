/** The public face of `@hob/revocable`: authority with a lifecycle. */
export { audited } from './audited.ts';
export { bound } from './bound.ts';
export { type Bound, type Bounds, boundText, narrowerBound } from './bounds.ts';
export { counted } from './counted.ts';
export { definitions } from './definitions.ts';
export { facet } from './facet.ts';
export { type Forward, forward, type Outcome, type Policy } from './forward.ts';
export { type GatedCall, gated, isData, type Judge } from './gated.ts';
export { Gate, type GateState } from './grant.ts';
export { membrane } from './membrane.ts';
export { type Revealed, reveal } from './reveal.ts';
export { type Forwarded, type Grant, type GrantOptions, grantOf, type Revoker, revocable } from './revocable.ts';
export { type Approved, approveFor, approveOnce, approvePermanent, approveSession } from './scopes.ts';
export { type Shape, shapeOf } from './shape.ts';
export { checkTerms, defaultTerm, type Limits, longestTerm, type Terms } from './terms.ts';
export { timed } from './timed.ts';
