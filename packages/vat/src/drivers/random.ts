/** Randomness that nobody can guess, from the operating system. Passed in where it is needed, so that a test can replay it. */
import { randomBytes } from 'node:crypto';

export function systemRandom(bytes: number): Uint8Array {
  return new Uint8Array(randomBytes(bytes)); // a copy: small Buffers share one pool, which `.buffer` would hand out
}
