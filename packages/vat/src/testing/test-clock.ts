/**
 * A clock that a test moves by hand. Embedders can use it too.
 *
 * Promise: time moves only when the test says so. Timers fire inside `advance` in the order of their due
 * times, and equal times in the order they were set. Each timer sees its own due time on the clock.
 */
import { takeOptions } from '../core/options.ts';
import type { Clock } from '../time/clock.ts';

/** A clock that stands still until a test moves it. All times are in ms. */
export interface TestClock extends Clock {
  /** Moves every clock by `ms` and fires the timers that fall due. */
  advance(ms: number): void;
  /** Steps the wall clock forward or back, as if somebody set it. Nothing else moves. */
  stepWall(ms: number): void;
  /** Reboots the machine after `downMs`: a new boot id, boot time from 0, and no timer survives. */
  reboot(downMs?: number): void;
  /** The number of timers still set. A test asserts that none is left. */
  pending(): number;
}

/**
 * Makes a clock at the given times, in ms. Without them it starts at fixed ones, so that tests are alike
 * each time.
 */
export function testClock(start?: { readonly wall?: number; readonly boottime?: number }): TestClock {
  let { wall = 1_800_000_000_000, boottime = 1_000_000 } = takeOptions(start, 'testClock', {
    wall: true,
    boottime: true,
  });
  let tick = 0;
  let boots = 1;
  let timers: readonly { readonly due: number; readonly then: () => void }[] = []; // in the order they were set

  function move(ms: number): void {
    wall += ms;
    boottime += ms;
    tick += ms;
  }

  return {
    boottime: () => boottime,
    wall: () => wall,
    tick: () => tick,
    get bootId() {
      return `test-boot-${boots}`;
    },
    after(ms, then) {
      const timer = { due: tick + Math.max(0, ms), then };
      timers = [...timers, timer];
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      if (!(ms >= 0))
        throw new RangeError('time only goes forward: advance takes ms >= 0, stepWall sets the wall clock back');
      const end = tick + ms;
      for (;;) {
        // Searched again each round: a timer may set or cancel others, including some due within this
        // advance.
        const next = timers.reduce<(typeof timers)[number] | undefined>(
          (first, timer) => (timer.due <= end && (first === undefined || timer.due < first.due) ? timer : first),
          undefined,
        );
        if (next === undefined) break;
        timers = timers.filter((other) => other !== next);
        move(Math.max(0, next.due - tick));
        next.then();
      }
      move(end - tick);
    },
    stepWall(ms) {
      wall += ms;
    },
    reboot(downMs = 0) {
      wall += downMs;
      boottime = 0;
      boots += 1;
      timers = [];
    },
    pending: () => timers.length,
  };
}
