/**
 * Restarts, suspends, set clocks and reboots do not lengthen a deadline, and a deadline that has passed stays
 * passed.
 */
import { expect, test } from 'vitest';
import { chanceSeed } from '../../../../test/seed.ts';
import { testClock } from '../testing/test-clock.ts';
import type { Clock } from './clock.ts';
import { type Deadline, type SavedTime, VatTime } from './time.ts';

const MINUTE = 60_000;

test('vat time is exact over restarts, whatever was saved last, and goes on while no process runs', () => {
  const clock = testClock();
  const first = new VatTime(clock);
  const early = first.saved();
  const deadline = first.deadline(10 * MINUTE);
  clock.advance(3 * MINUTE);
  const late = first.saved();
  clock.advance(2 * MINUTE);
  for (const saved of [early, late, JSON.parse(JSON.stringify(late))]) {
    const time = new VatTime(clock, saved);
    expect(time.now()).toBe(first.now());
    expect(time.look(deadline)).toBe(deadline);
  }
  clock.advance(5 * MINUTE - 1);
  expect(new VatTime(clock, early).look(deadline).over).toBe(false);
  clock.advance(1);
  expect(new VatTime(clock, early).look(deadline).over).toBe(true);
});

test('a boot ends what dies with it; what outlives it goes on by the wall clock', () => {
  const clock = testClock();
  const before = new VatTime(clock);
  const dies = before.deadline(60 * MINUTE);
  const outlives = before.deadline(60 * MINUTE, { outlivesBoot: true });
  const saved = before.saved();
  clock.reboot(20 * MINUTE);
  const after = new VatTime(clock, saved);
  expect(after.now() - saved.v).toBe(20 * MINUTE);
  expect(after.look(dies)).toEqual({ ...dies, over: true });
  expect(after.look(outlives)).toBe(outlives);
  clock.advance(40 * MINUTE);
  expect(after.look(outlives).over).toBe(true);
});

test('a wall clock set forward ends a deadline early, and setting it back revives nothing', () => {
  const clock = testClock();
  const time = new VatTime(clock);
  const deadline = time.deadline(MINUTE);
  clock.stepWall(MINUTE);
  const latched = time.look(deadline);
  expect(latched.over).toBe(true);
  clock.stepWall(-MINUTE);
  expect(time.look(latched).over).toBe(true);
  expect(new VatTime(clock, time.saved()).look(JSON.parse(JSON.stringify(latched))).over).toBe(true);
});

test('a clock set back while the machine was off ends what outlives boots, if it shows; it gains at most the time off, if not', () => {
  for (const [step, over] of [
    [-21 * MINUTE, true],
    [-19 * MINUTE, false],
  ] as const) {
    const clock = testClock();
    const before = new VatTime(clock);
    const deadline = before.deadline(60 * MINUTE, { outlivesBoot: true });
    const saved = before.saved();
    clock.reboot(20 * MINUTE);
    clock.stepWall(step);
    const after = new VatTime(clock, saved);
    expect(after.look(deadline).over).toBe(over);
    const fresh = after.deadline(MINUTE);
    expect(after.look(fresh)).toBe(fresh);
    clock.advance(60 * MINUTE);
    expect(after.look(deadline).over).toBe(true);
  }
});

test('after a boot at least the time since it has passed, although the wall clock says less', () => {
  const clock = testClock();
  const saved = new VatTime(clock).saved();
  clock.reboot(0);
  clock.advance(30 * MINUTE);
  clock.stepWall(-29 * MINUTE);
  expect(new VatTime(clock, saved).now() - saved.v).toBe(30 * MINUTE);
});

test('a boot-time clock that went back within a boot is not believed; its steps of some ms are', () => {
  const at = { boottime: 5_000_000 };
  const clock: Clock = { ...testClock(), bootId: 'b', boottime: () => at.boottime };
  const time = new VatTime(clock);
  const deadline = time.deadline(MINUTE, { outlivesBoot: true });
  const saved = time.saved();
  at.boottime -= 10;
  expect(new VatTime(clock, saved).now()).toBe(saved.v);
  expect(new VatTime(clock, saved).look(deadline).over).toBe(false);
  at.boottime -= MINUTE; // a snapshot of the machine, put back
  expect(new VatTime(clock, saved).look(deadline).over).toBe(true);
});

test('no deadline without an end, and no saved time that is none', () => {
  const time = new VatTime(testClock());
  for (const ms of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => time.deadline(ms)).toThrow(expect.objectContaining({ code: 'invalid' }));
  for (const wrong of [{ v: Number.NaN }, { wall: undefined }, { boottime: null }, { bootId: 7 }])
    expect(() => new VatTime(testClock(), { ...time.saved(), ...wrong } as SavedTime)).toThrow(
      expect.objectContaining({ code: 'invalid' }),
    );
  const deadline = time.deadline(MINUTE);
  for (const wrong of [{ v: Number.NaN }, { wall: Number.NaN }])
    expect(time.look({ ...deadline, ...wrong }).over).toBe(true);
});

// ---- random histories ------------------------------------------------------------------------------------------------

/** A machine and its clocks. Nobody in it can read `real`. Whole ms, so that edges are hit exactly. */
class Machine implements Clock {
  real = 0;
  #boot = 5_000;
  #wall = 1_800_000_000_000;
  #tick = 5_000;
  #boots = 1;

  boottime = (): number => this.#boot;
  wall = (): number => this.#wall;
  tick = (): number => this.#tick;
  after = (): never => expect.fail('authority is not decided by timers');
  get bootId(): string {
    return `boot-${this.#boots}`;
  }

