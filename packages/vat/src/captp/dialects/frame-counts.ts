/**
 * Counts the operations of a frame before it is sent.
 *
 * A receiver counts the keys, lists and short strings of a whole frame. Beyond some number, each of them counts as many
 * tokens. So it can refuse a frame whose operations would each pass alone.
 *
 * Promise: operations share a frame only while each of their tokens counts as one.
 */
import type { SessionLimits } from '../session/limits.ts';
import { around, type EncodedCounts, freeLists, freeStrings, surelyFreeKeys } from './parse-frame.ts';

/** The lists and strings that an operation has besides its values. */
const own = { lists: 2, strings: 4 } as const;

export type OperationCounts = Pick<EncodedCounts, 'tokens' | 'keys' | 'lists' | 'strings'>;

export class FrameCounts {
  #tokens = 0;
  #keys = 0;
  #lists = 0;
  #strings = 0;

  /** Whether an operation with these values can join those that were added. */
  hasRoom({ tokens, keys, lists, strings }: OperationCounts, limits: SessionLimits): boolean {
    return (
      this.#tokens + tokens + around <= limits.tokens &&
      this.#keys + keys <= surelyFreeKeys &&
      this.#lists + lists + own.lists < freeLists &&
      this.#strings + strings + own.strings < freeStrings
    );
  }

  add({ tokens, keys, lists, strings }: OperationCounts): void {
    this.#tokens += tokens + around;
    this.#keys += keys;
    this.#lists += lists + own.lists;
    this.#strings += strings + own.strings;
  }

  clear(): void {
    this.#tokens = this.#keys = this.#lists = this.#strings = 0;
  }
}
