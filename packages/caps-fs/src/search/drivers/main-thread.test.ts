/** Work on the main thread: all holders wait for it, so each gets little of it. The clock is the test's. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { Holder } from '../../root/holder.ts';
import { onMainThread } from './main-thread.ts';

/** A clock that moves only by `work`, and a counter of the rounds of the event loop. */
function scene() {
  let now = 1_000;
  let round = 0;
  let over = false;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const count = (): void => {
    round += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  onTestFinished(() => {
    over = true;
    clock.mockRestore();
  });
  return {
    pass: (ms: number): void => {
      now += ms;
    },
    work: (ms: number) => (): number => {
      now += ms;
      return round;
    },
    nextRound: () => new Promise<void>((resolve) => void setImmediate(resolve)),
  };
}

test('many holders ask for long attempts at once: no round of the event loop has more than one', async () => {
  const { work } = scene();
  const root = Holder.root();
  const asked = Array.from({ length: 12 }, () => onMainThread(root.below(), work(15)));
  const rounds = await Promise.all(asked);
  expect(new Set(rounds).size).toBe(12);
});

test('a holder whose attempt took long uses threads for three times as long, and its neighbour does not', async () => {
  const { work, pass, nextRound } = scene();
  const [hostile, neighbour] = [Holder.root().below(), Holder.root().below()];
  expect(await onMainThread(hostile, work(20))).toBeTypeOf('number');
  expect(await onMainThread(hostile, work(20))).toBeUndefined();
  expect(await onMainThread(neighbour, work(1))).toBeTypeOf('number');
  pass(30);
  await nextRound();
  expect(await onMainThread(hostile, work(20))).toBeUndefined();
  pass(30);
  await nextRound();
  expect(await onMainThread(hostile, work(20))).toBeTypeOf('number');
});

test('short attempts need no rest, and one that throws is counted like any other', async () => {
  const { work, nextRound } = scene();
  const holder = Holder.root().below();
  for (let i = 0; i < 50; i++) expect(await onMainThread(holder, work(1))).toBeTypeOf('number');
  await nextRound();
  const failing = onMainThread(holder, () => {
    work(20)();
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await onMainThread(holder, work(1))).toBeUndefined();
});

test('of the attempts of one holder that wait for the same round, one long attempt sends the others to threads', async () => {
  const { work } = scene();
  const holder = Holder.root().below();
  const done = await Promise.all(Array.from({ length: 6 }, () => onMainThread(holder, work(15))));
  expect(done.filter((round) => round !== undefined)).toHaveLength(1);
});
