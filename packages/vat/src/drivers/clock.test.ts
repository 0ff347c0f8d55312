import { expect, test } from 'vitest';
import { clockFrom, systemClock } from './clock.ts';

/** A machine whose clocks can each be set. */
function machine() {
  const at = { boottime: 5_000_000, wall: 1_800_000_000_000, tick: 100, reads: 0 };
  const clock = clockFrom({
    bootId: 'b',
    wall: () => at.wall,
    tick: () => at.tick,
    boottime: () => {
      at.reads += 1;
      return Math.floor(at.boottime / 10) * 10; // as /proc/uptime: steps of 10 ms
    },
  });
  const run = (ms: number) => {
    at.boottime += ms;
    at.wall += ms;
    at.tick += ms;
  };
  return { at, clock, run };
}

test('a sleep of the machine counts, although the monotonic clock stood still', () => {
  const { at, clock, run } = machine();
  const before = clock.boottime();
  run(50);
  at.boottime += 3_600_000; // an hour with the lid shut
  at.wall += 3_600_000;
  expect(clock.boottime() - before).toBeGreaterThanOrEqual(3_600_000);
});

test('a sleep of the machine also counts if the caller gives the reading of the wall clock', () => {
  const { at, clock, run } = machine();
  const before = clock.boottime(at.wall);
  run(50);
  at.boottime += 3_600_000;
  at.wall += 3_600_000; // as Linux sets it after a sleep
  expect(clock.boottime(at.wall) - before).toBeGreaterThanOrEqual(3_600_000);
});

test('a sleep hidden by a wall clock set back the same amount is noticed within a second', () => {
  const { at, clock, run } = machine();
  const before = clock.boottime();
  at.boottime += 3_600_000;
  run(1001);
  expect(clock.boottime() - before).toBeGreaterThanOrEqual(3_600_000);
});

test('a wall clock that is set does not move the boot time', () => {
  const { at, clock, run } = machine();
  const before = clock.boottime();
  at.wall -= 86_400_000;
  run(20);
  expect(clock.boottime() - before).toBeLessThanOrEqual(20);
  at.wall += 2 * 86_400_000;
  expect(clock.boottime() - before).toBeLessThanOrEqual(20);
});

test('it never goes back, whatever the 10 ms steps of the kernel say, and seldom asks it', () => {
  const { at, clock, run } = machine();
  let last = clock.boottime();
  for (let i = 0; i < 10_000; i += 1) {
    run(0.7 + (i % 7) / 3);
    const now = clock.boottime();
    expect(now).toBeGreaterThanOrEqual(last);
    expect(Math.abs(now - at.boottime)).toBeLessThanOrEqual(20);
    last = now;
  }
  expect(at.reads).toBeLessThan(30);
});

test('the clock of this machine runs, and a timer of 90 days does not fire at once', async () => {
  const clock = systemClock();
  expect(clock.bootId).toMatch(/\S/);
  expect(systemClock().bootId).toBe(clock.bootId);
  const cancel = clock.after(90 * 86_400_000, () => expect.fail('90 days have not passed'));
  const gone = clock.after(1, () => expect.fail('it was cancelled'));
  gone();
  const [boot, tick] = [clock.boottime(), clock.tick()];
  await new Promise<void>((resolve) => {
    clock.after(20, resolve);
  });
  cancel();
  expect(clock.tick() - tick).toBeGreaterThan(15);
  expect(clock.boottime() - boot).toBeGreaterThan(15);
  expect(Math.abs(clock.wall() - Date.now())).toBeLessThan(1000);
});
