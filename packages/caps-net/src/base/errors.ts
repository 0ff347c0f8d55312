/**
 * The closed set of codes, and one table of their messages.
 *
 * Promise: an error that leaves this package is a `CapError` built here. It has no address of a resolved name, no
 * secret, no errno and no cause: an error of Node names the address it tried, so none is ever wrapped.
 */
import { CapError } from '@hob/vat';

/** The codes of this package, beside those of every cap: `invalid`, `limit`, `revoked`, `unknown-outcome` and so on. */
export type NetCode = Exclude<keyof typeof messages, 'invalid' | 'limit' | 'unavailable' | 'unknown-outcome'>;

const messages = {
  E_ADDRESS: 'the address is not granted: the granter can list it in `addresses`',
  E_HOST: 'not a host as it is written in a grant',
  E_PATH: 'the path is not one that this capability reaches',
  E_METHOD: 'the method is not granted',
  E_HEADER: 'the header is not one that this capability sends',
  E_REDIRECT: 'the server redirects out of what is granted, and that is not followed',
  E_ENCODING: 'the answer is encoded in a way that cannot be read here',
  E_PROTOCOL: 'the server does not speak HTTP as it should: tell whoever granted this',
  E_TLS: 'no secure connection: the certificate of the server does not hold, tell whoever granted this',
  E_NAME: 'the program does not begin TLS with the granted name',
  E_TIMEOUT: 'it took too long: try again, or ask for less',
  E_MESSAGE: 'the message cannot be sent as it is',
  E_DRAFT: 'this draft cannot be sent, make a new one',
  E_REFUSED: 'the receiving side refuses it, and it is not tried again',
  E_SECRET: 'the secret that this capability uses cannot be used',
  E_UNREACHABLE: 'the server cannot be reached: try again later, and if it stays tell whoever granted this',
  invalid: 'malformed argument',
  limit: 'limit reached',
  unavailable: 'this capability is closed, ask for it again',
  'unknown-outcome': 'the request left and no answer came: look whether it had its effect before you send it again',
} as const;

/** `detail` is our own text, and has nothing of the network in it. */
export function refusal(code: keyof typeof messages, detail?: string): CapError {
  return new CapError(code, detail === undefined ? messages[code] : `${messages[code]}: ${detail}`);
}
