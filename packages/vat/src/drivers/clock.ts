/**
 * The clocks of this machine.
 *
 * Promise: `boottime` never goes back, counts suspend, and drifts at most about a second from the kernel's
 * clock. `performance.now()` stops while the machine sleeps (CLOCK_MONOTONIC, nodejs/node #47724), so alone
 * it would lengthen every deadline by the length of the sleep. Reading the kernel's boot-time clock costs 10
 * us. So we use the cheap clock and correct it by the kernel's.
 */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { Clock } from '../time/clock.ts';

/** The kernel's boot-time clock is read again when the last reading is older than this, */
const REREAD_MS = 1000;
/**
 * or when the wall clock and the monotonic clock differ by this much since then: after a suspend or a clock
 * step.
 */
const JUMP_MS = 250;
/** `setTimeout` takes a signed 32-bit number of ms and fires at once above that. 90 days is above that. */
const LONGEST_TIMER_MS = 0x7fff_ffff;

/** Makes a clock from those of this machine. Its boot time counts suspends. See `Clock` for the units. */
export function systemClock(): Clock {
  return clockFrom({
    boottime: kernelBoottime,
    bootId: readBootId(),
    wall: () => Date.now(),
    tick: () => performance.now(),
  });
}

/** Returns a function that returns the ms since the machine was booted, also those in which it slept. */
export function bootClock(): () => number {
  const clock = systemClock();
  return () => clock.boottime();
}

/** The parts of a clock. Separate, so that a test can simulate a suspend. */
interface ClockParts {
  readonly bootId: string;
  boottime(): number;
  wall(): number;
  tick(): number;
}

export function clockFrom(parts: ClockParts): Clock {
  let read = { boottime: parts.boottime(), wall: parts.wall(), tick: parts.tick() };
  let latest = read.boottime;

  return {
    bootId: parts.bootId,
    wall: parts.wall,
    tick: parts.tick,
    boottime(wall = parts.wall()) {
      const tick = parts.tick();
      const passed = tick - read.tick;
      if (passed > REREAD_MS || Math.abs(wall - read.wall - passed) > JUMP_MS) {
        read = { boottime: parts.boottime(), wall, tick };
      }
      // The kernel counts in steps of 10 ms, so a new reading can lie below the last returned value.
      latest = Math.max(latest, read.boottime + (tick - read.tick));
      return latest;
    },
    after,
  };
}

function after(ms: number, then: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const arm = (left: number): void => {
    const leg = Math.min(left, LONGEST_TIMER_MS);
    timer = setTimeout(() => (left > leg ? arm(left - leg) : then()), leg);
    timer.unref(); // a timer of the vat must not keep the process alive
  };
  arm(Math.max(0, ms));
  return () => clearTimeout(timer);
}

function kernelBoottime(): number {
  const linux = tryRead('/proc/uptime');
  const seconds = linux === undefined ? uptime() : Number.parseFloat(linux);
  return Math.round((Number.isFinite(seconds) ? seconds : uptime()) * 1000);
}

/**
 * The id of this boot. Outside Linux it is the boot time, rounded to 10 s. It changes when the wall clock is
 * set, which looks like a new boot. Grants that end with the boot then end too early, never too late.
 */
function readBootId(): string {
  return (
    tryRead('/proc/sys/kernel/random/boot_id')?.trim() ||
    `booted-${Math.round((Date.now() - uptime() * 1000) / 10_000)}`
  );
}

function tryRead(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
