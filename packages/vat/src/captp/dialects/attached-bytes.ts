/**
 * The bytes of a frame of `hob.1`, which travel beside its text.
 *
 * Promise: no byte that came belongs to two values. A byte belongs to none only if a value of its frame was refused.
 * The cost of sent bytes and text is counted before they are sent.
 */
import type { SessionLimits } from '../session/limits.ts';
import { Violation } from '../session/operations.ts';
import { DigitBudget } from './digits.ts';
import { isId, surelyFreeKeys } from './parse-frame.ts';
import { SizeBudget } from './size-budget.ts';

/** Maximum keys and structural characters of a value that JSON lacks. An error has the most. */
const specialKeys = 3;
const specialTokens = 6;

/** The bytes of the values of one operation, in order, and upper bounds for the cost of its text. */
export class Outgoing {
  readonly parts: Uint8Array[] = [];
  length = 0;
  readonly room: SizeBudget;
  /** Upper bound of the structural characters of lists and records. */
  tokens = 0;
  /** Upper bound of the keys of records. */
  keys = 0;
  /** Upper bound of the keys that differ from the key at the same place of the previous record. */
  newKeys = 0;
  /** Count of different keys among these that came after the free keys. Each counts as more than one token. */
  dearKeys = 0;
  /** Count of lists and records. */
  lists = 0;
  /** Upper bound of the short strings. */
  strings = 0;
  #known: Set<string> | undefined;
  readonly #keysBefore: (string | undefined)[][] = [];
  readonly #limits: SessionLimits;
  #digits: DigitBudget | undefined;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
    this.room = new SizeBudget(limits.frameBytes);
  }

  get digits(): DigitBudget {
    this.#digits ??= new DigitBudget(this.#limits);
    return this.#digits;
  }

  /** Returns the keys of the previous record at this depth. The keys of the next record are compared with them. */
  keysBefore(depth: number): (string | undefined)[] {
    return (this.#keysBefore[depth] ??= []);
  }

  /** Counts a key that differs from the key at the same place of the previous record. `keys` includes it already. */
  newKey(key: string): void {
    this.newKeys += 1;
    if (this.keys <= surelyFreeKeys) return;
    this.#known ??= new Set();
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.dearKeys += 1;
  }

  /** Counts a value that JSON lacks, as a record at this depth with three keys, each with a short string. */
  special(depth: number): void {
    this.tokens += specialTokens;
    this.lists += 1;
    this.keys += specialKeys;
    this.strings += specialKeys;
    this.newKeys += specialKeys;
    const before = this.#keysBefore[depth];
    if (before !== undefined) before[0] = undefined;
  }

  take(bytes: Uint8Array): number {
    const from = this.length;
    this.parts.push(bytes);
    this.length += bytes.length;
    return from;
  }
}

/** Memory that one part uses besides its bytes. */
const partBytes = 200;

/**
 * The bytes that came before a frame. Each byte belongs to exactly one value. If a value is refused, some
 * bytes may belong to none.
 */
export class Incoming {
  #parts: Uint8Array[] = [];
  /** Count of bytes that values have taken. */
  taken = 0;
  length = 0;
  /** All bytes before this position are taken. Usually values come in the order of their bytes. */
  #inOrder = 0;
  /** Holds 1 for each byte that is taken. Created only if values come in another order. */
  #claimed: Uint8Array | undefined;
  #excused = false;
  readonly #most: number;

  constructor({ memoryBytes, frameBytes }: SessionLimits) {
    this.#most = Math.max(memoryBytes / 4, frameBytes);
  }

  add(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#parts.push(part);
    this.length += part.length;
    if (this.length > this.#most)
      throw new Violation(`the bytes of one frame may be ${this.#most}: send a stream`, 1009);
  }

  /** Memory in use. A part may be as small as one byte, so each part counts too. */
  get kept(): number {
    return this.length + this.#parts.length * partBytes;
  }

  take(from: unknown, length: unknown): Uint8Array {
    if (!isId(from) || !isId(length) || from + length > this.length)
      throw new Violation('a value names bytes that the frame does not bring');
    if (!this.#claim(from, length)) throw new Violation('two values name the same bytes');
    this.taken += length;
    const only = (this.#parts.length > 1 ? this.#whole() : this.#parts[0]) ?? new Uint8Array();
    // A buffer may be passed on without a copy only if it holds nothing else.
    return length === only.buffer.byteLength ? only : only.slice(from, from + length);
  }

  /** Takes these bytes for a value. Returns false if one of them is taken already. */
  #claim(from: number, length: number): boolean {
    if (this.#claimed === undefined && from === this.#inOrder) {
      this.#inOrder += length;
      return true;
    }
    this.#claimed ??= new Uint8Array(this.length).fill(1, 0, this.#inOrder);
    const part = this.#claimed.subarray(from, from + length);
    if (part.includes(1)) return false;
    part.fill(1);
    return true;
  }

  #whole(): Uint8Array {
    const whole = new Uint8Array(this.length);
    let to = 0;
    for (const part of this.#parts) {
      whole.set(part, to);
      to += part.length;
    }
    this.#parts = [whole];
    return whole;
  }

  /** A value of the frame was refused, perhaps before its bytes were taken. So bytes may be left over. */
  excuse(): void {
    this.#excused = true;
  }

  /** The frame of these bytes was decoded. */
  done(): void {
    if (this.taken !== this.length && !this.#excused) throw new Violation('the frame brings bytes that no value names');
    this.#excused = false;
    if (this.length > 0) this.clear();
  }

  clear(): void {
    this.#parts = [];
    this.taken = 0;
    this.length = 0;
    this.#inOrder = 0;
    this.#claimed = undefined;
    this.#excused = false;
  }
}
