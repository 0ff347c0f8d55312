/** An authenticator in software that signs as WebAuthn says: real keys and signatures. For tests. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { NewPasskey, PasskeyProof } from '../src/webauthn/proof.ts';

export interface SignOptions {
  readonly origin: string;
  /** User present and user verified by default. */
  readonly flags?: number;
  readonly type?: string;
  /** The place that the authenticator signs for; that of the origin by default. */
  readonly rpId?: string;
  readonly client?: object;
}

export class Authenticator {
  readonly id: string;
  readonly #key: KeyObject;
  readonly publicKey: string;
  /** 0 and never more for one that does not count. */
  counter: number;

  constructor(kind: 'ES256' | 'EdDSA' | 'RS256' = 'ES256', { counts = true }: { readonly counts?: boolean } = {}) {
    const { privateKey, publicKey } =
      kind === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : kind === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('rsa', { modulusLength: 2048 }); // biome-ignore format: one line
    this.#key = privateKey;
    this.publicKey = publicKey.export({ type: 'spki', format: 'der' }).toString('base64url');
    this.id = createHash('sha256').update(this.publicKey).digest('base64url');
    this.counter = counts ? 1 : 0;
  }

  #parts(challenge: string, { origin, flags = 0x05, type, rpId = new URL(origin).hostname, client }: SignOptions, usual: string): { clientData: Buffer; authenticatorData: Buffer } {
    const said = { type: type ?? usual, challenge: Buffer.from(challenge, 'utf8').toString('base64url'), origin, crossOrigin: false, ...client };
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    const place = createHash('sha256').update(rpId).digest();
    return { clientData: Buffer.from(JSON.stringify(said)), authenticatorData: Buffer.concat([place, Buffer.from([flags]), counter]) };
  } // biome-ignore format: pairs

  /** A new passkey, as a page makes it. */
  make(challenge: string, options: SignOptions, name = 'key'): NewPasskey {
    const { clientData, authenticatorData } = this.#parts(challenge, options, 'webauthn.create');
    return { id: this.id, publicKey: this.publicKey, name, clientData: clientData.toString('base64url'), authenticatorData: authenticatorData.toString('base64url') }; // biome-ignore format: one line
  }

  /** A proof over a challenge. */
  sign(challenge: string, options: SignOptions): PasskeyProof {
    if (this.counter > 0) this.counter += 1;
    const { clientData, authenticatorData } = this.#parts(challenge, options, 'webauthn.get');
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()]);
    const signature = sign(this.#key.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, this.#key);
    return { id: this.id, clientData: clientData.toString('base64url'), authenticatorData: authenticatorData.toString('base64url'), signature: signature.toString('base64url') }; // biome-ignore format: one line
  }
}
