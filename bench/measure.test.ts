import { spawn } from 'node:child_process';
import { cpus } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { loadText, otherWork } from './load.ts';
import { measure, median, percentile, table } from './measure.ts';

test('a row is the medians of interleaved rounds, their ratio, and the verdict on them', async () => {
  const order: string[] = [];
  const figures = [9, 1, 2, 3];
  const row = await measure('suite', {
    name: 'case',
    n: 1,
    rounds: 3,
    unit: 'ms',
    ours: () => {
      order.push('ours');
      return figures.shift() ?? 0;
    },
    peer: async () => {
      order.push('peer');
      return 4;
    },
    goal: { text: '<= 0.4 x', met: ({ ratio }) => ratio <= 0.4 },
  });
  expect(row).toEqual({
    suite: 'suite',
    case: 'case',
    ours: 2,
    peer: 4,
    ratio: 0.5,
    rounds: 3,
    unit: 'ms',
    goal: '<= 0.4 x',
    verdict: 'missed',
  });
  // One round of each is for the compiler and does not count: the 9 is not in it.
  expect(order).toEqual(Array.from({ length: 4 }, () => ['ours', 'peer']).flat());
  expect(table([row])).toMatch(/suite +case +2 +4 +0\.5 +ms +<= 0\.4 x +missed/);
});

test('why a goal is missed is said in the row and below the table, and only where it is missed', async () => {
  const spec = (ours: number) => ({
    name: 'c',
    n: 1,
    rounds: 1,
    ours: () => ours,
    goal: { text: '<= 1', met: (row: { readonly ours: number }) => row.ours <= 1 },
    whenMissed: 'the disk is slow',
  });
  const [good, bad] = [await measure('s', spec(1)), await measure('s', spec(2))];
  expect([good.note, bad.note]).toEqual([undefined, 'the disk is slow']);
  expect(table([good, bad]).split('\n').slice(3)).toEqual(['s: c: the disk is slow']);
});

test('without a peer there is no ratio; what a side does not measure is timed in ns an operation', async () => {
  const began = performance.now();
  const row = await measure('s', {
    name: 'c',
    n: 10,
    rounds: 1,
    ours: () => new Promise((done) => setTimeout(done, 20)),
  });
  expect([row.peer, row.ratio, row.unit]).toEqual([null, null, 'ns']);
  expect(row.ours).toBeGreaterThan(1.5e6);
  expect(row.ours).toBeLessThan((performance.now() - began) * 1e5);
});

test('the points behind a figure are in its row, as they are after the rounds', async () => {
  const points: { readonly n: number; readonly cost: number }[] = [];
  const ours = (): number => points.push({ n: 10, cost: points.length });
  const row = await measure('s', { name: 'c', n: 1, rounds: 1, ours, points: () => points });
  expect(row.points).toEqual([0, 1].map((cost) => ({ n: 10, cost })));
  expect(await measure('s', { name: 'c', n: 1, rounds: 1, ours: () => 1 })).not.toHaveProperty('points');
});

test('median and percentiles are samples that were there', () => {
  expect(median([5, 1, 3])).toBe(3);
  expect(percentile([1, 2, 3, 4], 99)).toBe(4);
  expect(median([])).toBeNaN();
});

test('other work counts the processors that other programs use, and is printed for each suite', async () => {
  const idle = await otherWork(200);
  const program = `const until = Date.now() + 60_000; while (Date.now() < until);`;
  const busy = spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
  onTestFinished(() => void busy.kill('SIGKILL'));
  await expect.poll(() => otherWork(200), { timeout: 20_000 }).toBeGreaterThan(0.5);
  for (const load of [idle, await otherWork(50)]) {
    expect(load).toBeGreaterThanOrEqual(0);
    expect(load).toBeLessThanOrEqual(cpus().length);
  }
  expect(loadText({ fs: 0.04, vat: 1.26 })).toMatch(/fs 0\.0, vat 1\.3$/);
});
