/** The error class alone, for code that checks data and must not load a vat. */
export { CapError } from './core/errors.ts';
