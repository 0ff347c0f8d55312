/**
 * How a cost grows with a size: the slope of its logarithm over that of the size.
 *
 * Promise: only the last decade of sizes counts. There the fixed part of a cost hides least of what grows.
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

/** As much as two runs of the same measurement differ. */
const noise = 0.15;

/**
 * The largest exponent that is no worse than n log n for all of `n`, or than log n for one of them, at the sizes of
 * `points`.
 */
export function allowedFor(points: readonly Point[], of: 'one' | 'all'): number {
  const bound = points.map(({ n }) => ({ n, cost: Math.log(n) * (of === 'all' ? n : 1) }));
  return exponentOf(bound) + noise;
}
