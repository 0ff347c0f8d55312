import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Point } from '../measure.ts';
import { allowedFor, exponentOf, lastDecade } from './fit.ts';

const sizes = [100, 300, 1000, 3000, 10_000, 30_000, 100_000];
const of = (cost: (n: number) => number): readonly Point[] => sizes.map((n) => ({ n, cost: cost(n) }));

test('the exponent of a power of n is found, whatever its factor is', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 3, noNaN: true }), fc.double({ min: 0.01, max: 1e4, noNaN: true }), (e, a) => {
      expect(exponentOf(of((n) => a * n ** e))).toBeCloseTo(e, 6);
    }),
  );
});

test('only the last decade counts: a fixed part does not hide what grows', () => {
  expect(lastDecade(of(() => 1)).map(({ n }) => n)).toEqual([10_000, 30_000, 100_000]);
  const points = of((n) => 1e6 + n ** 2);
  expect(exponentOf(points)).toBeLessThan(1.5);
  expect(exponentOf(lastDecade(points))).toBeGreaterThan(1.9);
});

test('n log n is allowed for all of n and n^1.5 is not; log n is allowed for one and a root of n is not', () => {
  const judged = (of_: 'one' | 'all', cost: (n: number) => number): boolean => {
    const points = lastDecade(of(cost));
    return exponentOf(points) <= allowedFor(points, of_);
  };
  expect(judged('all', (n) => n * Math.log(n))).toBe(true);
  expect(judged('all', (n) => n ** 1.5)).toBe(false);
  expect(judged('one', Math.log)).toBe(true);
  expect(judged('one', (n) => n ** 0.5)).toBe(false);
});
