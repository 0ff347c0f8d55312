/** The commitment of a line to the arguments beside it. */
import { sha256 } from '../drivers/hash.ts';
import type { Args } from '../store/records.ts';

/** SHA-256 of salt and text, as base64url. Without the salt, nobody can find a short value by trying. */
export function commitment({ salt, bytes }: Args): string {
  const salted = new Uint8Array(salt.length + bytes.length);
  salted.set(salt);
  salted.set(bytes, salt.length);
  return sha256(salted);
}
