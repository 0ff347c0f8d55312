/**
 * Computes how a cost grows with a size `n`: the slope of log(cost) over log(n).
 *
 * Only the last decade of sizes is judged. There the fixed part of a cost hides least of the growth.
 */
import type { Point } from '../measure.ts';

/** The exponent that fits `points` best: 1 is linear, 2 is quadratic. Points with the cost 0 do not count. */
export function exponentOf(points: readonly Point[]): number {
  const logs = points.filter(({ cost }) => cost > 0).map(({ n, cost }) => [Math.log(n), Math.log(cost)] as const);
  const mean = (of: 0 | 1): number => logs.reduce((sum, each) => sum + each[of], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const spread = logs.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
  return logs.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0) / spread;
}

/** The points of the last decade. */
export function lastDecade(points: readonly Point[]): readonly Point[] {
  const largest = Math.max(...points.map(({ n }) => n));
  return points.filter(({ n }) => n * 10 >= largest);
}

/** Allowed for the difference between two runs of the same measurement. */
const noise = 0.15;

/**
 * Returns the largest exponent that is allowed at the sizes of `points`: that of n log n for a cost of all `n`, that of
 * log n for a cost of one of them, and some more for noise.
 */
export function allowedFor(points: readonly Point[], of: 'one' | 'all'): number {
  const bound = points.map(({ n }) => ({ n, cost: Math.log(n) * (of === 'all' ? n : 1) }));
  return exponentOf(bound) + noise;
}
