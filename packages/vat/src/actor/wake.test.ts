/** Alarms of actors: in time, once, undone with their turn, and still set after a restart. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { openHere } from '../../crash/here.ts';
import { CapError } from '../core/errors.ts';
import type { Definition, Far } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { type TestClock, testClock } from '../testing/test-clock.ts';
import { define } from '../turn/portrait.ts';
import { vatTime } from '../turn/turn.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';
import { cancelWake, wakeAt } from './wake.ts';

interface Sleeper {
  /** `fails` undoes the turn. */
  sleep(ms: number, what: string, fails?: boolean): string;
  twice(ms: number, what: string): void;
  cancel(id: string, fails?: boolean): void;
  wake(what: string): void;
  heard(): readonly string[];
}
const Sleeper: Definition<Sleeper, [heard: readonly string[]]> = define('Sleeper', (bcom, heard) => {
  const maybe = (fails: boolean | undefined): void => {
    if (fails === true) throw new CapError('invalid', 'undone');
  };
  return {
    sleep(ms, what, fails) {
      const id = wakeAt(vatTime() + ms, bcom.self, 'wake', what);
      maybe(fails);
      return id;
    },
    twice(ms, what) {
      cancelWake(wakeAt(vatTime() + ms, bcom.self, 'wake', `${what} cancelled`));
      wakeAt(vatTime() + ms, bcom.self, 'wake', what);
    },
    cancel(id, fails) {
      cancelWake(id);
      maybe(fails);
    },
    wake: (what) => bcom(Sleeper([...heard, `${what}@${vatTime()}`])),
    heard: () => heard,
  };
});

/** Opens the same folder repeatedly, like one process after the other. */
function machine(): { boot(clock: TestClock): Promise<{ vats: Vats; sleeper: Far<Sleeper> }>; stop(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'hob-wake-'));
  const path = join(folder, 'state');
  let close = async (): Promise<void> => {};
  const stop = (): Promise<void> => close();
  onTestFinished(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });
  return {
    stop,
    async boot(clock) {
      await stop();
      const store = openHere(path);
      const vats = await openVats({ store, clock, definitions: [Sleeper] });
      close = async () => {
        close = async () => {};
        await vats.close();
        await store.close();
      };
      return { vats, sleeper: await vats.vat('home').root('sleeper', () => Sleeper([])) };
    },
  };
}
async function inMemory(): Promise<{ clock: TestClock; sleeper: Far<Sleeper>; vats: Vats }> {
  const clock = testClock({ boottime: 0 });
  const vats = await openVats({ clock });
  onTestFinished(() => vats.close());
  return { clock, vats, sleeper: await vats.vat('home').spawn(Sleeper([])) };
}
const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );

test('a wake arrives at its time, in a turn of its own, and not a millisecond before', async () => {
  const { clock, sleeper } = await inMemory();
  await E(sleeper).sleep(100, 'a');
  clock.advance(99);
  expect(await E(sleeper).heard()).toEqual([]);
  clock.advance(1);
  expect(await E(sleeper).heard()).toEqual(['a@100']);
  clock.advance(1000);
  expect(await E(sleeper).heard()).toEqual(['a@100']);
});

test('one timer serves them all, in the order of their times and, of one time, of their setting', async () => {
  const { clock, sleeper } = await inMemory();
  for (const [ms, what] of [[300, 'c'], [100, 'a'], [200, 'b'], [100, 'a2'], [150, 'ab']] as const) await E(sleeper).sleep(ms, what); // biome-ignore format: one line
  expect(clock.pending()).toBe(1);
  clock.advance(400);
  const heard = await E(sleeper).heard();
  expect(heard.map((each) => each.split('@')[0])).toEqual(['a', 'a2', 'ab', 'b', 'c']);
  expect(clock.pending()).toBe(0);
});

test('an alarm that an undone turn set never comes, and one that it cancelled still does', async () => {
  const { clock, sleeper } = await inMemory();
  expect(await code(E(sleeper).sleep(100, 'undone', true))).toBe('invalid');
  const id = await E(sleeper).sleep(100, 'kept');
  expect(await code(E(sleeper).cancel(id, true))).toBe('invalid');
  await E(sleeper).twice(100, 'second');
  clock.advance(100);
  expect(await E(sleeper).heard()).toEqual(['kept@100', 'second@100']);
});

test('a wake that is cancelled never comes and leaves no timer; cancelling again, or too late, is no error', async () => {
  const { clock, sleeper } = await inMemory();
  const id = await E(sleeper).sleep(100, 'a');
  await E(sleeper).cancel(id);
  await E(sleeper).cancel(id);
  expect(clock.pending()).toBe(0);
  const other = await E(sleeper).sleep(100, 'b');
  clock.advance(100);
  await E(sleeper).cancel(other);
  expect(await E(sleeper).heard()).toEqual(['b@100']);
});

test('a machine that slept through the time is asked again within the minute', async () => {
  const { clock, sleeper } = await inMemory();
  await E(sleeper).sleep(3_600_000, 'late');
  // Timers stop while the machine sleeps; the clock since boot does not.
  const boottime = clock.boottime.bind(clock);
  Object.assign(clock, { boottime: () => boottime() + 8 * 3_600_000 });
  clock.advance(60_000);
  expect(await E(sleeper).heard()).toHaveLength(1);
});

