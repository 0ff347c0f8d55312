/**
 * Checks text before it is parsed. Parsing 4 MB of hostile text stalls a process for 200 ms, and walking the
 * result takes longer.
 *
 * Promise: text that passes has a limited number of structural tokens and a limited depth, and the check
 * costs less than parsing. It also gives the memory that the value will take, for each part. For example,
 * `{}` in a list is 3 letters of text and 64 bytes of memory.
 */
import { utf8Length } from '../../core/drivers/platform.ts';
import { CapError } from '../../core/errors.ts';
import { defaultLimits, type SessionLimits } from '../session/limits.ts';
import { Violation } from '../session/operations.ts';

/**
 * Memory in bytes of a record or a list, of an element and of a key. Measured with `npm run attack:captp`,
 * row "shapes".
 */
const objectBytes = 56;
const partBytes = 24;
const keyBytes = 32;
/**
 * Added for a key that differs from the key of the previous record at the same place: the engine stores the
 * name and a new hidden class.
 */
const newShapeBytes = 96;
/*
 * Some tokens cost the engine more than others. They count as more after a number that honest frames do not
 * reach. A key that is new to the process costs 2 to 5 us. A short string costs 0.5 us, because the engine
 * looks it up among all strings that it knows. A list or a record costs 0.4 us.
 */
const freeKeys = 4_096;
const newKey = 39;
export const freeStrings = 40_000;
const oneMoreString = 8;
export const freeLists = 32_768;
const oneMoreList = 2;
/** Maximum length of a string that counts as short. */
export const shortString = 10;

/** The counts that a sender makes while it encodes an operation. See `Outgoing`. */
export interface EncodedCounts {
  readonly tokens: number;
  readonly keys: number;
  readonly newKeys: number;
  readonly dearKeys: number;
  readonly lists: number;
  readonly strings: number;
}

/** Added for the operation around the values, and for the key names of values that JSON lacks. */
export const around = 16;
/** The first keys of the values of an operation, up to this number, count as no more than one token. */
export const surelyFreeKeys: number = freeKeys - around;

/** Returns an upper bound of the tokens that `checkStructure` counts in an operation. `Outgoing.newKey` has a gap. */
export const mostTokens = ({ tokens, keys, dearKeys, lists, strings }: EncodedCounts): number =>
  tokens +
  around +
  (keys > surelyFreeKeys ? (dearKeys + around) * newKey : 0) +
  Math.max(0, strings + around - freeStrings) * oneMoreString +
  Math.max(0, lists + around - freeLists) * oneMoreList;

/** Returns an upper bound of the memory that `checkStructure` computes for the text of an operation. */
export const mostMemory = (text: string, { tokens, keys, newKeys, lists }: EncodedCounts): number =>
  text.length * (isWide(text) ? 2 : 1) +
  (lists + 1) * objectBytes +
  (tokens + 2) * partBytes +
  keys * (keyBytes - partBytes) +
  newKeys * newShapeBytes;

/** Checks JSON text of a stranger before it is parsed, with the limits of a frame. Errors: `limit`. */
export function checkJson(text: string): void {
  try {
    checkStructure(text, defaultLimits, 'a body');
  } catch (error) {
    throw error instanceof Violation ? new CapError('limit', error.message) : error;
  }
}

/**
 * Throws `Violation` if the text must not be parsed. Characters inside strings do not count as tokens.
 * Returns the approximate memory of the value; `parts` receives the same for each item of the outermost list.
 */
