/**
 * Positions in a text: converts offsets to lines and columns, and makes errors about a position.
 *
 * Promise: lines and columns count from 1, as an editor shows them. A refusal names the position and the
 * remedy.
 */
import { CapError } from '@hob/vat';

export interface Position {
  readonly line: number;
  /** In UTF-16 units, as in a stack. */
  readonly column: number;
}

/** Lines end where JavaScript ends them, so that positions agree with those in a stack. */
const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;

/** The lines of one text. */
export class Lines {
  readonly #starts: readonly number[];
  readonly #length: number;

  constructor(text: string) {
    const starts = [0];
    for (const { index, 0: end } of text.matchAll(LINE_END)) starts.push(index + end.length);
    this.#starts = starts;
    this.#length = text.length;
  }

  at(offset: number): Position {
    const line = lastNotAbove(this.#starts, offset);
    return { line: line + 1, column: offset - (this.#starts[line] ?? 0) + 1 };
  }

  /** The offset of a position. A position outside the text gives the nearest one inside. */
  offset({ line, column }: Position): number {
    if (line < 1) return 0;
    const start = this.#starts[line - 1];
    if (start === undefined) return this.#length;
    return Math.min(start + Math.max(column, 1) - 1, (this.#starts[line] ?? this.#length + 1) - 1);
  }
}

/**
 * Returns the index of the last number that is not above `x`. The numbers ascend, and the first is not above
 * `x`.
 */
export function lastNotAbove(ascending: readonly number[], x: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((ascending[middle] ?? 0) <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * One line feed for each line end in a text. In a replacement of the text they keep the following lines in
 * place.
 */
export const lineEnds = (text: string): string => '\n'.repeat(text.match(LINE_END)?.length ?? 0);

/** Makes the refusal of a model's source. */
export const refusal = ({ line, column }: Position, what: string): CapError =>
  new CapError('invalid', `line ${line}, column ${column}: ${what}`);
