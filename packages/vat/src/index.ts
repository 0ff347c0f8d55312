/** The public face of `@hob/vat`. */
export { CapError } from './errors.ts';
