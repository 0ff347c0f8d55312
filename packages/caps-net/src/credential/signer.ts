/**
 * The signer cap: a key is used by its name in a store, and never read.
 *
 * Promise: the holder gets signatures, and the public key. The key is read for each signature, so a rotation needs no new
 * grant.
 */
import { takeBytes, takeRecord, takeText } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { Secret } from '../secret/secret.ts';
import { publicKeyOf, signedBy } from './drivers/sign.ts';
import type { SignerCap, SignerOptions } from './signer-cap.ts';

const LONGEST = 1024 * 1024;

/** Errors: `invalid`. */
export function makeSignerCap(options: SignerOptions): SignerCap {
  const {
    key,
    algorithm,
    context = '',
  } = takeRecord(options, 'makeSignerCap', ['key', 'algorithm', 'context'], 'option');
  if (!(key instanceof Secret)) throw refusal('invalid', 'key is made by makeSecret');
  if (algorithm !== 'ed25519' && algorithm !== 'hmac-sha256')
    throw refusal('invalid', 'algorithm is ed25519 or hmac-sha256');
  const before = new TextEncoder().encode(takeText(context, 'context', 256));
  return Object.freeze({
    sign: async (data) => {
      const bytes = Buffer.concat([before, takeBytes(data, 'data', LONGEST)]);
      return Object.freeze({ algorithm, signature: signedBy(algorithm, key.use(), bytes) });
    },
    describe: async () =>
      Object.freeze({ algorithm, publicKey: algorithm === 'ed25519' ? publicKeyOf(key.use()) : undefined }),
  } satisfies SignerCap);
}
