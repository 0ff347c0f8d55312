/**
 * Limits on the digits of bigints, for each and for all of a frame together.
 *
 * Promise: the cost of reading and writing them is bounded. It grows with the square of the digits: reading
 * 16,384 digits takes 1 ms, writing them 4 ms. Small bigints are limited only by the length of the frame.
 */
import { CapError } from '../../core/errors.ts';
import { defaultLimits, type SessionLimits } from '../session/limits.ts';

/** Number of bigints of maximum length in one frame. */
const most = 8;

export class DigitBudget {
  readonly #longest: number;
  readonly #all: number;
  #left: number;

  constructor({ bigintDigits }: SessionLimits) {
    this.#longest = bigintDigits;
    this.#all = most * Math.max(bigintDigits, defaultLimits.bigintDigits) ** 2;
    this.#left = this.#all;
  }

  /** Called at the start of each frame. */
  begin(): void {
    this.#left = this.#all;
  }

  /** Reads a bigint. Throws `invalid` or `limit`. */
  read(text: string): bigint {
    if (text.length > this.#longest) throw new CapError('invalid', `a bigint may have ${this.#longest} digits`);
    this.take(text.length);
    return BigInt(text);
  }

  /** Counts a bigint with this many digits. Throws `limit`. */
  take(digits: number): void {
    this.#left -= digits * digits;
    if (this.#left < 0)
      throw new CapError('limit', `a frame may hold ${most} bigints of the greatest length: send fewer at a time`);
  }
}
