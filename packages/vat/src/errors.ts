/** The error class alone, for what loads no vat: checks of data, and texts. */
export { CapError } from './core/errors.ts';
