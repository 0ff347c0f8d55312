/** Hashes and signatures of passkeys, by the cryptography of this process, and challenges that are taken once. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { CapError, type Clock } from '@hob/vat';
import {
  madeFor,
  type NewPasskey,
  type PasskeyProof,
  type PasskeyRecord,
  type ProofPowers,
  provedBy,
} from '../proof.ts';

/** A change of the passkeys of a granter. */
export type PasskeyChange = 'new' | 'add' | 'remove';

const LASTS_MS = 300_000;
/** A granter has so many challenges open. */
const MOST_OPEN = 8;
const SMALLEST_RSA = 2048;

/** ES256 on P-256, EdDSA on Ed25519, RS256. */
function keyOf(der: Uint8Array): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
    const { asymmetricKeyType: kind, asymmetricKeyDetails: of } = key;
    const isTaken =
      kind === 'ed25519' ||
      (kind === 'ec' && of?.namedCurve === 'prime256v1') ||
      (kind === 'rsa' && (of?.modulusLength ?? 0) >= SMALLEST_RSA);
    return isTaken ? key : undefined;
  } catch {
    return undefined;
  }
}

const powers: ProofPowers = {
  hash: (data) => createHash('sha256').update(data).digest(),
  verify(publicKey, data, signature) {
    const key = keyOf(publicKey);
    if (key === undefined) return false;
    try {
      return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', data, key, signature);
    } catch {
      return false;
    }
  },
};

/** The challenges of granters, and the checks of what was signed for them. */
export class PasskeyChecks {
  readonly #random: (bytes: number) => Uint8Array;
  readonly #clock: Pick<Clock, 'boottime'>;
  readonly #origins: () => readonly string[];
  /** `GRANTER CHALLENGE`, each with the time until which it is good. The oldest first. */
  readonly #open = new Map<string, number>();

  constructor(clock: Pick<Clock, 'boottime'>, random: (bytes: number) => Uint8Array, origins: () => readonly string[]) {
    this.#random = random;
    this.#clock = clock;
    this.#origins = origins;
  }

  /** A challenge for one change, good once and for five minutes. */
  challenge(granter: string, change: PasskeyChange): string {
    const own = [...this.#open.keys()].filter((key) => key.startsWith(`${granter} `));
    for (const key of own.slice(0, Math.max(0, own.length - MOST_OPEN + 1))) this.#open.delete(key);
    const challenge = `${change} ${Buffer.from(this.#random(32)).toString('base64url')}`;
    this.#open.set(`${granter} ${challenge}`, this.#clock.boottime() + LASTS_MS);
    return challenge;
  }

  /** Returns the number of the first signature. Errors: `invalid`. */
  made(granter: string, made: NewPasskey): number {
    const challenge = this.#take(granter, 'new', made.clientData);
    const counter =
      challenge === undefined ? undefined : madeFor(made, { challenge, origins: this.#origins() }, powers);
    if (counter === undefined || keyOf(Buffer.from(made.publicKey, 'base64url')) === undefined)
      throw new CapError('invalid', 'this passkey was not made on a page of this host just now, or its kind is not taken: make it again on the page that hob console opens'); // biome-ignore format: one line
    return counter;
  }

  /** Returns the number of the signature. `about` is a change, or the challenge of a yes. Errors: `denied`. */
  proved(granter: string, proof: PasskeyProof, keys: readonly PasskeyRecord[], about: { readonly change: PasskeyChange } | { readonly challenge: string }): number {
    const challenge = 'challenge' in about ? about.challenge : this.#take(granter, about.change, proof.clientData);
    const counter = challenge === undefined ? undefined : provedBy(proof, keys, { challenge, origins: this.#origins() }, powers);
    if (counter !== undefined) return counter;
    throw new CapError('denied', 'the passkey has not signed this: use a passkey of yours on the page that hob console opens');
  } // biome-ignore format: pairs

  /** The open challenge that these client data name. From then on it is good for nothing. */
  #take(granter: string, change: PasskeyChange, clientData: string): string | undefined {
    let challenge: unknown;
    try {
      const said = JSON.parse(Buffer.from(clientData, 'base64url').toString('utf8')) as {
        readonly challenge?: unknown;
      };
      challenge = Buffer.from(String(said.challenge), 'base64url').toString('utf8');
    } catch {
      return undefined;
    }
    const key = `${granter} ${String(challenge)}`;
    const until = this.#open.get(key);
    this.#open.delete(key);
    return until !== undefined && this.#clock.boottime() < until && String(challenge).startsWith(`${change} `) ? String(challenge) : undefined; // biome-ignore format: one line
  }
}
