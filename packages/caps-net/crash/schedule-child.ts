/** `node schedule-child.ts FOLDER START`: one schedule of a minute, on a clock that runs 600 times as fast, until it is killed. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { definitions } from '@hob/revocable';
import { type Clock, type Definition, define, driver, E, type Far, openStore, openVats, systemClock } from '@hob/vat';
import { makeScheduleCap, scheduleDefinitions } from '../src/schedule/make.ts';
import type { Runner, ScheduleCap } from '../src/schedule/schedule-cap.ts';

const [folder = '', start = ''] = process.argv.slice(2);
const FAST = 600;
const real = systemClock();
const START = Number(start);
const clock: Clock = {
  ...{ bootId: real.bootId, tick: () => real.tick() },
  wall: () => START + (real.wall() - START) * FAST,
  boottime: () => real.boottime() * FAST,
  after: (ms, then) => real.after(ms / FAST, then),
};
const runner = driver<Runner>(
  {
    run: async ([{ number, due }]) => {
      appendFileSync(join(folder, 'runs'), `${number} ${due}\n`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    },
  },
  { name: 'runner' },
);
/** Keeps the cap, so that the store does. */
interface Keeper {
  cap(): ScheduleCap;
}
const Keeper: Definition<Keeper, [cap: ScheduleCap]> = define('keeper', (_bcom, cap) => ({ cap: () => cap }));
const store = await openStore({ path: join(folder, 'store.db') });
const vats = await openVats({ store, clock, definitions: [...definitions, ...scheduleDefinitions, Keeper] });
const keeper = await vats.vat('schedules').root('keeper', () => Keeper(makeScheduleCap(runner)));
const cap = (await E(keeper).cap()) as unknown as Far<ScheduleCap>;
if ((await E(cap).list()).length === 0) await E(cap).every('1m', 'crash');
// Alarms keep no process alive.
setInterval(() => {}, 60_000);
process.stdout.write('open\n');
