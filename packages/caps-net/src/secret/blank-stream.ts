/**
 * Blanks secrets out of a stream of bytes.
 *
 * Promise: the result is as if the bytes had come whole, wherever they are cut. Only bytes that may be the beginning of
 * a form are kept back, so an event stream is not delayed. A value that is first used while the stream runs is blanked
 * from then on.
 */
import { BLANK } from './blank.ts';
import type { FormTable, Span } from './form-table.ts';

const MARK = Buffer.from(BLANK);
const NOTHING = Buffer.alloc(0);

export class BlankStream {
  readonly #table: () => FormTable;
  #kept: Buffer = NOTHING;
  /** So much of the beginning of `kept` belongs to a span whose mark was written. Such a span may end at 0. */
  #marked: number | undefined;

  constructor(table: () => FormTable) {
    this.#table = table;
  }

  next(part: Buffer): Buffer {
    const table = this.#table();
    if (table.isEmpty) return part;
    const bytes = this.#kept.length === 0 ? part : Buffer.concat([this.#kept, part]);
    return this.#take(bytes, table.find(bytes), table.beginning(bytes));
  }

  end(): Buffer {
    const rest = this.#kept;
    return this.#take(rest, this.#table().find(rest), rest.length);
  }

  #take(bytes: Buffer, found: Span[], cut: number): Buffer {
    const marked = this.#marked;
    this.#marked = undefined;
    this.#kept = bytes.subarray(cut);
    if (found.length === 0 && marked === undefined) return bytes.subarray(0, cut);
    const parts: Buffer[] = [];
    let at = 0;
    for (const [from, to] of merged(marked === undefined ? found : [[0, marked], ...found])) {
      // A form that begins after the cut is found again with the next part.
      if (from >= cut && !(from === 0 && marked !== undefined)) break;
      parts.push(bytes.subarray(at, from));
      if (from > 0 || marked === undefined) parts.push(MARK);
      at = to;
      this.#marked = to >= cut ? to - cut : undefined;
    }
    parts.push(bytes.subarray(Math.min(at, cut), cut));
    return Buffer.concat(parts);
  }
}

/** Blanks bytes that came whole. */
export function blankBytes(table: FormTable, bytes: Buffer): Buffer {
  const stream = new BlankStream(() => table);
  return Buffer.concat([stream.next(bytes), stream.end()]);
}

/** Spans that overlap or touch are one. */
function merged(found: Span[]): Span[] {
  const spans: [number, number][] = [];
  for (const [from, to] of found.sort(([a], [b]) => a - b)) {
    const last = spans.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else spans.push([from, to]);
  }
  return spans;
}
