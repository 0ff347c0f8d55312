/**
 * How much of one value may be written.
 *
 * Promise: what is too large is refused before it is built. Data that is shared is written out once for each place where it
 * stands: twenty calls, each of which answers twice the answer before it, are a million times the first one.
 */
import { CapError } from '../../core/errors.ts';

/** Letters of a value that JSON lacks, at least: what says its kind. */
export const special = 16;

export const tooLarge = (): CapError =>
  new CapError('limit', 'this is larger than a frame may be: send it in parts, or bytes through a stream');

export class SizeBudget {
  #left: number;

  constructor(letters: number) {
    this.#left = letters;
  }

  /** So many letters at least are written. Throws `limit`. */
  take(letters: number): void {
    this.#left -= letters;
    if (this.#left < 0) throw tooLarge();
  }
}
