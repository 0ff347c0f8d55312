/** The public face of `@hob/guest`. */
export { type LoadOptions, loadActors } from './actors.ts';
export { renderTypes } from './render-types.ts';
export type { EvaluateOptions, Evaluation, GuestLimits, Guests, GuestsOptions } from './types.ts';
