/** The public face of `@hob/revocable`: authority with a lifecycle. */
export { Gate, type GateState } from './gate.ts';
export { type Forwarded, type Grant, grantOf, type Revoker, revocable } from './revocable.ts';
export { checkTerms, type Limits, type Terms } from './terms.ts';
