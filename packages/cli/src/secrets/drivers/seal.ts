/**
 * Encrypts the values of secrets.
 *
 * Promise: AES-256-GCM with a nonce of its own for each sealing. The name and the key belong to what is authenticated,
 * so a sealed text opens under its own name only. Its length tells the length of a value in steps of 256 bytes.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { Mistake } from '../../line/mistake.ts';

/** A key of 32 bytes, and a name that is made of it and does not tell it. */
export interface SecretsKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

const KEY = /^hob-secrets-key-1:([A-Za-z0-9_-]{43})$/;
const STEP = 256;

export const newSecretsKey = (): SecretsKey => keyOf(randomBytes(32));

/** The line of a key file. */
export const keyText = ({ bytes }: SecretsKey): string =>
  `hob-secrets-key-1:${Buffer.from(bytes).toString('base64url')}\n`;

/** Undefined if it is no such line. */
export function keyIn(text: string): SecretsKey | undefined {
  const encoded = KEY.exec(text.trim())?.[1];
  return encoded === undefined ? undefined : keyOf(Buffer.from(encoded, 'base64url'));
}

const keyOf = (bytes: Uint8Array): SecretsKey => ({
  id: createHash('sha256').update('hob secrets key id\0').update(bytes).digest('base64url').slice(0, 12),
  bytes,
});

const boundTo = (name: string, { id }: SecretsKey): Buffer => Buffer.from(`hob secret 1\0${id}\0${name}`);

export function seal(key: SecretsKey, name: string, value: string): string {
  const text = Buffer.from(value);
  const padded = Buffer.alloc(Math.ceil((4 + text.length) / STEP) * STEP);
  padded.writeUInt32BE(text.length);
  text.copy(padded, 4);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(boundTo(name, key));
  const box = Buffer.concat([cipher.update(padded), cipher.final(), cipher.getAuthTag()]);
  return `1.${key.id}.${nonce.toString('base64url')}.${box.toString('base64url')}`;
}

/** Errors: `Mistake`: another key, another name, or a text that was changed. */
export function unseal(key: SecretsKey, name: string, sealed: string): string {
  const [version, id, nonce = '', box = ''] = sealed.split('.');
  const bytes = Buffer.from(box, 'base64url');
  try {
    if (version !== '1' || id !== key.id || bytes.length < 16) throw new Error('another key');
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, Buffer.from(nonce, 'base64url'), { authTagLength: 16 });
    decipher.setAAD(boundTo(name, key)).setAuthTag(bytes.subarray(-16));
    const padded = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]);
    return padded.toString('utf8', 4, 4 + padded.readUInt32BE());
  } catch {
    throw new Mistake(`the secret ${name} cannot be opened: it is under another key, or was changed. Set it again: hob secret set ${name}`); // biome-ignore format: one line
  }
}
