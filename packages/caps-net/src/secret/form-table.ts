/**
 * Finds the forms of secrets in bytes, all in one pass (Wu and Manber, 1994).
 *
 * Two bytes at the end of a window say how far the window may move. Most moves are the length of the shortest form, so
 * a stream is looked through at a fraction of a step for each byte, however many forms there are.
 */
import { formsOf } from './blank.ts';

/** From, and the place after. */
export type Span = readonly [from: number, to: number];

export class FormTable {
  readonly longest: number;
  readonly #forms: readonly Buffer[];
  readonly #window: number;
  /** By two bytes: how far no form can end. */
  readonly #moves: Uint8Array;
  readonly #endings: ReadonlyMap<number, readonly Buffer[]>;
  readonly #firsts: Uint8Array;

  constructor(values: readonly string[]) {
    this.#forms = values.flatMap((value) => [
      ...formsOf(value).map((form) => Buffer.from(form)),
      Buffer.from(value, 'utf16le'),
      Buffer.from(value, 'utf16le').swap16(),
    ]);
    const lengths = this.#forms.map(({ length }) => length);
    this.longest = Math.max(0, ...lengths);
    this.#window = Math.min(255, ...lengths);
    this.#moves = new Uint8Array(this.#forms.length === 0 ? 0 : 65_536).fill(this.#window - 1);
    const endings = new Map<number, Buffer[]>();
    for (const form of this.#forms)
      for (let at = 1; at < this.#window; at += 1) {
        const pair = pairAt(form, at);
        this.#moves[pair] = Math.min(this.#moves[pair] ?? 0, this.#window - 1 - at);
        if (at === this.#window - 1) endings.set(pair, [...(endings.get(pair) ?? []), form]);
      }
    this.#endings = endings;
    this.#firsts = new Uint8Array(256);
    for (const form of this.#forms) this.#firsts[form[0] ?? 0] = 1;
  }

  get isEmpty(): boolean {
    return this.#forms.length === 0;
  }

  /** Where the forms stand, also those that overlap. */
  find(bytes: Buffer): Span[] {
    const found: Span[] = [];
    const [moves, window] = [this.#moves, this.#window];
    for (let end = window - 1; end < bytes.length; ) {
      const pair = pairAt(bytes, end);
      const move = moves[pair] as number;
      if (move > 0) {
        end += move;
        continue;
      }
      const from = end - window + 1;
      for (const form of this.#endings.get(pair) ?? [])
        if (form.compare(bytes, from, Math.min(bytes.length, from + form.length)) === 0)
          found.push([from, from + form.length]);
      end += 1;
    }
    return found;
  }

  /** The first place from which the rest of the bytes may be the beginning of a form; the length if there is none. */
  beginning(bytes: Buffer): number {
    for (let at = Math.max(0, bytes.length - this.longest + 1); at < bytes.length; at += 1) {
      if (this.#firsts[bytes[at] as number] === 0) continue;
      const rest = bytes.length - at;
      if (this.#forms.some((form) => form.length > rest && form.compare(bytes, at, bytes.length, 0, rest) === 0))
        return at;
    }
    return bytes.length;
  }
}

const pairAt = (bytes: Buffer, at: number): number => ((bytes[at - 1] as number) << 8) | (bytes[at] as number);
