/** Digests, names that nobody guesses, and the clock. */
import { createHash, randomBytes } from 'node:crypto';

/** SHA-256 in hex. */
export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** 128 random bits in hex. */
export const newId = (): string => randomBytes(16).toString('hex');

/** Milliseconds since 1970. */
export const wallNow = (): number => Date.now();
