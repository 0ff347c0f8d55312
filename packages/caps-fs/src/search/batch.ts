/**
 * Searches files of one directory together.
 *
 * Promise: files are searched in the order in which they were added, with the same result as one by one. If the backend
 * has `filesWithout`, one call finds the files that do not contain the text. Only the others are read here.
 */
import type { Kernel } from '../base/kernel.ts';
import { readSmall, type SkipReason, type Small } from './descent.ts';

/** A larger file is skipped. */
export const maxFile: number = 8 * 1024 * 1024;
// The most files and bytes of one call of the C part. A search thread can be ended only after the call.
const maxFiles = 32;
const maxBytes = 8 * 1024 * 1024;

export interface Seeker {
  take(names: readonly string[], found: Small): void;
  skip(names: readonly string[], reason: SkipReason): void;
  /** Counts the bytes of a file that the backend has searched. */
  count(bytes: number): void;
  /** Returns how many bytes may still be searched. */
  left(): number;
}

export class Batch {
  readonly #kernel: Kernel;
  readonly #text: Uint8Array | undefined;
  readonly #seeker: Seeker;
  #dir = -1;
  #mostHaveIt = false;
  #files: (readonly string[])[] = [];

  /** Every match contains `text`. Undefined if no such text is known. */
  constructor(kernel: Kernel, text: Uint8Array | undefined, seeker: Seeker) {
    this.#kernel = kernel;
    this.#text = text;
    this.#seeker = seeker;
  }

  /** Call `search` before you add a file of another directory, and before you close `dir`. */
  add(dir: number, names: readonly string[]): void {
    this.#dir = dir;
    this.#files.push(names);
    if (this.#files.length === maxFiles) this.search();
  }

  search(): void {
    const files = this.#files;
    this.#files = [];
    for (let from = 0; from < files.length; ) {
      const rest = files.slice(from);
      const sizes = this.#sizesOfOthers(rest);
      for (const [i, names] of rest.slice(0, sizes?.length).entries()) {
        const size = sizes?.[i] ?? -1;
        if (size >= 0) this.#seeker.count(size);
        else this.#searchOne(names);
      }
      from += sizes?.length ?? rest.length;
    }
  }

  /**
   * Calls `filesWithout` of the kernel. If most files of one call contained the text, the next files are read here,
   * because the C part would read them in vain.
   */
  #sizesOfOthers(files: readonly (readonly string[])[]): Float64Array | undefined {
    const { filesWithout } = this.#kernel;
    if (this.#mostHaveIt || !this.#text || !filesWithout) {
      this.#mostHaveIt = false;
      return undefined;
    }
    const names = files.map((file) => file.at(-1) ?? '');
    const bytes = Math.min(maxBytes, this.#seeker.left());
    const sizes = filesWithout(this.#dir, names, maxFile, bytes, this.#text);
    this.#mostHaveIt = sizes.filter((size) => size < 0).length > sizes.length / 2;
    return sizes;
  }

  #searchOne(names: readonly string[]): void {
    const { take, skip } = this.#seeker;
    const why = (reason: SkipReason): void => skip(names, reason);
    readSmall(this.#kernel, this.#dir, names.at(-1) ?? '', maxFile, (found) => take(names, found), why);
  }
}
