/** The size of a commit is bounded, however much waits. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Definition, Far } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { openStore } from '../store/store.ts';
import { codeOf } from '../turn/deliver.ts';
import { define } from '../turn/portrait.ts';
import type { Vats } from '../vats/interface.ts';
import { openVatsThrough } from '../vats/vats.ts';
import type { Batch } from './output-commit.ts';

interface Counter {
  next(text?: string): number;
}
const Counter: Definition<Counter, [count: number, text: string]> = define('Counter', (bcom, count, _text) => ({
  next: (more = '') => bcom(Counter(count + 1, more), count + 1),
}));

/** Vats whose commits can be delayed, with the size of each commit. */
async function held(): Promise<{
  readonly vats: Vats;
  readonly counters: readonly Far<Counter>[];
  readonly turns: number[];
  hold(): (fails?: boolean) => void;
}> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-batch-'));
  const store = await openStore({ path: folder });
  const turns: number[] = [];
  let waits: ((fails: boolean) => void)[] | undefined;
  const vats = await openVatsThrough({ store, definitions: [Counter] }, (commit) => (writes, done) => {
    turns.push((writes as Batch).turns);
    if (waits === undefined) return commit(writes, done);
    waits.push((fails) => (fails ? done(new Error('EIO')) : commit(writes, done)));
  });
  onTestFinished(async () => {
    await vats.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const vat = vats.vat('v');
  const counters = await Promise.all([1, 2, 3].map((n) => vat.root(`c${n}`, () => Counter(0, ''))));
  await vats.settled();
  turns.length = 0;
  return {
    vats,
    counters,
    turns,
    hold() {
      const all: ((fails: boolean) => void)[] = [];
      waits = all;
      return (fails = false) => {
        waits = undefined;
        for (const go of all) go(fails);
      };
    },
  };
}
const breath = async (): Promise<void> => {
  for (let i = 0; i < 50; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('while a commit is under way no more turns run than one commit takes; all of them are answered, in order', async () => {
  const { counters, turns, hold } = await held();
  const [counter] = counters as [Far<Counter>];
  const go = hold();
  const answers = Array.from({ length: 3000 }, () => E(counter).next());
  await breath();
  expect(turns).toHaveLength(1);
  go();
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 3000 }, (_, n) => n + 1));
  // One that is asked when everything waits goes into the second commit from now, not behind all of them.
  expect(Math.max(...turns)).toBeLessThanOrEqual(256);
  expect(turns.length).toBeGreaterThanOrEqual(Math.ceil(3000 / 256));
});

test('large turns count by the bytes that they write', async () => {
  const { counters, turns, hold } = await held();
  const go = hold();
  const large = 'x'.repeat(100_000);
  const [a] = counters as [Far<Counter>];
  const answers = Array.from({ length: 60 }, () => E(a).next(large));
  await breath();
  go();
  await Promise.all(answers);
  // The first batch closes by time or turns; what gathers behind it is bounded.
  expect(Math.max(...turns.slice(1))).toBeLessThanOrEqual(7);
});

test('one meter that floods does not keep another out of the next commit', async () => {
  const { vats, counters, turns, hold } = await held();
  const [busy, quiet] = counters as [Far<Counter>, Far<Counter>];
  const door = vats.vat('door', { meter: vats.meter('quiet') });
  const go = hold();
  const flood = Promise.all(Array.from({ length: 5000 }, () => E(busy).next()));
  await breath();
  const before = turns.length;
  const asked = door.turn(() => E(quiet).next()).then(() => turns.length - before);
  go();
  await flood;
  // The one under way, the full one behind it, its own two (the asking, and what was asked), and the few that
  // may begin while the answer is on its way here: not the twenty that the flood takes.
  expect(await asked).toBeLessThanOrEqual(8);
});

test('a commit that fails lets the turns go on', async () => {
  const { counters, hold } = await held();
  const [counter] = counters as [Far<Counter>];
  const go = hold();
  const answers = Array.from({ length: 1000 }, () => E(counter).next().catch(codeOf));
  await breath();
  go(true);
  const said = await Promise.all(answers);
  expect(said.filter((answer) => answer === 'unknown-outcome').length).toBeGreaterThan(0);
  expect(await E(counter).next()).toBe(said.filter((answer) => typeof answer === 'number').length + 1);
});
