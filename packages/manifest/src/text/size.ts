/** Limits that hold before a parser sees the text, so that no text costs more than reading it once. */
import type { TextPosition } from './mistakes.ts';

export const MOST_BYTES: number = 256 * 1024;
export const MOST_LINES = 10_000;
export const MOST_DEPTH = 32;
/** Parts are what the parser works for: entries of lists and records, anchors and aliases. An example has about 40. */
const MOST_PARTS = 2000;

export const flatter = 'write it flatter: no part of a manifest is deeper than 8';

interface TooLarge {
  readonly place: TextPosition;
  readonly wrong: string;
  readonly write: string;
}

/** Returns the first limit that the text exceeds. Depth is judged from indentation and open brackets. */
export function tooLarge(text: string): TooLarge | undefined {
  const start = { line: 1, column: 1 };
  if (text.length > MOST_BYTES || new TextEncoder().encode(text).length > MOST_BYTES)
    return { place: start, wrong: 'the file is larger than 256 KiB', write: 'split what it says, or remove lists' };
  // The parser takes these three for ends of lines, alone and together.
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.length > MOST_LINES)
    return {
      place: { line: MOST_LINES + 1, column: 1 },
      wrong: 'the file has more than 10,000 lines',
      write: 'write lists in one line each',
    };
  return tooDeep(lines) ?? tooMany(lines);
}

function tooMany(lines: readonly string[]): TooLarge | undefined {
  let parts = 0;
  for (const [n, line] of lines.entries()) {
    parts += (line.match(/[,[{]|[:?-](?=\s|$)|[&*!](?=\w)/g) ?? []).length;
    if (parts > MOST_PARTS)
      return {
        place: { line: n + 1, column: 1 },
        wrong: 'the file has more than 2,000 entries',
        write: 'remove some: a session of that many caps is read by nobody',
      };
  }
  return undefined;
}

function tooDeep(lines: readonly string[]): TooLarge | undefined {
  /** The columns at which blocks began that are still open. */
  const indents: number[] = [];
  let brackets = 0;
  for (const [n, line] of lines.entries()) {
    const body = line.trimStart();
    if (body === '' || body.startsWith('#')) continue;
    let column = line.length - body.length;
    while ((indents.at(-1) ?? -1) >= column) indents.pop();
    indents.push(column);
    // `- - - x` opens a list for each dash.
    for (const dash of (/^(?:[-?] +)*/.exec(body) as RegExpExecArray)[0].matchAll(/[-?] +/g)) {
      column += dash[0].length;
      indents.push(column);
    }
    for (const sign of withoutQuotes(body)) {
      if (sign === '[' || sign === '{') brackets += 1;
      else if ((sign === ']' || sign === '}') && brackets > 0) brackets -= 1;
      if (indents.length + brackets > MOST_DEPTH)
        return {
          place: { line: n + 1, column: 1 },
          wrong: `lists and records lie more than ${MOST_DEPTH} deep in each other`,
          write: flatter,
        };
    }
  }
  return undefined;
}

/**
 * The line without quoted texts that end in it, and without its comment. One pass: a search by a pattern begins again
 * at each quote that stays open.
 */
function withoutQuotes(line: string): string {
  let rest = '';
  for (let n = 0; n < line.length; n += 1) {
    const sign = line.charAt(n);
    if (sign === '#' && /^\s?$/.test(line.charAt(n - 1))) break;
    const end = sign === '"' || sign === "'" ? endOfQuote(line, n) : undefined;
    // A quote that stays open ends in another line. The rest may be text or not.
    if (end === undefined && (sign === '"' || sign === "'")) return rest + line.slice(n);
    n = end ?? n;
    if (end === undefined) rest += sign;
  }
  return rest;
}

/** The place of the quote that ends the one at `start`. */
function endOfQuote(line: string, start: number): number | undefined {
  const quote = line.charAt(start);
  for (let n = start + 1; n < line.length; n += 1) {
    const sign = line.charAt(n);
    if (sign === '\\' && quote === '"') n += 1;
    else if (sign === quote && quote === "'" && line.charAt(n + 1) === quote) n += 1;
    else if (sign === quote) return n;
  }
  return undefined;
}