  run(ms: number): void {
    this.#tick += ms;
    this.sleep(ms);
  }
  /** The monotonic clock stands still. */
  sleep(ms: number): void {
    this.real += ms;
    this.#boot += ms;
    this.#wall += ms;
  }
  step(ms: number): void {
    this.#wall += ms;
  }
  reboot(offMs: number, upMs: number): void {
    this.real += offMs + upMs;
    this.#wall += offMs + upMs;
    this.#boot = upMs;
    this.#tick = upMs;
    this.#boots += 1;
  }
}

/** mulberry32: a history is repeated by its number. */
function chanceFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** The results of one rule in one history. */
interface Findings {
  /** The most ms after the deadline at which it was still live. Below 0: never. */
  worst: number;
  /** It was refused, and later live again. */
  revived: boolean;
}

const RULES = ['dies with its boot', 'outlives boots', 'without the latch', 'wall clock', 'hrtime'] as const;
type Rule = (typeof RULES)[number];

/**
 * Runs one history of a deadline under every rule. `setBack`: how far the wall clock was set back while only
 * it counts.
 */
function live(number: number): { readonly findings: Readonly<Record<Rule, Findings>>; readonly setBack: number } {
  const chance = chanceFrom(number);
  const machine = new Machine();
  let time = new VatTime(machine);
  machine.run(chance(100_000));
  const term = 30_000 + chance(900_000);
  const end = machine.real + term;

  const kept: Record<'dies' | 'outlives', Deadline> = {
    dies: time.deadline(term),
    outlives: time.deadline(term, { outlivesBoot: true }),
  };
  const unlatched = kept.dies;
  const wallEnd = machine.wall() + term;
  let hrtime = { left: term, tick: machine.tick() };
  const hrtimeLeft = (): number => hrtime.left - (machine.tick() - hrtime.tick);

  let saved = { time: time.saved(), real: machine.real, hrtimeLeft: term };
  const save = (): void => {
    saved = { time: time.saved(), real: machine.real, hrtimeLeft: hrtimeLeft() };
  };
  let steps = 0; // of the wall clock since the last save
  let setBack = 0;
  const start = (): void => {
    time = new VatTime(machine, saved.time);
    hrtime = { left: saved.hrtimeLeft, tick: machine.tick() };
  };

  const findings = Object.fromEntries(RULES.map((rule) => [rule, { worst: -1, revived: false }])) as Record<
    Rule,
    Findings
  >;
  const refused = new Set<Rule>();
  const note = (rule: Rule, isLive: boolean): void => {
    const found = findings[rule];
    if (!isLive) refused.add(rule);
    else {
      if (refused.has(rule)) found.revived = true;
      if (machine.real >= end) found.worst = Math.max(found.worst, machine.real - end);
    }
  };
  const ask = (): void => {
    kept.dies = time.look(kept.dies);
    kept.outlives = time.look(kept.outlives);
    note('dies with its boot', !kept.dies.over);
    note('outlives boots', !kept.outlives.over);
    note('without the latch', !time.look(unlatched).over);
    note('wall clock', machine.wall() < wallEnd);
    note('hrtime', hrtimeLeft() > 0);
  };

  for (let events = 4 + chance(16); events > 0; events -= 1) {
    switch (chance(8)) {
      case 0:
        machine.sleep(chance(600_000));
        break;
      case 1:
      case 2: {
        const ms = chance(800_001) - 400_000;
        machine.step(ms);
        steps += ms;
        break;
      }
      case 3: // in good order, or killed
        if (chance(2) === 0) {
          save();
          steps = 0;
        }
        machine.run(chance(60_000));
        start();
        break;
      case 4: {
        if (chance(2) === 0) {
          save();
          steps = 0;
        }
        machine.reboot(chance(600_000), chance(60_000));
        if (chance(2) === 0) {
          const ms = -chance(400_000);
          machine.step(ms);
          steps += ms;
        }
        start();
        setBack += Math.max(0, -steps);
        save(); // with the first commit of the new life
        steps = 0;
        break;
      }
      case 5: // the very moment
        machine.run(Math.max(0, end - machine.real));
        break;
      default:
        machine.run(chance(200_000));
    }
    if (chance(4) === 0) {
      save();
      steps = 0;
    }
    ask();
  }
  return { findings, setBack };
}

test('100,000 random histories: nothing extended, nothing revived; the rules that others use fail in the same histories', () => {
  const HISTORIES = 100_000;
  const first = chanceSeed;
  const extended = new Map<Rule, number>(RULES.map((rule) => [rule, 0]));
  let revived = 0;
  for (let number = first; number < first + HISTORIES; number += 1) {
    const { findings, setBack } = live(number);
    const { 'dies with its boot': dies, 'outlives boots': outlives } = findings;
    if (dies.worst >= 0 || dies.revived || outlives.revived)
      expect.fail(`history ${number}: ${JSON.stringify(findings)}`);
    // A deadline that survives boots gains at most the time by which the clock was set back unseen while the
    // machine was off. Without that, it gains nothing.
    if (outlives.worst >= setBack)
      expect.fail(`history ${number}: ${outlives.worst} ms gained, the clock was set back by ${setBack} ms`);
    for (const rule of RULES) if (findings[rule].worst >= 0) extended.set(rule, (extended.get(rule) ?? 0) + 1);
    if (findings['without the latch'].revived) revived += 1;
  }
  const percent = (count: number | undefined): number => ((count ?? 0) / HISTORIES) * 100;
  expect(percent(extended.get('dies with its boot'))).toBe(0);
  // If these rules stopped failing, the histories would no longer test anything.
  expect(percent(extended.get('wall clock'))).toBeGreaterThan(20);
  expect(percent(extended.get('hrtime'))).toBeGreaterThan(50);
  expect(percent(extended.get('outlives boots'))).toBeGreaterThan(0.5);
  expect(percent(revived)).toBeGreaterThan(0.5);
});
