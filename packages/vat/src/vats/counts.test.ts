/** `vats.counts()`: what vats have done, in numbers. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Counts } from '../durable/counts.ts';
import type { Commit } from '../durable/output-commit.ts';
import { type Definition, define, E, ledgerLine, openStore, openVats } from '../index.ts';
import { openVatsThrough } from './vats.ts';

interface Counter {
  add(): number;
  note(): void;
  read(): number;
  fail(): void;
}
const Counter: Definition<Counter, [n: number]> = define('Counter', (bcom, n) => ({
  add: () => bcom(Counter(n + 1), n + 1) as never,
  note: () => void ledgerLine('call', { grant: 'g', method: 'note' }),
  read: () => n,
  fail: () => {
    throw new Error('no');
  },
}));

test('turns, commits with their times, entries by kind and lines are counted; what a lost commit would have brought is not', async () => {
  let now = 0;
  let fails = false;
  const through =
    (commit: Commit): Commit =>
    (writes, done) => {
      now += 3;
      if (fails) done(new Error('no disk'));
      else commit(writes, done);
    };
  await using store = await openStore({ memory: true });
  const clock = { bootId: 'x', wall: () => 0, boottime: () => now, tick: () => now, after: () => () => {} };
  await using vats = await openVatsThrough({ store, clock, definitions: [Counter] }, through);
  const counter = await vats.vat('a').root('counter', () => Counter(0));
  await vats.settled();
  const before = vats.counts();
  expect(before.epoch).toBe(1);
  expect(before.commits.ms).toBe(before.commits.done * 3);

  await E(counter).add();
  await E(counter).note();
  await E(counter).note();
  await vats.settled();
  const after = vats.counts();
  expect(after.turns - before.turns).toBeGreaterThanOrEqual(3);
  expect([after.entries['call'], after.lines - before.lines]).toEqual([2, 2]);
  expect(after.commits.done - before.commits.done).toBe(3);
  expect(after.commits.within.map(({ ms, count }) => count === (ms >= 3 ? after.commits.done : 0))).not.toContain(
    false,
  );

  // A turn that reads, and one that fails, are turns and no commits.
  await E(counter).read();
  await E(counter)
    .fail()
    .catch(() => {});
  expect(vats.counts().commits).toEqual(after.commits);
  expect(vats.counts().turns).toBeGreaterThan(after.turns);

  fails = true;
  await expect(E(counter).note()).rejects.toMatchObject({ code: 'unknown-outcome' });
  fails = false;
  const lost = vats.counts();
  expect([lost.commits.failed, lost.entries['call'], lost.commits.done]).toEqual([1, 2, after.commits.done]);
});

test('vats without a store count turns alone', async () => {
  await using vats = await openVats();
  await vats.vat('a').turn(() => 1);
  expect(vats.counts()).toMatchObject({ turns: 1, commits: { done: 0 }, entries: {}, lines: 0, epoch: 0 });
});

test('each commit is within every bound that is not below its time, and the sums are those of the commits', () => {
  const times = fc.array(fc.double({ min: 0, max: 10_000, noNaN: true }), { maxLength: 50 });
  fc.assert(
    fc.property(times, (all) => {
      const counts = new Counts();
      for (const ms of all) counts.committed(ms, [{ kind: 'call' }]);
      const { done, ms: sum, within } = counts.commits;
      expect([done, counts.entries['call'] ?? 0]).toEqual([all.length, all.length]);
      expect(sum).toBeCloseTo(all.reduce((total, each) => total + each, 0));
      for (const { ms, count } of within) expect(count).toBe(all.filter((each) => each <= ms).length);
    }),
  );
});
