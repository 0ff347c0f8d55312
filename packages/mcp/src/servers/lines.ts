/**
 * The output of a server as lines.
 *
 * Promise: no more of a line is kept than a line may have. The rest of a longer one is dropped while it arrives; then
 * its first and last bytes tell which request it would have answered. A line is UTF-8, and not nested deeper than
 * anybody needs, before it is parsed.
 */

/** One line, or the ends of one that was too long. */
export type Line =
  | { readonly text: string }
  | { readonly tooLong: number; readonly ends: string }
  | { readonly bad: true };

const NEWLINE = 0x0a;
const END_BYTES = 128;
const DEEPEST = 128;

/** Cuts bytes into lines of at most `most` bytes. */
export class LineReader {
  readonly #most: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #kept: Uint8Array[] = [];
  #bytes = 0;
  /** The last bytes of a line that is too long. */
  #tail: Buffer = Buffer.alloc(0);

  constructor(most: number) {
    this.#most = most;
  }

  /** The bytes of the line that has begun, kept or dropped. */
  get pending(): number {
    return this.#bytes;
  }

  /** The bytes of it that are kept. */
  get kept(): number {
    return this.#kept.reduce((sum, part) => sum + part.length, this.#tail.length);
  }

  /** The lines that end in these bytes. */
  *add(bytes: Uint8Array): Generator<Line> {
    let at = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, at)) {
      this.#take(bytes.subarray(at, end));
      at = end + 1;
      yield this.#line();
    }
    this.#take(bytes.subarray(at));
  }

  #take(part: Uint8Array): void {
    if (part.length === 0) return;
    const before = this.#bytes;
    this.#bytes += part.length;
    if (this.#bytes <= this.#most) {
      this.#kept.push(part);
      return;
    }
    if (before <= this.#most) {
      const head = Buffer.concat([...this.#kept, part.subarray(0, END_BYTES)]).subarray(0, END_BYTES);
      this.#kept = [Uint8Array.from(head)];
    }
    this.#tail = Buffer.from(Buffer.concat([this.#tail, part.subarray(-END_BYTES)]).subarray(-END_BYTES));
  }

  #line(): Line {
    const whole = Buffer.concat(this.#kept);
    const [bytes, tail] = [this.#bytes, this.#tail];
    this.#kept = [];
    this.#bytes = 0;
    this.#tail = Buffer.alloc(0);
    if (bytes > this.#most) return { tooLong: bytes, ends: `${whole.toString('latin1')}\n${tail.toString('latin1')}` };
    let text: string;
    try {
      text = this.#decoder.decode(whole);
    } catch {
      return { bad: true };
    }
    return isDeep(text) ? { bad: true } : { text };
  }
}

/** Whether JSON text is nested deeper than `DEEPEST`. Of a text that is no JSON it may say anything. */
export function isDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}
