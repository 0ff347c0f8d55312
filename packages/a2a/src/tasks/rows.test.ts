/** The rows of tasks, in a real vat. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deep } from '../../../../test/depth.ts';
import { E, newRows } from '../../test/vats.ts';
import { isEnd, type TaskRow, type TaskState } from './index.ts';

const row = (n: number, more: Partial<TaskRow> = {}): TaskRow => ({
  ...{ id: `t${n}`, peer: 'ezra', message: `m${n}`, context: 'c', state: 'working', at: n },
  ...more,
});

test('of a message that comes again there is one task, for each peer', async () => {
  const { rows } = await newRows();
  expect(await E(rows).begin(row(1))).toBe(undefined);
  expect(await E(rows).begin(row(2, { message: 'm1' }))).toEqual(row(1));
  expect(await E(rows).begin(row(3, { message: 'm1', peer: 'allegro' }))).toBe(undefined);
  expect(await E(rows).of('ezra')).toEqual([row(1)]);
  expect(await E(rows).find('t2')).toBe(undefined);
  expect([await E(rows).of('__proto__'), await E(rows).find('__proto__')]).toEqual([[], undefined]);
});

test('a peer keeps its newest tasks that are over, at most 100, with their results, and all that go on', async () => {
  const state = fc.constantFrom<TaskState>('working', 'auth-required', 'completed', 'failed', 'canceled', 'rejected');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom('ezra', 'ezra', 'ezra', 'ezra', 'allegro'), state), { minLength: 220, maxLength: 300 }), async (made) => {
      const { rows, close } = await newRows();
      const kept = new Map<string, TaskRow[]>();
      for (const [n, [peer, last]] of made.entries()) {
        const own = kept.get(peer) ?? [];
        await E(rows).begin(row(n, { peer }));
        await E(rows).put(row(n, { peer, state: last }), { text: `${n}` });
        const ended = own.filter((one) => isEnd(one.state));
        const over = new Set(ended.slice(0, Math.max(0, ended.length - 99)));
        kept.set(peer, [...own.filter((one) => !over.has(one)), row(n, { peer, state: last })]);
      }
      for (const [peer, own] of kept) expect(await E(rows).of(peer)).toEqual(own);
      const all = [...kept.values()].flat();
      const ids = (of: readonly TaskRow[]): readonly string[] => of.map(({ id }) => id).sort();
      expect(ids((await E(rows).open()) as never)).toEqual(ids(all.filter((one) => !isEnd(one.state))));
      for (const [n] of made.entries()) {
        const there = all.find(({ id }) => id === `t${n}`);
        expect(await E(rows).find(`t${n}`)).toEqual(there && { row: there, output: { text: `${n}` } });
      }
      await close();
    }),
    { numRuns: deep ? 30 : 3 },
  );
}, 120_000); // biome-ignore format: a property