test('no vat can wake an actor of another vat, or cancel its alarm', async () => {
  const { vats, sleeper } = await inMemory();
  const id = await E(sleeper).sleep(100, 'a');
  const other = vats.vat('other');
  expect(await code(other.turn(() => wakeAt(1000, sleeper as unknown as object, 'wake', 'x')))).toBe('invalid');
  expect(await code(other.turn(() => cancelWake(id)))).toBe('invalid');
  for (const at of [Number.NaN, -1, Number.POSITIVE_INFINITY, '5' as unknown as number])
    expect(await code(vats.vat('home').turn(() => wakeAt(at, sleeper as unknown as object, 'wake', 'x')))).toBe(
      'invalid',
    );
});

test('a wake is paid for as a queued message, until it comes or is cancelled', async () => {
  const clock = testClock();
  const vats = await openVats({ clock });
  onTestFinished(() => vats.close());
  const meter = vats.meter('m', { messages: 20 });
  const sleeper = await vats.vat('home', { meter }).spawn(Sleeper([]));
  let set = 0;
  while ((await code(E(sleeper).sleep(1000, 'x'))) === 'ok') set += 1;
  expect(set).toBeGreaterThan(10);
  expect(set).toBeLessThanOrEqual(20);
  clock.advance(1000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await E(sleeper).heard()).toHaveLength(set);
  const id = await E(sleeper).sleep(1000, 'y');
  await E(sleeper).cancel(id);
  expect(meter.used()['messages']).toBe(0);
});

test('attack: a meter that floods does not put off its own alarms', async () => {
  const clock = testClock({ boottime: 0 });
  // Turns take time here. Otherwise all of them would fit into the quantum of the meter.
  Object.assign(clock, { tick: () => performance.now() });
  const vats = await openVats({ clock });
  onTestFinished(() => vats.close());
  const meter = vats.meter('m', { messages: 10_000 });
  const sleeper = await vats.vat('home', { meter }).spawn(Sleeper([]));
  await E(sleeper).sleep(100, 'end');
  for (let i = 0; i < 1000; i += 1) E.sendOnly(sleeper).wake('flood');
  clock.advance(100);
  const heard = await E(sleeper).heard();
  expect(heard).toHaveLength(1001);
  expect(heard.indexOf('end@100')).toBeLessThan(300);
});

test('after a restart a wake still comes, once; one whose time passed meanwhile comes at once', async () => {
  const house = machine();
  const clock = testClock({ boottime: 0 });
  const first = await house.boot(clock);
  await E(first.sleeper).sleep(100, 'missed');
  await E(first.sleeper).sleep(5000, 'later');
  const cancelled = await E(first.sleeper).sleep(5000, 'cancelled');
  await E(first.sleeper).cancel(cancelled);
  expect(await code(E(first.sleeper).sleep(100, 'undone', true))).toBe('invalid');
  await house.stop();
  expect(clock.pending()).toBe(0);
  clock.advance(1000);
  const second = await house.boot(clock);
  expect(await E(second.sleeper).heard()).toEqual(['missed@1000']);
  const third = await house.boot(clock);
  expect(await E(third.sleeper).heard()).toEqual(['missed@1000']);
  clock.advance(4000);
  expect(await E(third.sleeper).heard()).toEqual(['missed@1000', 'later@5000']);
  const fourth = await house.boot(clock);
  clock.advance(10_000);
  expect(await E(fourth.sleeper).heard()).toHaveLength(2);
});

test('a wake keeps nobody alive: the sweep takes the actor, and nothing comes of it', async () => {
  const house = machine();
  const clock = testClock({ boottime: 0 });
  const first = await house.boot(clock);
  const lonely = await first.vats.vat('home').spawn(Sleeper([]));
  await E(lonely).sleep(5000, 'nobody');
  await E(first.sleeper).sleep(6000, 'root');
  const second = await house.boot(clock); // nobody holds the lonely one now
  expect(await second.vats.sweep()).toBeGreaterThan(0);
  clock.advance(10_000);
  expect(await E(second.sleeper).heard()).toEqual(['root@10000']);
  const third = await house.boot(clock);
  expect(await E(third.sleeper).heard()).toHaveLength(1);
});

test('each alarm comes once, in its time, after any sequence of sets, cancels, undone turns and restarts', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('set' as const), ms: fc.integer({ min: 0, max: 500 }), fails: fc.boolean() }) }, // biome-ignore format: one line
    { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(), fails: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 300 }) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const house = machine();
      const clock = testClock({ boottime: 0 });
      let { sleeper } = await house.boot(clock);
      const set = new Map<string, { readonly at: number; readonly id: string }>();
      let numbered = 0;
      for (const each of steps) {
        if (each.do === 'advance') clock.advance(each.ms);
        else if (each.do === 'restart') ({ sleeper } = await house.boot(clock));
        else if (each.do === 'set') {
          const name = `w${(numbered += 1)}`;
          const at = clock.boottime() + each.ms;
          const id = await E(sleeper)
            .sleep(each.ms, name, each.fails)
            .catch(() => undefined);
          if (id !== undefined) set.set(name, { at, id });
        } else {
          const [name, wake] = [...set][each.which % Math.max(1, set.size)] ?? [];
          // An alarm that is due may be on its way already.
          if (name === undefined || wake === undefined || wake.at <= clock.boottime()) continue;
          const done = await code(E(sleeper).cancel(wake.id, each.fails));
          if (done === 'ok') set.delete(name);
        }
      }
      clock.advance(1000);
      const heard = await E(sleeper).heard();
      expect(heard.map((said) => said.split('@')[0]).sort()).toEqual([...set.keys()].sort());
      for (const said of heard) {
        const [name = '', at] = said.split('@');
        expect(Number(at)).toBeGreaterThanOrEqual(set.get(name)?.at ?? Number.NaN);
      }
      await house.stop();
    }),
    { numRuns: 25 },
  );
});
