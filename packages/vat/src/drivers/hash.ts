/** Digests. They need no power over the machine, but they are native code, so they are drivers too. */
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** SHA-256 as base64url. For a ledger line, one-shot `hash` costs about half as much as `createHash`. */
export function sha256(data: Uint8Array | string): string {
  return hash('sha256', data, 'base64url');
}

/**
 * SHA-256 as a string of 32 characters, one for each byte. This takes a third of the time of returning 32
 * bytes.
 */
export function digest(data: Uint8Array): string {
  return hash('sha256', data, 'binary');
}

/** CRC-32 as 8 hex digits. Detects every accidental burst of up to 32 bits, and no deliberate change. */
export function crc(data: Uint8Array | string): string {
  return crc32(data).toString(16).padStart(8, '0');
}
