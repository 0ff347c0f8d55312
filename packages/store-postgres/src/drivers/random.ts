/** Numbers and bytes by chance. */
import { randomBytes, randomInt } from 'node:crypto';

/** Bytes that no compression makes smaller. */
export const randomData = (count: number): Uint8Array => randomBytes(count);
/** A text that nobody else has or guesses. */
export const randomText = (): string => randomBytes(16).toString('hex');
/** A number that fits an `int` of PostgreSQL, above 0. */
export const randomNumber = (): number => randomInt(1, 2 ** 31 - 1);
