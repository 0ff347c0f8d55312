/** Random numbers, bytes and texts. */
import { randomBytes, randomInt } from 'node:crypto';

/** Random bytes, which no compression makes smaller. */
export const randomData = (count: number): Uint8Array => randomBytes(count);
/** A random text that nobody can guess. */
export const randomText = (): string => randomBytes(16).toString('hex');
/** A random number from 1 to 2^31 - 2. It fits an `int` of PostgreSQL. */
export const randomNumber = (): number => randomInt(1, 2 ** 31 - 1);
