/**
 * String keys in the order of their UTF-8 bytes, in chunks, so that inserting and finding stay logarithmic at a million.
 *
 * The order of a store's keys, hence the same for a table in memory and on disk.
 */

/** Compares as UTF-8 bytes do. JavaScript compares UTF-16 units, which puts astral characters before U+E000. */
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

  add(key: string): void {
    const chunks = this.#chunks;
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
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** The first key at or after `key` (after it, with `beyond`); undefined at the end. */
  from(key: string, beyond: boolean): string | undefined {
    const at = Math.max(0, this.#chunkFrom(key) - 1);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return undefined;
    let index = firstNotBelow(chunk, key);
    if (beyond && chunk[index] === key) index += 1;
    return index < chunk.length ? chunk[index] : this.#chunks[at + 1]?.[0];
  }

  /** How many chunks begin at or before `key`. */
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
