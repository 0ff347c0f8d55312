/**
 * Looks at text before it is parsed: parsing 4 MB of hostile text stalls a process for 200 ms, walking what comes of it for longer.
 *
 * Promise: what passes has at most so many structural tokens and is nested at most so deep, and looking costs less than parsing.
 * What it will take in memory is known before, for each part of it: `{}` is 3 letters in a list, and 64 bytes.
 */
import type { Limits } from '../session/limits.ts';
import { Violation } from '../session/operations.ts';

/** Bytes that a record or a list takes in memory, a part of one, a key of one. Measured, `npm run attack:captp`: "shapes". */
const objectBytes = 56;
const partBytes = 24;
const keyBytes = 32;
/** A key where the record before this one had another, or none: the engine keeps its name, and a hidden class for what has it there. */
const newShapeBytes = 96;
/*
 * Tokens that cost the engine more than others count as more, after a number that honest frames stay below. A key that
 * nobody has used before costs 2 to 5 us; a short string 0.5 us, because the engine looks it up among all strings it
 * knows; a list or a record 0.4 us.
 */
const freeKeys = 4_096;
const newKey = 39;
const freeStrings = 40_000;
const oneMoreString = 8;
const freeLists = 32_768;
const oneMoreList = 2;
/** Letters of a string that counts as short. */
export const shortString = 10;

/** Whether so many may count as more. */
export const isDear = (of: { readonly keys: number; readonly strings: number; readonly lists: number }): boolean =>
  of.keys > freeKeys || of.strings > freeStrings || of.lists > freeLists - 8;

/**
 * Throws where text may not be parsed. What a person reads has commas too: not counted in strings. Answers how many bytes its
 * value takes in memory, about; `parts` is filled with the same for each item of the outermost list.
 */
export function checkStructure(text: string, { tokens, depth }: Limits, what = 'a frame', parts?: number[]): number {
  // The frame, its operation and the list of arguments are levels of their own, as are the records that stand for what JSON lacks.
  const deepest = depth * 2 + 8;
  const most = tokens;
  let seen = 0;
  let level = 0;
  const letter = bytesOfLetter(text);
  let bytes = text.length * letter;
  let from = 0;
  let quoted = 0;
  let keys = 0;
  let lists = 0;
  let strings = 0;
  /** What was just passed is a short string, which may turn out to be a key. */
  let short = false;
  let known: Set<string> | undefined;
  const shapes = new Shapes();
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case 34: // "
        quoted = i;
        i = endOfString(text, i + 1);
        short = i - quoted <= shortString + 1;
        break;
      case 91: // [
      case 123: // {
        level += 1;
        seen += 1;
        bytes += objectBytes;
        lists += 1;
        shapes.begin(level);
        if (lists > freeLists) seen += oneMoreList;
        if (level > deepest) throw new Violation(`${what} may be nested ${depth} deep: send it flatter`);
        break;
      case 93: // ]
      case 125: // }
        level -= 1;
        if (short) strings += 1;
        if (short && strings > freeStrings) seen += oneMoreString;
        short = false;
        break;
      case 44: // ,
        seen += 1;
        if (short) strings += 1;
        if (short && strings > freeStrings) seen += oneMoreString;
        short = false;
        bytes += partBytes;
        if (level === 1 && parts !== undefined) {
          const here = bytes - (text.length - i) * letter;
          parts.push(here - from);
          from = here;
        }
        break;
      case 58: // :
        seen += 1;
        bytes += keyBytes;
        keys += 1;
        short = false;
        if (!shapes.repeats(text, level, quoted, i)) bytes += newShapeBytes;
        if (keys <= freeKeys) break;
        known ??= new Set();
        if (known.has(text.slice(quoted, i))) break;
        known.add(text.slice(quoted, i));
        seen += newKey;
        break;
    }
    if (seen > most) throw new Violation(`${what} may have ${tokens} tokens: send less at a time`);
  }
  parts?.push(bytes - from);
  return bytes;
}

/** The keys of the record that was passed last at each level, by where they stand: a list of records has the same ones again and again. */
class Shapes {
  readonly #starts: number[][] = [];
  readonly #ends: number[][] = [];
  /** How many keys of its record were passed; and whether all of them were those of the one before it. */
  readonly #passed: number[] = [];
  readonly #same: boolean[] = [];

  begin(level: number): void {
    this.#passed[level] = 0;
    this.#same[level] = true;
  }

  repeats(text: string, level: number, start: number, end: number): boolean {
    const starts = (this.#starts[level] ??= []);
    const ends = (this.#ends[level] ??= []);
    const at = this.#passed[level] ?? 0;
    this.#passed[level] = at + 1;
    const before = starts[at];
    const same = this.#same[level] === true && before !== undefined && end - start === (ends[at] as number) - before;
    const repeated = same && equal(text, before, start, end - start);
    if (!repeated) this.#same[level] = false;
    starts[at] = start;
    ends[at] = end;
    return repeated;
  }
}

function equal(text: string, a: number, b: number, length: number): boolean {
  for (let i = 0; i < length; i += 1) if (text.charCodeAt(a + i) !== text.charCodeAt(b + i)) return false;
  return true;
}

/** A string with one letter beyond Latin-1 takes two bytes for each, also where that letter is an escape. Strings are not told apart. */
const bytesOfLetter = (text: string): number => (wide.test(text) ? 2 : 1);
const wide = /[^\0-\xff]|\\u/;

/** Most strings are so short that asking for their end costs more than looking. */
const glance = 24;

function endOfString(text: string, from: number): number {
  const until = Math.min(from + glance, text.length);
  let i = from;
  for (; i < until; i += 1) {
    const letter = text.charCodeAt(i);
    if (letter === 34) return i;
    if (letter === 92) i += 1;
  }
  // `i` is not in the middle of an escape, so the slashes that count begin there.
  for (let start = i; ; i += 1) {
    const quote = text.indexOf('"', i);
    if (quote < 0) return text.length;
    let slashes = 0;
    for (let at = quote - 1; at >= start && text.charCodeAt(at) === 92; at -= 1) slashes += 1;
    if (slashes % 2 === 0) return quote;
    i = quote;
  }
}

/** Bytes of UTF-8, exact only where that decides; `around`: what stands around it in its frame. */
export function tooLong(text: string, { frameBytes }: Limits, around = 0): boolean {
  const most = frameBytes - around;
  if (text.length > most) return true;
  return text.length * 3 > most && Buffer.byteLength(text) > most;
}

/** Bytes that what this text says takes in memory, about. */
export const weightOf = (text: string): number => checkStructure(text, boundless);

const boundless = { tokens: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY } as Limits;

/** Only what was looked at. */
export function parse(text: string, what = 'a frame'): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Violation(what === 'a frame' ? 'not JSON' : `${what} is not JSON`);
  }
}

export const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
export const isQuestion = (value: unknown): value is number => isId(value) && value > 0;
