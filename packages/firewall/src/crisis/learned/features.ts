/**
 * The features of a text that the learned reading weighs: pieces of words, and pairs of words.
 *
 * They need no dictionary, so they are the same in all languages, and most of them outlive a slip or an ending. Each
 * feature is a number below `BUCKETS`, by a hash ("feature hashing", Weinberger et al., 2009).
 */
export const BUCKETS: number = 1 << 20;

const SHORTEST = 3;
const LONGEST = 6;
/** Words of a pair are neighbours, or have so many words between them, less one. */
const FARTHEST = 3;
/** In a script without spaces one character can be a word. */
const LONGEST_UNSPACED = 4;

/** Words with their marks. Punctuation, and the digits of dates and numbers, say nothing about danger. */
const word = /[\p{L}\p{M}]+(?:'[\p{L}\p{M}]+)*|\p{N}{2,4}/gu;
const unspaced = /[\u3040-\u30ff\u3400-\u9fff]/;

const [START, PRIME] = [0x811c9dc5, 0x01000193];

/** FNV-1a (Fowler, Noll, Vo), with its bits mixed so that the low ones depend on all. */
const bucketOf = (hash: number): number => {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 12)) & (BUCKETS - 1);
};

/** The features of a text that a view has folded, each once. */
export function featuresOf(text: string): ReadonlySet<number> {
  const features = new Set<number>();
  const before: number[] = [];
  for (const [found] of text.matchAll(word)) {
    const isUnspaced = unspaced.test(found);
    const padded = isUnspaced ? found : ` ${found} `;
    addPieces(features, padded, isUnspaced ? 1 : SHORTEST, isUnspaced ? LONGEST_UNSPACED : LONGEST);
    const whole = hashOf(found);
    // A pair has the order of its words, and their distance: "not live" and "live not" are two features.
    for (const [distance, other] of before.entries())
      features.add(bucketOf(Math.imul(other + distance, PRIME) ^ whole));
    before.unshift(whole);
    if (before.length > FARTHEST) before.pop();
  }
  return features;
}

function addPieces(features: Set<number>, text: string, shortest: number, longest: number): void {
  for (let from = 0; from < text.length; from += 1) {
    let hash = START;
    for (let length = 1; length <= longest && from + length <= text.length; length += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(from + length - 1), PRIME);
      if (length >= shortest) features.add(bucketOf(hash));
    }
  }
}

function hashOf(text: string): number {
  let hash = START ^ 0x5bd1e995;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return hash;
}
