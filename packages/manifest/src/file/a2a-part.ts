/** How other agents find this one, and which of them may send it tasks. */

/** The card by which other agents find this one (A2A 1.0). */
export interface A2aPart {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Of the agent. */
  readonly version?: string | undefined;
  /** Where it takes tasks. */
  readonly url?: string | undefined;
  /** Folders of skills: absolute, beneath `~/`, or relative to the folder of the manifest. */
  readonly skills?: readonly string[] | undefined;
  /** Names of skills that are not on the card. */
  readonly disabled?: readonly string[] | undefined;
  readonly provider?: { readonly organization: string; readonly url: string } | undefined;
  /** Everybody who reaches the door of the host may read the card. */
  readonly serve?: boolean | undefined;
  /** The name of the secret with the key that signs it. */
  readonly key?: string | undefined;
  /** The agents that may send tasks, by name. Without it the host takes none. */
  readonly peers?: Readonly<Record<string, A2aPeer>> | undefined;
}

/** Another agent that may send tasks. It holds nothing that is not listed here. */
export interface A2aPeer {
  /** It signs its requests with the private half of this key. `hob card --public-key` prints one. */
  readonly key: PublicKey;
  /** Caps of the session that each of its tasks holds, on the terms that they have there. */
  readonly gives?: readonly string[] | undefined;
  /** Caps of the session that a task may use after a person has said yes to the call. */
  readonly asks?: readonly string[] | undefined;
  /** An agent of this manifest, which works on tasks in words. Without it a task is a call. */
  readonly agent?: string | undefined;
  /** How long a task may take. Without it: 1h. */
  readonly lasts?: string | undefined;
}

/** A public key as a JWK (RFC 7517): Ed25519, or EC on P-256 or P-384. */
export interface PublicKey {
  readonly kty: 'OKP' | 'EC';
  readonly crv: 'Ed25519' | 'P-256' | 'P-384';
  readonly x: string;
  /** Of an EC key. */
  readonly y?: string | undefined;
  readonly alg?: string | undefined;
  readonly use?: string | undefined;
  readonly kid?: string | undefined;
}
