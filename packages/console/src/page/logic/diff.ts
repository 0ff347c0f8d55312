/** The unified diff of a request, as rows for the two ways in which a page shows it. */

export interface DiffLine {
  readonly kind: 'same' | 'out' | 'in' | 'head';
  readonly text: string;
}

/** One row of the view side by side. A side without a line is undefined. */
interface DiffPair {
  readonly left?: DiffLine;
  readonly right?: DiffLine;
}

/** The lines of a unified diff. */
export const linesOf = (diff: string): readonly DiffLine[] =>
  diff.split('\n').map((line) => {
    if (/^(?:---|\+\+\+|@@)/.test(line)) return { kind: 'head', text: line };
    if (line.startsWith('-')) return { kind: 'out', text: line.slice(1) };
    if (line.startsWith('+')) return { kind: 'in', text: line.slice(1) };
    return { kind: 'same', text: line.startsWith(' ') ? line.slice(1) : line };
  });

/** Removed lines stand beside the added lines that follow them. */
export function pairsOf(lines: readonly DiffLine[]): readonly DiffPair[] {
  const pairs: DiffPair[] = [];
  let out: DiffLine[] = [];
  let into: DiffLine[] = [];
  const flush = (): void => {
    for (let at = 0; at < Math.max(out.length, into.length); at += 1)
      pairs.push({ ...(out[at] && { left: out[at] }), ...(into[at] && { right: into[at] }) });
    [out, into] = [[], []];
  };
  for (const line of lines) {
    if (line.kind === 'out' && into.length > 0) flush();
    if (line.kind === 'out') out.push(line);
    else if (line.kind === 'in') into.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}
