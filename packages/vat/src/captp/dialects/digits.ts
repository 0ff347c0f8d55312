/**
 * How many digits bigints may have, each and all of a frame together.
 *
 * Promise: what is read and written of them is bounded. Either costs the square of the digits: 1 ms to read 16,384 of them, 4 ms
 * to write them. Of small ones a frame may hold as many as it has room for.
 */
import { CapError } from '../../core/errors.ts';
import { defaultLimits, type Limits } from '../session/limits.ts';

/** So many of the longest ones. */
const most = 8;

export class Digits {
  readonly #longest: number;
  readonly #all: number;
  #left: number;

  constructor({ bigintDigits }: Limits) {
    this.#longest = bigintDigits;
    this.#all = most * Math.max(bigintDigits, defaultLimits.bigintDigits) ** 2;
    this.#left = this.#all;
  }

  /** A frame begins. */
  begin(): void {
    this.#left = this.#all;
  }

  /** Reads one. Throws `invalid` or `limit`. */
  read(text: string): bigint {
    if (text.length > this.#longest) throw new CapError('invalid', `a bigint may have ${this.#longest} digits`);
    this.take(text.length);
    return BigInt(text);
  }

  /** One with so many is read or written. Throws `limit`. */
  take(digits: number): void {
    this.#left -= digits * digits;
    if (this.#left < 0)
      throw new CapError('limit', `a frame may hold ${most} bigints as long as they may be: send less at a time`);
  }
}
