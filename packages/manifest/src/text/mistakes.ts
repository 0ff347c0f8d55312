/** Mistakes of a manifest, with their lines. */

/** A place in a manifest: names of keys and indexes of lists, from the top. */
export type Path = readonly (string | number)[];

/** A place in a text. Both count from 1; columns count UTF-16 units. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** `error`: the manifest does not compile. `warning`: a part of it has no effect. */
export type Severity = 'error' | 'warning';

/** One thing that is wrong with a text, its place, and the remedy. */
export interface Mistake extends TextPosition {
  readonly severity: Severity;
  readonly file: string;
  /** The place as keys, for example `session.caps.git.argv[0]`. Empty for the whole file. */
  readonly at: string;
  readonly wrong: string;
  /** The text to write instead. */
  readonly write: string;
}

/** A mistake that knows its path and not yet its line. */
export interface Finding {
  readonly severity?: Severity;
  readonly path: Path;
  /** The place is the key itself and not its value. */
  readonly key?: boolean;
  readonly wrong: string;
  readonly write: string;
}

/** Longer names and values are cut in texts. */
const LONGEST = 60;

/** Shows signs that a terminal would hide or obey, as `\\u202e`. */
export const visible = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);

/** Quotes a text of the manifest for a message: one line, nothing hidden, not too long. */
export const quoted = (text: string): string =>
  visible(JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text));

export function pathText(path: Path): string {
  const parts = path.map((part, n) => {
    if (typeof part === 'number') return `[${part}]`;
    if (part.length > LONGEST || !/^[\w ()-]+$/.test(part)) return `[${quoted(part)}]`;
    return n === 0 ? part : `.${part}`;
  });
  return parts.join('');
}

/** A mistake with its place in a document. */
export function located(
  { severity = 'error', path, key, wrong, write }: Finding,
  document: { readonly file: string; where(path: Path, key?: boolean): TextPosition },
): Mistake {
  return { severity, file: document.file, ...document.where(path, key), at: pathText(path), wrong, write };
}

/** `FILE:LINE:COLUMN: at: wrong; write: …`, one line for a person or an editor. */
export function lineOf({ severity, file, line, column, at, wrong, write }: Mistake): string {
  const what = severity === 'warning' ? 'warning: ' : '';
  return visible(`${file}:${line}:${column}: ${what}${at === '' ? '' : `${at}: `}${wrong}; ${write}`);
}

/** Returns the known name that a mistyped one most likely means; undefined if none is near. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.min(3, Math.ceil(name.length / 2) + 1);
  const given = name.toLowerCase().slice(0, LONGEST);
  let looked = 0;
  for (const one of known) {
    if (Math.abs(one.length - given.length) >= least) continue;
    // A manifest may have thousands of names and of mistakes.
    if ((looked += 1) > MOST_LOOKED_AT) break;
    const distance = editsBetween(given, one.toLowerCase());
    if (distance < least) [best, least] = [one, distance];
  }
  return best;
}

const MOST_LOOKED_AT = 60;

/** More edits than this make another name. */
const MOST_EDITS = 2;

/**
 * The number of insertions, deletions, replacements and swaps of neighbours (optimal string alignment), or more than
 * `MOST_EDITS`. Only the places near the diagonal are looked at, so the work grows with the length and not its square.
 */
function editsBetween(a: string, b: string): number {
  const far = MOST_EDITS + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row: number[] = [];
    row[0] = i;
    const [from, to] = [Math.max(1, i - MOST_EDITS), Math.min(b.length, i + MOST_EDITS)];
    for (let j = from; j <= to; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((last[j] ?? far) + 1, (row[j - 1] ?? far) + 1, (last[j - 1] ?? far) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (beforeLast[j - 2] ?? far) + 1);
      row[j] = least;
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? far;
}
