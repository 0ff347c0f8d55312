/** Passkeys of this browser: one is made, or signs, only after the person has said so to the authenticator. */
import type { NewPasskey, PasskeyProof } from '@hob/host';
import { startAuthentication, startRegistration } from '@simplewebauthn/browser';

/** ES256, EdDSA, RS256. */
const ALGORITHMS = [-7, -8, -257];
/** How long the browser waits for the person, in ms. */
const WAIT_MS = 120_000;

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
} // biome-ignore format: one line

const challengeBytes = (challenge: string): string => base64url(new TextEncoder().encode(challenge));

const refs = (ids: readonly string[]): { readonly id: string; readonly type: 'public-key' }[] =>
  ids.map((id) => ({ id, type: 'public-key' }));

/** Makes a passkey for this host. `known` are those that are there: the same authenticator makes no second one. */
export async function makePasskey(challenge: string, name: string, known: readonly string[]): Promise<NewPasskey> {
  const made = await startRegistration({
    optionsJSON: {
      challenge: challengeBytes(challenge),
      rp: { id: location.hostname, name: 'Hob' },
      user: { id: base64url(crypto.getRandomValues(new Uint8Array(16))), name: 'Hob', displayName: 'Hob' },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
      excludeCredentials: refs(known),
      authenticatorSelection: { userVerification: 'required', residentKey: 'preferred' },
      attestation: 'none',
      timeout: WAIT_MS,
    },
  });
  const { clientDataJSON: clientData, authenticatorData = '', publicKey = '' } = made.response;
  return { id: made.id, publicKey, clientData, authenticatorData, name };
}

/** Signs a challenge with one of these passkeys. */
export async function signWith(challenge: string, ids: readonly string[]): Promise<PasskeyProof> {
  const { id, response } = await startAuthentication({
    optionsJSON: {
      challenge: challengeBytes(challenge),
      rpId: location.hostname,
      allowCredentials: refs(ids),
      userVerification: 'required',
      timeout: WAIT_MS,
    },
  });
  const { clientDataJSON: clientData, authenticatorData, signature } = response;
  return { id, clientData, authenticatorData, signature };
}
