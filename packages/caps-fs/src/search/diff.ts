/**
 * A unified diff of two texts, three lines of context.
 *
 * Promise: `patch -p0` turns the first text into the second with it. No pair of texts takes long: Myers'
 * algorithm runs for up to `maxEdits` changed lines. Beyond that, the diff replaces the whole differing
 * middle. After Myers, An O(ND) Difference Algorithm (1986).
 */
const context = 3;
const maxEdits = 1_000;

type Mark = ' ' | '-' | '+';
interface Line {
  readonly mark: Mark;
  readonly text: string;
}

export function unifiedDiff(before: string, after: string, name: string): string {
  if (before === after) return '';
  const hunks = hunksOf(script(linesOf(before), linesOf(after)));
  return `--- ${name}\n+++ ${name}\n${hunks.join('')}`;
}

/** Each line keeps its line end, so that a text without a final one differs from the same text with it. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Returns both texts as kept, removed and added lines. */
function script(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const shorter = Math.min(before.length, after.length) - head;
  while (tail < shorter && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const a = before.slice(head, before.length - tail);
  const b = after.slice(head, after.length - tail);
  const kept = (text: string): Line => ({ mark: ' ', text });
  return [
    ...before.slice(0, head).map(kept),
    ...(shortest(a, b) ?? [...a.map(removed), ...b.map(added)]),
    ...before.slice(before.length - tail).map(kept),
  ];
}

function removed(text: string): Line {
  return { mark: '-', text };
}

function added(text: string): Line {
  return { mark: '+', text };
}

/** Returns Myers' shortest edit script, or `undefined` if it is longer than `maxEdits`. */
function shortest(a: readonly string[], b: readonly string[]): Line[] | undefined {
  const far = new Int32Array(2 * maxEdits + 3);
  const center = maxEdits + 1;
  const trace: Int32Array[] = [];
  for (let d = 0; d <= Math.min(maxEdits, a.length + b.length); d++) {
    trace.push(far.slice(center - d - 1, center + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = stepsDown(far, center, d, k) ? at(far, center + k + 1) : at(far, center + k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      far[center + k] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, trace);
    }
  }
  return undefined;
}

function walkBack(a: readonly string[], b: readonly string[], trace: readonly Int32Array[]): Line[] {
  const lines: Line[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const far = trace[d] ?? new Int32Array();
    const k = x - y;
    const from = stepsDown(far, d + 1, d, k) ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : at(far, d + 1 + from);
    const fromY = d === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      x--;
      y--;
      lines.push({ mark: ' ', text: a[x] ?? '' });
    }
    if (x > fromX) lines.push(removed(a[--x] ?? ''));
    else if (y > fromY) lines.push(added(b[--y] ?? ''));
  }
  return lines.reverse();
}

function stepsDown(far: Int32Array, center: number, d: number, k: number): boolean {
  return k === -d || (k !== d && at(far, center + k - 1) < at(far, center + k + 1));
}

function at(numbers: Int32Array, index: number): number {
  return numbers[index] ?? 0;
}

function hunksOf(lines: readonly Line[]): string[] {
  const hunks: string[] = [];
  let old = 1;
  let fresh = 1;
  for (let i = 0; i < lines.length; ) {
    let first = i;
    while (lines[first]?.mark === ' ') first++;
    if (first >= lines.length) break;
    const start = Math.max(i, first - context);
    old += start - i;
    fresh += start - i;
    const hunk = lines.slice(start, endOfHunk(lines, first));
    const olds = hunk.filter((line) => line.mark !== '+').length;
    const freshes = hunk.filter((line) => line.mark !== '-').length;
    hunks.push(`@@ -${range(old, olds)} +${range(fresh, freshes)} @@\n${hunk.map(shown).join('')}`);
    old += olds;
    fresh += freshes;
    i = start + hunk.length;
  }
  return hunks;
}

/** Changes whose contexts touch share a hunk. */
function endOfHunk(lines: readonly Line[], first: number): number {
  let last = first;
  for (let i = first; i < lines.length && i <= last + 2 * context; i++) if (lines[i]?.mark !== ' ') last = i;
  return Math.min(lines.length, last + context + 1);
}

function range(start: number, count: number): string {
  return count === 1 ? `${start}` : `${count === 0 ? start - 1 : start},${count}`;
}

function shown({ mark, text }: Line): string {
  return text.endsWith('\n') ? mark + text : `${mark}${text}\n\\ No newline at end of file\n`;
}
