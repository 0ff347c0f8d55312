/**
 * Signs a card: a JWS over its canonical JSON (RFC 7515, RFC 8785), as A2A 1.0 §8.4 says.
 *
 * A signature covers only the fields of A2A 1.0: `@a2a-js/sdk` drops all others before it signs or checks one.
 * `isSignedBy` refuses a card with fields of A2A 0.x. The libraries are loaded when they are first used.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { CapError } from '@hob/vat';
import type { JWK } from 'jose';
import type { AgentCard } from '../card.ts';
import { validateAgentCard } from '../validate.ts';

/** The algorithm of each kind of key that is taken. */
function algorithmOf(key: KeyObject): string | undefined {
  if (key.asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (key.asymmetricKeyType !== 'ec') return undefined;
  return { prime256v1: 'ES256', secp384r1: 'ES384' }[key.asymmetricKeyDetails?.namedCurve ?? ''];
}

interface SigningKey {
  readonly key: KeyObject;
  readonly alg: string;
}

/** Errors: `invalid`, without a word of the key. */
export function signingKey(pem: string): SigningKey {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(pem);
  } catch {
    // Each fault of a key has the same remedy.
  }
  const alg = key && algorithmOf(key);
  if (key === undefined || alg === undefined)
    throw new CapError('invalid', 'the key of a card is a private key in PEM: ed25519, or EC on P-256 or P-384');
  return { key, alg };
}

/** The public key of a PEM, for whoever checks the card: a JWK whose `kid` is its thumbprint (RFC 7638). */
export async function cardKey(pem: string): Promise<JWK> {
  const { key, alg } = signingKey(pem);
  const { calculateJwkThumbprint } = await import('jose');
  const jwk = createPublicKey(key).export({ format: 'jwk' }) as JWK;
  return { ...jwk, alg, use: 'sig', kid: await calculateJwkThumbprint(jwk) };
}

/** The card with a signature by this key instead of those that it had. Throws `invalid` for another kind of key. */
export async function signAgentCard(card: AgentCard, pem: string): Promise<AgentCard> {
  const { key, alg } = signingKey(pem);
  const { kid } = await cardKey(pem);
  const { generateAgentCardSignature, AgentCard: Message } = await import('@a2a-js/sdk');
  const { signatures: _before, ...unsigned } = card;
  const sign = generateAgentCardSignature(key, { alg, kid: kid as string, typ: 'JOSE' });
  const { signatures } = await sign(Message.fromJSON(unsigned));
  return { ...unsigned, signatures: signatures.map((one) => ({ protected: one.protected, signature: one.signature })) };
}

/** Whether a card is valid and one of its signatures is by this key, which `cardKey` has returned. */
export async function isSignedBy(card: unknown, key: JWK): Promise<boolean> {
  if (validateAgentCard(card).length > 0) return false;
  const { canonicalizeAgentCard, AgentCard: Message } = await import('@a2a-js/sdk');
  const { flattenedVerify } = await import('jose');
  const { signatures = [] } = card as AgentCard;
  const payload = Buffer.from(canonicalizeAgentCard(Message.fromJSON(card))).toString('base64url');
  for (const one of signatures) {
    try {
      await flattenedVerify({ ...one, payload }, key, { algorithms: [key.alg ?? ''] });
      return true;
    } catch {
      // Another one may be by this key.
    }
  }
  return false;
}
