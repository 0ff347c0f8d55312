/**
 * A budget for the encoded size of one value.
 *
 * Promise: a value that is too large is refused before it is built. Shared data is written once for each
 * place that refers to it. So after twenty calls that each return the previous answer twice, the encoded size
 * is a million times the first answer.
 */
import { CapError } from '../../core/errors.ts';

/** Minimum letters of a value that JSON lacks: those that name its kind. */
export const special = 16;

export const tooLarge = (): CapError =>
  new CapError('limit', 'this is larger than a frame may be: send it in parts, or send bytes through a stream');

export class SizeBudget {
  #left: number;

  constructor(letters: number) {
    this.#left = letters;
  }

  /** At least this many letters will be written. Throws `limit`. */
  take(letters: number): void {
    this.#left -= letters;
    if (this.#left < 0) throw tooLarge();
  }
}
