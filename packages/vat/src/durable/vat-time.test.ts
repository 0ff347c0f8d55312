/** The vat time of a store counts all the time that passed, whatever was stopped. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { diskOf } from '../store/disk.ts';
import { engineOn } from '../store/engine.ts';
import { memoryRows } from '../store/memory.ts';
import { openStore, storeOf } from '../store/store.ts';
import { testClock } from '../testing/test-clock.ts';
import { vatTime } from '../turn/turn.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';

const now = (vats: Vats): Promise<number> => vats.vat('v').turn(() => vatTime());

function machine() {
  const clock = testClock();
  const rows = memoryRows();
  let vats: Vats | undefined;
  /** Ends the process like a kill: nothing more is saved. */
  const kill = async (): Promise<void> => {
    const before = new Map(rows.scan(''));
    await vats?.close();
    rows.append(1, [], rows.head, before);
    vats = undefined;
  };
  return {
    clock,
    kill,
    async start(definitions: readonly [] | undefined = []): Promise<Vats> {
      const store = storeOf(engineOn(diskOf(() => rows)));
      vats = await openVats({ store, clock, ...(definitions && { definitions }) });
      return vats;
    },
  };
}

test('neither a restart nor a boot loses vat time', async () => {
  const { clock, kill, start } = machine();
  const first = await now(await start());
  clock.advance(1000);
  await kill();
  clock.advance(60_000);
  expect(await now(await start())).toBe(first + 61_000);
  await kill();
  clock.reboot(3_600_000);
  clock.advance(500);
  expect(await now(await start())).toBe(first + 61_000 + 3_600_500);
  await kill();
});

test('while nothing is committed vat time is saved every 5 s: setting the clock back during a boot gains no more than that', async () => {
  const { clock, kill, start } = machine();
  const vats = await start();
  const first = await now(vats);
  clock.advance(3_600_000); // an hour without a turn
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  await kill();
  clock.stepWall(-3_599_000);
  clock.reboot(0);
  expect(await now(await start())).toBeGreaterThanOrEqual(first + 3_600_000 - 5000);
  await kill();
});

test('vat time never goes back, over any history of runs, kills, boots and clocks set', async () => {
  const step = fc.oneof(
    fc.record({ is: fc.constant('pass' as const), ms: fc.nat(20_000) }),
    fc.record({ is: fc.constant('set' as const), ms: fc.integer({ min: -400_000, max: 400_000 }) }),
    fc.record({ is: fc.constant('restart' as const), ms: fc.nat(20_000) }),
    fc.record({ is: fc.constant('boot' as const), ms: fc.nat(20_000) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { clock, kill, start } = machine();
      let vats = await start();
      let last = await now(vats);
      for (const { is, ms } of steps) {
        if (is === 'pass') clock.advance(ms);
        else if (is === 'set') clock.stepWall(ms);
        else {
          await kill();
          if (is === 'boot') clock.reboot(ms);
          else clock.advance(ms);
          vats = await start();
        }
        const then = await now(vats);
        expect(then).toBeGreaterThanOrEqual(last);
        if (is === 'pass' || is === 'restart') expect(then - last).toBeGreaterThanOrEqual(ms);
        last = then;
      }
      await kill();
    }),
    { numRuns: process.env['HOB_MUTANT'] === 'vat-time' ? 20 : 100 },
  );
});

test('no timer is left when the vats are closed', async () => {
  const { clock, start } = machine();
  await (await start()).close();
  expect(clock.pending()).toBe(0);
});

test('a saved time that is none refuses the store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-time-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'state');
  for (const bad of ['x', '{}', '{"v":null,"bootId":"a","boottime":1,"wall":1}']) {
    const store = await openStore({ path });
    await (await openVats({ store })).close();
    await store.close();
    const database = new DatabaseSync(join(path, 'store.db'));
    const before = database.prepare("SELECT value FROM cell WHERE key = CAST('v/time' AS BLOB)").get();
    database.prepare("UPDATE cell SET value = ? WHERE key = CAST('v/time' AS BLOB)").run(bad);
    database.close();
    const again = await openStore({ path });
    await expect(openVats({ store: again })).rejects.toMatchObject({ code: 'invalid' });
    await again.close();
    const mended = new DatabaseSync(join(path, 'store.db'));
    mended
      .prepare("UPDATE cell SET value = ? WHERE key = CAST('v/time' AS BLOB)")
      .run(String((before as { value: string }).value));
    mended.close();
  }
});
