/** Signs with a key. It keeps none, and its errors tell nothing of one. */
import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { refusal } from '../../base/errors.ts';

/** In characters. A shorter key could be found from an HMAC, by trying all keys. */
const SHORTEST_HMAC_KEY = 32;

/** Errors: `E_SECRET`. */
export function signedBy(algorithm: 'ed25519' | 'hmac-sha256', key: string, bytes: Uint8Array): string {
  if (algorithm === 'ed25519') return sign(null, bytes, privateKey(key)).toString('base64url');
  if (key.length < SHORTEST_HMAC_KEY)
    throw refusal('E_SECRET', `a key of an HMAC has at least ${SHORTEST_HMAC_KEY} characters, or it could be guessed`);
  return createHmac('sha256', key).update(bytes).digest('base64url');
}

/** The public half, in PEM. Errors: `E_SECRET`. */
export const publicKeyOf = (key: string): string =>
  createPublicKey(privateKey(key)).export({ type: 'spki', format: 'pem' }) as string;

function privateKey(text: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(text);
  } catch {
    // Its message quotes nothing, but its cause may.
  }
  if (key?.asymmetricKeyType !== 'ed25519') throw refusal('E_SECRET', 'it is no private key of ed25519 in PEM');
  return key;
}
