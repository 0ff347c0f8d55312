/**
 * The host's ed25519 key. Only this file makes, keeps or uses it.
 *
 * Promise: the private key never leaves this file. Others get functions that sign and verify. On disk it is
 * `ledger.key` in the store's folder (PKCS #8 as PEM, mode 0600), complete and durable before it signs
 * anything. A damaged or foreign key file is refused and never replaced: with a new key, the old signatures
 * would no longer verify.
 */
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { CapError } from '../core/errors.ts';

/** Signs and seals with the key of one store. */
export interface Signer {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 64 bytes. */
  sign(message: Uint8Array): Uint8Array;
  /**
   * A MAC as base64url: only the holder of the key can make or check it. Used for each commit, which nobody
   * else has to check.
   */
  seal(message: string): string;
}

/** A key that exists only as long as the process. */
export function memorySigner(): Signer {
  return signerOf(generateKeyPairSync('ed25519').privateKey);
}

/** A new key as text (PKCS #8 as PEM), for a store that keeps it in a database. */
export const newKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;

/** The key that `newKey` made. Errors: `invalid`. */
export function signerFrom(text: string): Signer {
  const signer = signerOfText(text);
  if (signer === undefined)
    throw new CapError('invalid', 'the key of this store is damaged or was not written by Hob: restore a backup');
  return signer;
}

/**
 * The key of the store in `folder`, made on first use. The caller must hold the store's lock, so that no two
 * make it.
 */
export function folderSigner(folder: string): Signer {
  const file = join(folder, 'ledger.key');
  try {
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found === undefined) return create(folder, file);
    if (!found.isFile()) throw damaged();
    if ((found.mode & 0o077) !== 0) chmodSync(file, 0o600);
    return read(file);
  } catch (error) {
    if (error instanceof CapError) throw error;
    throw new CapError(
      'unavailable',
      "the store's key cannot be read or made: check that its folder may be written and its disk has room",
    );
  }
}

/** Whether a store in `folder` has made its key. */
export const hasKey = (folder: string): boolean =>
  lstatSync(join(folder, 'ledger.key'), { throwIfNoEntry: false }) !== undefined;

/** Returns a function that checks signatures of this key. For an invalid key it always returns false. */
export function verifier(publicKey: Uint8Array): (message: Uint8Array, signature: Uint8Array) => boolean {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: Buffer.concat([SPKI, publicKey]), format: 'der', type: 'spki' });
  } catch {
    return () => false;
  }
  return (message, signature) => signature.length === 64 && verify(null, message, key, signature);
}

/** The bytes before the 32 key bytes in the DER form of an ed25519 key (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

function signerOf(key: KeyObject): Signer {
  const der = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const secret = createHmac('sha256', key.export({ format: 'der', type: 'pkcs8' }))
    .update('hob seal')
    .digest();
  return Object.freeze({
    publicKey: new Uint8Array(der.subarray(SPKI.length)),
    sign: (message: Uint8Array) => new Uint8Array(sign(null, message, key)),
    seal: (message: string) => createHmac('sha256', secret).update(message).digest('base64url'),
  });
}

/** Writes a draft and makes it durable before it gets its name, so the key file is complete or absent. */
function create(folder: string, file: string): Signer {
  const { privateKey } = generateKeyPairSync('ed25519');
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, privateKey.export({ format: 'pem', type: 'pkcs8' }) as string);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
  if (process.platform !== 'win32') {
    const above = openSync(folder, 'r');
    try {
      fsyncSync(above);
    } finally {
      closeSync(above);
    }
  }
  return signerOf(privateKey);
}

function read(file: string): Signer {
  const signer = signerOfText(readFileSync(file));
  if (signer === undefined) throw damaged();
  return signer;
}

function signerOfText(text: string | Buffer): Signer | undefined {
  try {
    const key = createPrivateKey(text);
    return key.asymmetricKeyType === 'ed25519' ? signerOf(key) : undefined;
  } catch {
    return undefined;
  }
}

function damaged(): CapError {
  return new CapError(
    'invalid',
    'ledger.key of this store is damaged or was not written by Hob: restore it from a backup, or give another --state folder',
  );
}
