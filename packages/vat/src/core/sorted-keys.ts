/**
 * String keys in the order of their UTF-8 bytes. They are kept in chunks, so inserting and finding stay fast
 * with a million keys.
 *
 * Stores order their keys in this way, so a table has the same order in memory and on disk.
 */
/** Compares by UTF-8 bytes. JavaScript compares UTF-16 units, which puts astral characters before U+E000. */
export function compareUtf8(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const xSurrogate = x >= 0xd800 && x < 0xe000;
    const ySurrogate = y >= 0xd800 && y < 0xe000;
    if (xSurrogate !== ySurrogate) {
      // A surrogate begins a code point above U+FFFF: larger than any single unit.
      return xSurrogate ? 1 : -1;
    }
    return x - y;
  }
  return a.length - b.length;
}

const chunkSize = 512;

export class SortedKeys {
  readonly #chunks: string[][] = [];
  /** Number of changes so far. A walk compares it to know whether its position is still valid. */
  #changes = 0;

  add(key: string): void {
    const chunks = this.#chunks;
    this.#changes += 1;
    if (chunks.length === 0) {
      chunks.push([key]);
      return;
    }
    const at = Math.max(0, this.#chunkFrom(key) - 1);
    const chunk = chunks[at] as string[];
    const index = firstNotBelow(chunk, key);
    if (chunk[index] === key) return;
    chunk.splice(index, 0, key);
    if (chunk.length > chunkSize) chunks.splice(at + 1, 0, chunk.splice(chunkSize / 2));
  }

  delete(key: string): void {
    const at = Math.max(0, this.#chunkFrom(key) - 1);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    const index = firstNotBelow(chunk, key);
    if (chunk[index] !== key) return;
    this.#changes += 1;
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /**
   * Returns a function that returns one key after the other, from the first key >= `from`, and undefined at
   * the end. The walk sees keys that are added or deleted ahead of it. After a change it searches for its
   * position again; otherwise it only steps on.
   */
  walk(from: string): () => string | undefined {
    let last: string | undefined;
    let at = 0;
    let index = 0;
    let seen = -1;
    return () => {
      const chunks = this.#chunks;
      if (seen === this.#changes) index += 1;
      else {
        const sought = last ?? from;
        at = Math.max(0, this.#chunkFrom(sought) - 1);
        const chunk = chunks[at];
        if (chunk === undefined) return undefined;
        index = firstNotBelow(chunk, sought);
        if (last !== undefined && chunk[index] === sought) index += 1;
        seen = this.#changes;
      }
      if (index >= (chunks[at]?.length ?? 0)) {
        at += 1;
        index = 0;
      }
      const key = chunks[at]?.[index];
      if (key !== undefined) last = key;
      return key;
    };
  }

  /** The number of chunks whose first key is <= `key`. */
  #chunkFrom(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareUtf8((this.#chunks[middle] as string[])[0] as string, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function firstNotBelow(chunk: readonly string[], key: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareUtf8(chunk[middle] as string, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
