/** The interface of a signer cap, and its options. */
import type { Secret } from '../secret/secret.ts';

/** Signs with a key that nobody reads. */
export interface SignerCap {
  /**
   * Signs text (as UTF-8) or bytes, at most 1 MiB. Errors: `E_SECRET`: the key is not stored, or is no key of this kind.
   */
  sign(data: string | Uint8Array): Promise<Signature>;
  /** The kind of signature, and the public key in PEM; an HMAC has none. */
  describe(): Promise<SignerDescription>;
}

/** A signature, as data. */
export interface Signature {
  readonly algorithm: 'ed25519' | 'hmac-sha256';
  /** base64url, without padding. */
  readonly signature: string;
}

/** A signer, without its private key. `publicKey` is undefined for an HMAC. */
export interface SignerDescription {
  readonly algorithm: Signature['algorithm'];
  readonly publicKey: string | undefined;
}

/** The options of `makeSignerCap`. */
export interface SignerOptions {
  /** A private key in PEM (PKCS 8) for ed25519; a text of at least 32 characters for an HMAC. */
  readonly key: Secret;
  readonly algorithm: Signature['algorithm'];
  /**
   * Bytes that go before what is signed, as UTF-8. With a context that no other protocol uses, the holder cannot get a
   * signature that means something elsewhere.
   */
  readonly context?: string;
}
