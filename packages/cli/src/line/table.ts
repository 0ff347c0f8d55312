/** Rows as text: aligned columns on a terminal, columns divided by tabs in a pipe. */

/** Lays out a table. On a terminal it has heads, which `bold` may stress; elsewhere it has none. */
export function tableLines(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  { isTerminal }: { readonly isTerminal: boolean },
): readonly string[] {
  if (!isTerminal) return rows.map((row) => row.map((cell) => cell.replaceAll('\t', ' ')).join('\t'));
  const all = [heads, ...rows];
  const widths = heads.map((_, n) => Math.max(...all.map((row) => lengthOf(row[n] ?? ''))));
  return all.map((row) => row.map((cell, n) => padded(cell, n === row.length - 1 ? 0 : (widths[n] ?? 0))).join('  '));
}

const lengthOf = (text: string): number => [...text].length;
const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - lengthOf(text)));
