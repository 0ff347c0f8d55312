/**
 * A unified diff of two texts, three lines of context.
 *
 * Promise: `patch -p0` turns the first text into the second with it. The work is bounded whatever the texts
 * are: where a shortest diff has more than `mostEdits` changed lines, or could take more than `mostCompared`
 * comparisons of two lines, the diff replaces the whole middle in which the texts differ. The shortest diff
 * is made by the library `diff`.
 */
import { formatPatch, OMIT_HEADERS, structuredPatch } from 'diff/lib/patch/create.js';

const context = 3;
const mostEdits = 1_000;
const mostCompared = 20_000_000;

/**
 * Returns the unified diff that turns `before` into `after`; empty if they are equal. `name` stands in both
 * header lines and is not escaped.
 */
export function unifiedDiff(before: string, after: string, name: string): string {
  if (before === after) return '';
  const [a, b] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  const shorter = Math.min(a.length, b.length) - head;
  while (tail < shorter && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  // The library sees the middle and its context. A long common part would cost it a comparison for each edit.
  const from = Math.max(0, head - context);
  const until = Math.max(0, tail - context);
  const middle: Middle = { a: a.slice(from, a.length - until), b: b.slice(from, b.length - until), head: head - from };
  const found = shortest(middle) ?? [replacement({ ...middle, tail: tail - until })];
  const hunks = found.map((hunk) => ({ ...hunk, oldStart: hunk.oldStart + from, newStart: hunk.newStart + from }));
  // The library would escape the name in its own header lines.
  const patch = { oldFileName: name, newFileName: name, oldHeader: '', newHeader: '', hunks };
  return `--- ${name}\n+++ ${name}\n${formatPatch(patch, OMIT_HEADERS)}`;
}

interface Middle {
  readonly a: readonly string[];
  readonly b: readonly string[];
  /** How many lines of context are before the difference. */
  readonly head: number;
}

/** Each line keeps its line end, so that a text without a final one differs from the same text with it. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Returns `undefined` if a shortest diff has too many edits, or could take too many comparisons. */
function shortest({ a, b }: Middle) {
  // With d edits, Myers' algorithm follows at most 2d + 1 diagonals, and each is as long as the shorter text.
  const maxEditLength = Math.min(mostEdits, Math.floor(mostCompared / (2 * Math.min(a.length, b.length) + 1)));
  return structuredPatch('', '', a.join(''), b.join(''), '', '', { context, maxEditLength })?.hunks;
}

/** One hunk that replaces all that differs. */
function replacement({ a, b, head, tail }: Middle & { readonly tail: number }) {
  const lines = [
    ...a.slice(0, head).map((line) => ` ${line}`),
    ...a.slice(head, a.length - tail).map((line) => `-${line}`),
    ...b.slice(head, b.length - tail).map((line) => `+${line}`),
    ...a.slice(a.length - tail).map((line) => ` ${line}`),
  ];
  return {
    oldStart: 1,
    oldLines: a.length,
    newStart: 1,
    newLines: b.length,
    lines: lines.flatMap((line) =>
      line.endsWith('\n') ? [line.slice(0, -1)] : [line, '\\ No newline at end of file'],
    ),
  };
}
