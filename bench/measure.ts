/**
 * Measures ours and a peer by turns in one process, and takes the medians of both.
 *
 * Promise: a round of ours stands beside a round of the peer, so a slow machine slows both. A goal is
 * judged by the printed numbers. `ratio` is ours / peer in time per operation: below 1 is faster.
 */

/** Runs `n` operations. Returns a figure in the unit of the case. If it returns nothing, the caller takes the time. */
export type Side = (n: number) => number | void | Promise<number | void>;

export interface Goal {
  /** As the issue words it. */
  readonly text: string;
  met(row: { readonly ours: number; readonly peer: number; readonly ratio: number }): boolean;
}

export interface Case {
  readonly name: string;
  readonly ours: Side;
  readonly peer?: Side;
  /** Operations in a round: one round should take 20 ms or more. */
  readonly n: number;
  readonly rounds?: number;
  /** The unit of the figures that `ours` and `peer` return. Default: ns per operation, which the caller measures. */
  readonly unit?: string;
  readonly goal?: Goal;
  /** Why the goal is missed, if that is known. Printed only if it is missed. */
  readonly whenMissed?: string;
  /** Left out by `--quick`. */
  readonly slow?: boolean;
  /** Returns the measurements behind the figure, for the JSON file. Called after the rounds. */
  points?(): readonly Point[];
}

/** The cost of an operation at a size. */
export interface Point {
  readonly n: number;
  readonly cost: number;
}

export interface Suite {
  readonly name: string;
  readonly cases: readonly Case[];
  /** Ends processes and removes files that the cases share. */
  close?(): Promise<void>;
}

/** One line of the JSON file. */
export interface Row {
  readonly suite: string;
  readonly case: string;
  readonly ours: number;
  readonly peer: number | null;
  readonly ratio: number | null;
  readonly rounds: number;
  readonly unit: string;
  readonly goal?: string;
  readonly verdict?: 'met' | 'missed';
  readonly note?: string;
  readonly points?: readonly Point[];
}

export async function measure(suite: string, spec: Case): Promise<Row> {
  const { name, ours, peer, n, rounds = 11, unit = 'ns', goal, whenMissed } = spec;
  const samples: { ours: number[]; peer: number[] } = { ours: [], peer: [] };
  for (let round = -1; round < rounds; round += 1) {
    const a = await time(ours, n);
    const b = peer === undefined ? Number.NaN : await time(peer, n);
    // The first round is for the compiler.
    if (round < 0 && rounds > 1) continue;
    samples.ours.push(a);
    samples.peer.push(b);
  }
  const figures = { ours: median(samples.ours), peer: median(samples.peer), ratio: Number.NaN };
  figures.ratio = figures.ours / figures.peer;
  const orNull = (figure: number): number | null => (Number.isNaN(figure) ? null : round4(figure));
  const verdict = goal === undefined ? undefined : goal.met(figures) ? 'met' : 'missed';
  return {
    suite,
    case: name,
    ours: round4(figures.ours),
    peer: orNull(figures.peer),
    ratio: orNull(figures.ratio),
    rounds,
    unit,
    ...(goal === undefined || verdict === undefined ? {} : { goal: goal.text, verdict }),
    ...(verdict === 'missed' && whenMissed !== undefined ? { note: whenMissed } : {}),
    ...(spec.points === undefined ? {} : { points: spec.points() }),
  };
}

async function time(side: Side, n: number): Promise<number> {
  const began = performance.now();
  const answer = side(n);
  const own = answer instanceof Promise ? await answer : answer;
  return own ?? ((performance.now() - began) * 1e6) / n;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 50);
}

export function percentile(samples: readonly number[], percent: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

/** Rounds to four significant digits. */
const round4 = (figure: number): number => Number(figure.toPrecision(4));

/** Returns the rows as a table for a person. */
export function table(rows: readonly Row[]): string {
  const head = ['suite', 'case', 'ours', 'peer', 'ratio', 'unit', 'goal', ''];
  const text = rows.map((row) => [
    row.suite,
    row.case,
    show(row.ours),
    show(row.peer),
    show(row.ratio),
    row.unit,
    row.goal ?? '',
    row.verdict ?? '',
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...text.map((row) => row[column]?.length ?? 0)));
  const right = new Set([2, 3, 4]);
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const notes = rows.filter(({ note }) => note !== undefined).map((row) => `${row.suite}: ${row.case}: ${row.note}`);
  return [line(head), ...text.map(line), ...notes].join('\n');
}

const show = (figure: number | null): string =>
  figure === null ? '' : figure >= 1000 ? figure.toFixed(0) : String(Number(figure.toPrecision(3)));
