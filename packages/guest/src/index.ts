/** The public names of `@hob/guest`. */
export { type LoadOptions, loadActors } from './actors.ts';
export { EvaluationError, type GuestCode } from './errors.ts';
export { openGuests } from './guests.ts';
export { defaultLimits } from './limits.ts';
export { renderTypes } from './render-types.ts';
export type { EvaluateOptions, Evaluation, GuestJob, GuestLimits, Guests, GuestsOptions } from './types.ts';
