/**
 * Passkeys: what a browser signs, and what a signature proves (W3C Web Authentication, level 3, §7.1 and §7.2).
 *
 * Promise: a proof holds for one challenge, on a page of this host, by a key that its granter has added, after the
 * authenticator has verified the person. All bytes are base64url.
 */

/** A signature by a passkey: the parts of an `AuthenticatorAssertionResponse`. */
export interface PasskeyProof {
  /** The id of the passkey. */
  readonly id: string;
  readonly clientData: string;
  readonly authenticatorData: string;
  readonly signature: string;
}

/** A passkey that a page has made: the parts of an `AuthenticatorAttestationResponse`, without attestation. */
export interface NewPasskey {
  readonly id: string;
  /** SPKI in DER: ES256, EdDSA or RS256. */
  readonly publicKey: string;
  readonly clientData: string;
  readonly authenticatorData: string;
  /** Its name for the person, at most 60 characters. */
  readonly name: string;
}

/** A passkey of a granter, as it is stored. */
export interface PasskeyRecord {
  readonly id: string;
  readonly publicKey: string;
  readonly name: string;
  /** The number of its latest signature. 0 for authenticators that do not count. */
  readonly counter: number;
  /** In ms since 1970. */
  readonly at: number;
}

/** The functions of the process that a check needs. */
export interface ProofPowers {
  hash(data: Uint8Array): Uint8Array;
  /** False also where the key is none that is taken. */
  verify(publicKey: Uint8Array, data: Uint8Array, signature: Uint8Array): boolean;
}

/** What a proof has to be about. */
interface ProofFor {
  readonly challenge: string;
  /** The origins of the pages of this host. */
  readonly origins: readonly string[];
}

const LONGEST = 8192;
const [USER_PRESENT, USER_VERIFIED] = [0x01, 0x04];

const bytesOf = (text: unknown): Uint8Array | undefined =>
  typeof text === 'string' && text.length <= LONGEST && /^[\w-]+$/.test(text) ? Buffer.from(text, 'base64url') : undefined; // biome-ignore format: one line

/** The number of the signature, if what was signed is about that. */
function counterOf(
  type: 'webauthn.get' | 'webauthn.create',
  { clientData, authenticatorData }: { readonly clientData: Uint8Array; readonly authenticatorData: Uint8Array },
  { challenge, origins }: ProofFor,
  { hash }: ProofPowers,
): number | undefined {
  let said: Readonly<Record<string, unknown>> | null;
  try {
    said = JSON.parse(Buffer.from(clientData).toString('utf8')) as typeof said;
  } catch {
    return undefined;
  }
  if (said === null) return undefined;
  const { origin } = said;
  if (said['type'] !== type || said['challenge'] !== Buffer.from(challenge, 'utf8').toString('base64url')) return undefined;
  // A page in a frame of another one is no page of ours.
  if (typeof origin !== 'string' || !origins.includes(origin) || said['crossOrigin'] === true || said['topOrigin'] !== undefined) return undefined;
  if (authenticatorData.length < 37) return undefined;
  const place = Buffer.from(hash(Buffer.from(new URL(origin).hostname, 'utf8')));
  const flags = authenticatorData[32] ?? 0;
  if (!place.equals(authenticatorData.subarray(0, 32)) || (flags & USER_PRESENT) === 0 || (flags & USER_VERIFIED) === 0) return undefined;
  return Buffer.from(authenticatorData).readUInt32BE(33);
} // biome-ignore format: a rule a line

/** The number of the signature of a proof by one of these keys. Undefined: it proves nothing. */
export function provedBy(
  proof: PasskeyProof,
  keys: readonly PasskeyRecord[],
  about: ProofFor,
  powers: ProofPowers,
): number | undefined {
  const key = keys.find(({ id }) => id === proof.id);
  const [clientData, authenticatorData, signature] = [proof.clientData, proof.authenticatorData, proof.signature].map(bytesOf); // biome-ignore format: one line
  if (key === undefined || clientData === undefined || authenticatorData === undefined || signature === undefined)
    return undefined;
  const counter = counterOf('webauthn.get', { clientData, authenticatorData }, about, powers);
  if (counter === undefined) return undefined;
  const signed = Buffer.concat([authenticatorData, powers.hash(clientData)]);
  return powers.verify(Buffer.from(key.publicKey, 'base64url'), signed, signature) ? counter : undefined;
}

/** The number of the first signature of a new passkey. Undefined: it was not made on a page of this host, for that. */
export function madeFor(made: NewPasskey, about: ProofFor, powers: ProofPowers): number | undefined {
  const [clientData, authenticatorData] = [made.clientData, made.authenticatorData].map(bytesOf);
  if (bytesOf(made.id) === undefined || clientData === undefined || authenticatorData === undefined) return undefined;
  return counterOf('webauthn.create', { clientData, authenticatorData }, about, powers);
}

/** An authenticator that counts never signs with the same number again. One that does not count says 0. */
export const isLater = (counter: number, before: number): boolean =>
  counter > before || (counter === 0 && before === 0);

/**
 * The challenge of a yes: the digest of what was shown. With the id, so that the same call, asked again,
 * needs another.
 */
export const challengeOf = ({ id, digest }: { readonly id: string; readonly digest: string }): string =>
  `yes ${digest} ${id}`;
