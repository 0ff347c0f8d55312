/**
 * The values of secrets that are taken.
 *
 * Promise: each value that is taken can be blanked out of a text: it is long enough that it does not stand there by
 * chance, and has nothing of the mark that takes its place.
 */

/** A shorter value would blank innocent words. */
const SHORTEST = 8;
const FEWEST_DIFFERENT = 4;
const MOST_BYTES = 16_384;

/** Returns why the value is not taken, in words that tell no part of it; undefined if it is. */
export function wrongWithSecret(value: string): string | undefined {
  if (value.length < SHORTEST)
    return `the value has fewer than ${SHORTEST} characters. It could not be blanked out of outputs without blanking innocent text: take a longer one`; // biome-ignore format: one line
  if (new Set(value).size < FEWEST_DIFFERENT)
    return `the value has fewer than ${FEWEST_DIFFERENT} different characters. It could not be blanked out of outputs without blanking innocent text`; // biome-ignore format: one line
  if (Buffer.byteLength(value) > MOST_BYTES) return 'the value has more than 16 KiB: a secret is a token, a password or a key'; // biome-ignore format: one line
  if (!value.isWellFormed() || value.includes('\ufffd')) return 'the value is not UTF-8 text';
  if (/[⟦⟧\0]/u.test(value)) return 'the value has ⟦, ⟧ or a zero byte, which no token has';
  return undefined;
}
