/** A replay counts what the lines say, and takes any text for a ledger. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replay } from './replay.ts';

const line = (fields: object): string =>
  JSON.stringify({ k: 'call', t: Date.UTC(2026, 10, 25), grant: 'g1', ...fields });

test('calls are counted by class, day and grant, with those that would have waited', async () => {
  const said = await replay([
    line({ risk: 0.05, sure: 0.9, effect: 'A' }),
    line({ risk: 0.3, sure: 0.45, effect: 'B' }),
    line({ risk: 0.8, sure: 0.9, effect: 'D', grant: 'g2', t: Date.UTC(2026, 10, 26) }),
    line({ risk: 0.3, sure: 0.9, effect: 'B' }),
    line({}),
    JSON.stringify({ k: 'grant', t: 1 }),
    'no JSON',
  ]);
  expect(said).toEqual({
    calls: 4,
    unassessed: 1,
    asks: 2,
    byClass: { B: { calls: 2, asks: 1 }, D: { calls: 1, asks: 1 }, A: { calls: 1, asks: 0 } },
    byDay: { '2026-11-25': { calls: 3, asks: 1 }, '2026-11-26': { calls: 1, asks: 1 } },
    byGrant: { g1: { calls: 3, asks: 1 }, g2: { calls: 1, asks: 1 } },
  });
});

test('the same lines give the same counts, however they are cut and whatever stands between them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fc.string(), fc.json())), async (noise) => {
      const real = line({ risk: 0.9, sure: 1, effect: 'C' });
      expect((await replay([...noise, real])).asks).toBe(1);
    }),
  );
});

test('the day of any time is that of the calendar', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 4_102_444_800_000 }), async (t) => {
      const said = await replay([line({ risk: 0.1, sure: 1, t })]);
      expect(Object.keys(said.byDay)).toEqual([new Date(t).toISOString().slice(0, 10)]);
    }),
  );
});
