/**
 * Takes denied calls out of the rows of a command.
 *
 * A deny is not a check at run time. It makes the rows smaller: `[log|push, ref]` without `[push]` is `[log, ref]`.
 * Where the rest cannot be listed, for example a flag out of `rest`, the manifest does not compile.
 */
import type { Word } from '../words/row.ts';

export type Row = readonly Word[];

/** Returns the rows without the calls that begin with `denied`; undefined if they cannot be listed, or are more than `most`. */
export function without(rows: readonly Row[], denied: readonly string[], most: number): readonly Row[] | undefined {
  const left: Row[] = [];
  for (const row of rows) {
    const parts = rowWithout(row, denied);
    if (parts === undefined) return undefined;
    left.push(...parts);
    if (left.length > most) return undefined;
  }
  return left;
}

function rowWithout(row: Row, denied: readonly string[]): readonly Row[] | undefined {
  const parts: Row[] = [];
  const before: Word[] = [];
  for (const [n, text] of denied.entries()) {
    const word = row[n];
    // The row takes only shorter calls.
    if (word === undefined) return [row];
    if (word.kind !== 'literal') return undefined;
    const others = word.texts.filter((one) => one !== text);
    // This word differs, and so does every call of the row.
    if (others.length === word.texts.length) return [row];
    if (others.length > 0) parts.push([...before, { kind: 'literal', texts: others }, ...row.slice(n + 1)]);
    before.push({ kind: 'literal', texts: [text] });
  }
  return parts;
}
