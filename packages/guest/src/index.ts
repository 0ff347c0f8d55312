/** The public face of `@hob/guest`. */
export type { EvaluateOptions, Evaluation, GuestLimits, Guests, GuestsOptions } from './types.ts';