export function checkStructure(
  text: string,
  { tokens, depth }: SessionLimits,
  what = 'a frame',
  parts?: number[],
): number {
  // The frame, the operation and its list of arguments are levels too. So are the records that stand for
  // values which JSON lacks.
  const deepest = depth * 2 + 8;
  const most = tokens;
  let seen = 0;
  let level = 0;
  const { length } = text;
  const letters = lettersOf(text);
  const letter = letters.BYTES_PER_ELEMENT === 2 || text.includes('\\u') ? 2 : 1;
  let bytes = length * letter;
  let from = 0;
  let quoted = 0;
  let keys = 0;
  let lists = 0;
  let strings = 0;
  /** The last token was a short string, which may turn out to be a key. */
  let short = false;
  let known: Set<string> | undefined;
  texts += 1;
  for (let i = 0; i < length; i += 1) {
    switch (letters[i]) {
      case 34: // "
        quoted = i;
        i = endOfString(letters, i + 1, length);
        short = i - quoted <= shortString + 1;
        break;
      case 91: // [
      case 123: // {
        level += 1;
        seen += 1;
        bytes += objectBytes;
        lists += 1;
        if (letters[i] === 123) beginRecord(level);
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
          const here = bytes - (length - i) * letter;
          parts.push(here - from);
          from = here;
        }
        break;
      case 58: // :
        seen += 1;
        bytes += keyBytes;
        keys += 1;
        short = false;
        if (repeats(letters, level, quoted, i)) break;
        bytes += newShapeBytes;
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

/**
 * The keys of the previous record at one level of the text, as positions in the text. The records of a list often have
 * the same keys, and such keys need no look-up.
 */
interface Level {
  /** The number of the text to which the other fields belong. */
  text: number;
  readonly starts: number[];
  readonly ends: number[];
  /** How many of these positions are set. */
  known: number;
  /**
   * The number of keys seen in the current record, and of those up to the first that differs from the previous record.
   */
  passed: number;
  same: number;
}

/**
 * Every check reuses these levels, because no check runs inside another. Most frames are short, and new arrays for each
 * frame would cost more than its check (bench captp, 500 calls at once).
 */
const levels: Level[] = [];
/** Keys at deeper levels, and later keys of a record, always count as new. No honest list of records has so many. */
const mostLevels = 300;
export const mostKeys = 512;
let texts = 0;

function beginRecord(depth: number): void {
  // `>>> 0` makes a negative depth large. Text that is not JSON may close more than it opened.
  if (depth >>> 0 >= mostLevels) return;
  const level = (levels[depth] ??= { text: 0, starts: [], ends: [], known: 0, passed: 0, same: 0 });
  if (level.text !== texts) level.known = 0;
  level.text = texts;
  level.passed = level.same = 0;
}

/** Whether the key between these positions equals the key at the same place of the previous record. */
function repeats(letters: Letters, depth: number, start: number, end: number): boolean {
  const level = levels[depth];
  if (level === undefined || level.text !== texts) return false;
  const { starts, ends } = level;
  const at = level.passed;
  level.passed += 1;
  const before = starts[at] as number;
  if (level.same === at && at < level.known && end - start === (ends[at] as number) - before)
    if (equal(letters, before, start, end - start)) {
      level.same += 1;
      return true;
    }
  if (at >= mostKeys) return false;
  starts[at] = start;
  ends[at] = end;
  if (at === level.known) level.known += 1;
  return false;
}

function equal(letters: Letters, a: number, b: number, length: number): boolean {
  for (let i = 0; i < length; i += 1) if (letters[a + i] !== letters[b + i]) return false;
  return true;
}

/**
 * The letters of a text as numbers, at the start of an array that may be longer. Reading them takes about half the
 * time of `charCodeAt`.
 */
type Letters = Uint8Array | Uint16Array;

/**
 * The array that all checks share, because no check runs inside another. The first long text makes it grow to the size
 * of the longest frame, once. A new array for each long text would cost more than its check, because its memory is new
 * to the process. A text of more than `mostKept` letters still gets an array of its own.
 */
let kept = new Uint8Array(1 << 16);
const mostKept = 1 << 20;
const utf8 = new TextEncoder();
/** For texts longer than this, `encodeInto` is faster than a loop. */
const longText = 256;

/** Returns a `Uint16Array` if a letter of the text is beyond Latin-1. */
function lettersOf(text: string): Letters {
  const { length } = text;
  if (length > kept.length && length <= mostKept) kept = new Uint8Array(mostKept);
  const bytes = length > kept.length ? new Uint8Array(length) : kept;
  // Other letters than ASCII take more than one byte, so the whole text fits only if it is ASCII.
  if (length > longText && utf8.encodeInto(text, bytes.subarray(0, length)).read === length) return bytes;
  if (fill(bytes, text) < 256) return bytes;
  const wide = new Uint16Array(length);
  fill(wide, text);
  return wide;
}

/** Copies the letters. Returns all of them joined by `|`, which is below 256 if each letter is in Latin-1. */
function fill(letters: Letters, text: string): number {
  let all = 0;
  for (let i = 0; i < text.length; i += 1) all |= letters[i] = text.charCodeAt(i);
  return all;
}

/**
 * Whether the letters of a text count as two bytes each. A string with one letter beyond Latin-1 takes two bytes per
 * letter, also if that letter is an escape. One such letter, or any escape `\u`, counts for all strings of the text.
 * Equal lengths mean that the text is ASCII. `utf8Length` is faster than the regular expression.
 */
const isWide = (text: string): boolean => (utf8Length(text) === text.length ? text.includes('\\u') : wide.test(text));
const wide = /[^\0-\xff]|\\u/;

/** Strings up to this length are scanned here, because a call of `indexOf` costs more. */
const glance = 24;

function endOfString(letters: Letters, from: number, length: number): number {
  const until = Math.min(from + glance, length);
  let i = from;
  for (; i < until; i += 1) {
    const letter = letters[i];
    if (letter === 34) return i;
    if (letter === 92) i += 1;
  }
  // `i` is not inside an escape, so only backslashes from here on count.
  for (let start = i; ; i += 1) {
    const quote = letters.indexOf(34, i);
    if (quote < 0 || quote >= length) return length;
    let slashes = 0;
    for (let at = quote - 1; at >= start && letters[at] === 92; at -= 1) slashes += 1;
    if (slashes % 2 === 0) return quote;
    i = quote;
  }
}

/**
 * Returns true if the text has more bytes of UTF-8 than a frame may have. The bytes are counted only if the length of
 * the text does not decide.
 */
export function tooLong(text: string, { frameBytes }: SessionLimits): boolean {
  if (text.length > frameBytes) return true;
  return text.length * 3 > frameBytes && utf8Length(text) > frameBytes;
}

/** Parses JSON. Call `checkStructure` first. */
export function parse(text: string, what = 'a frame'): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Violation(`${what} is not JSON`);
  }
}

export const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
export const isQuestion = (value: unknown): value is number => isId(value) && value > 0;
