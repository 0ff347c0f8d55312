/** The public face of `@hob/caps-net`. */
export type { NetCode } from './base/errors.ts';
