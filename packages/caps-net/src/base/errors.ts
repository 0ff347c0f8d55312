/**
 * The closed set of codes, and one table of their messages.
 *
 * Promise: an error that leaves this package is a `CapError` built here. It has no address of a resolved name, no
 * secret, no errno and no cause: an error of Node names the address it tried, so none is ever wrapped.
 */
import { CapError } from '@hob/vat';

/** The codes of this package, beside those of every cap: `invalid`, `limit`, `revoked`, `unknown-outcome` and so on. */
export type NetCode = Exclude<keyof typeof messages, 'invalid' | 'limit' | 'unknown-outcome'>;

const messages = {
  E_ADDRESS: 'the address is not granted: the granter can list it in `addresses`',
  E_HOST: 'not a host as it is written in a grant',
  E_UNREACHABLE: 'the server cannot be reached: try again later, and if it stays tell whoever granted this',
  invalid: 'malformed argument',
  limit: 'limit reached',
} as const;

/** `detail` is our own text, and has nothing of the network in it. */
export function refusal(code: keyof typeof messages, detail?: string): CapError {
  return new CapError(code, detail === undefined ? messages[code] : `${messages[code]}: ${detail}`);
}
