/**
 * A checkpoint: a count of lines and the root of the tree over them, signed by the host. The text is C2SP's
 * `tlog-checkpoint` in a `signed-note`, so witnesses and tools for transparency logs can read it.
 *
 *   hob-ledger/<stream>
 *   1000
 *   <base64 of the RFC 6962 root of lines 1 to 1000>
 *
 *   — hob-ledger/<stream> <base64 of 4 bytes of key hash and 64 bytes of ed25519>
 *
 * The signature covers the three lines with their line breaks. The public key is written as a `note` verifier
 * key: `<name>+<key hash, 8 hex>+<base64 of 0x01 and the 32 bytes>`.
 */
import { digest } from '../drivers/hash.ts';
import { type Signer, verifier } from '../drivers/keys.ts';
import type { Tree } from './tree.ts';

export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  /** Base64. */
  readonly root: string;
}

/** The key that signs for a ledger. */
export interface Key {
  readonly name: string;
  readonly publicKey: Uint8Array;
}

export const nameOf = (stream: string): string => `hob-ledger/${stream}`;

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const ED25519 = 1;

export const rootText = (tree: Tree): string => base64(tree.root());

export function keyText({ name, publicKey }: Key): string {
  const typed = Buffer.concat([new Uint8Array([ED25519]), publicKey]);
  return `${name}+${Buffer.from(keyHash({ name, publicKey })).toString('hex')}+${base64(typed)}`;
}

export function parseKey(text: unknown): Key | undefined {
  const parts = typeof text === 'string' ? /^([^\s+]{1,200})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(text) : null;
  const [, name = '', , encoded = ''] = parts ?? [];
  const typed = Buffer.from(encoded, 'base64');
  if (typed.length !== 33 || typed[0] !== ED25519) return undefined;
  const key = { name, publicKey: new Uint8Array(typed.subarray(1)) };
  return keyText(key) === text ? key : undefined;
}

export function signNote(signer: Signer, name: string, tree: Tree): string {
  const text = `${name}\n${tree.size}\n${rootText(tree)}\n`;
  const { publicKey } = signer;
  const signature = Buffer.concat([keyHash({ name, publicKey }), signer.sign(utf8(text))]);
  return `${text}\n— ${name} ${base64(signature)}\n`;
}

/**
 * Returns a function that reads notes signed with `key`, and returns undefined for others. Signatures of
 * witnesses may stand beside.
 */
export function noteReader(key: Key): (note: unknown) => Checkpoint | undefined {
  const good = verifier(key.publicKey);
  const hash = Buffer.from(keyHash(key));
  return (note) => {
    if (typeof note !== 'string' || note.length > MAX_NOTE) return undefined;
    const parts = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n\n((?:— \S+ \S+\n)+)$/.exec(note);
    if (parts === null) return undefined;
    const [, origin = '', size = '', root = '', signatures = ''] = parts;
    const signed = utf8(note.slice(0, note.length - signatures.length - 1));
    const vouched = signatures.split('\n').some((line) => {
      const [, name, encoded = ''] = line.split(' ');
      const bytes = Buffer.from(encoded, 'base64');
      // Only one spelling is accepted: the last character of base64 has bits that decoding ignores.
      const spelt = base64(bytes) === encoded;
      return spelt && name === key.name && bytes.subarray(0, 4).equals(hash) && good(signed, bytes.subarray(4));
    });
    if (!vouched || origin !== key.name) return undefined;
    return { origin, size: Number(size), root };
  };
}

/** Returns all checkpoints in a text, in order. Text between them that a kill cut short is skipped. */
export function checkpointsIn(text: string): readonly string[] {
  return text.match(/^[^\s]+\n(?:0|[1-9]\d{0,15})\n[A-Za-z0-9+/]{43}=\n\n(?:— \S+ \S+\n)+/gm) ?? [];
}

const MAX_NOTE = 4096;

/** Tells keys of one name apart. It is a hint and no proof. */
function keyHash({ name, publicKey }: Key): Uint8Array {
  const all = Buffer.concat([utf8(`${name}\n`), new Uint8Array([ED25519]), publicKey]);
  return new Uint8Array(Buffer.from(digest(all).slice(0, 4), 'latin1'));
}
