/**
 * Unpredictable randomness from the operating system. It is passed in where needed, so that a test can replay
 * it.
 */
import { randomBytes } from 'node:crypto';

export function systemRandom(bytes: number): Uint8Array {
  return new Uint8Array(randomBytes(bytes)); // copied: small Buffers share a pool, and `.buffer` would expose it
}
