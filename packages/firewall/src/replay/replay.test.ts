/** A replay counts what the lines say, and takes any text for a ledger. */
import type { CallFacts } from '@hob/host';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { volume } from '../../../../test/depth.ts';
import type { Sensitivity } from '../call/call.ts';
import { makeFirewall } from '../firewall.ts';
import { type Asked, replay } from './replay.ts';

const line = (fields: object): string =>
  JSON.stringify({ k: 'call', t: Date.UTC(2026, 10, 25), grant: 'g1', ...fields });

test('calls are counted by class, day and grant, with those that would have waited', async () => {
  const said = await replay([
    line({ risk: 0.05, sure: 0.9, effect: 'A' }),
    line({ risk: 0.3, sure: 0.45, effect: 'B' }),
    line({ risk: 0.8, sure: 0.9, effect: 'D', grant: 'g2', t: Date.UTC(2026, 10, 26) }),
    line({ risk: 0.3, sure: 0.9, effect: 'B' }),
    line({}),
    JSON.stringify({ k: 'grant', t: 1, grant: 'g1', petname: 'notes', session: 'work' }),
    'no JSON',
  ]);
  expect(said).toEqual({
    calls: 4,
    unassessed: 1,
    asks: 2,
    byClass: { B: { calls: 2, asks: 1 }, D: { calls: 1, asks: 1 }, A: { calls: 1, asks: 0 } },
    byDay: { '2026-11-25': { calls: 3, asks: 1 }, '2026-11-26': { calls: 1, asks: 1 } },
    byGrant: { g1: { calls: 3, asks: 1, petname: 'notes', session: 'work' }, g2: { calls: 1, asks: 1 } },
  });
});

test('a grant of a low level asks more, one of a high level less, and a hook has the last word', async () => {
  const risky = { risk: 0.35, sure: 0.9, effect: 'B' };
  expect((await replay([line(risky)])).asks).toBe(0);
  expect((await replay([line({ ...risky, level: 'low' })])).asks).toBe(1);
  expect((await replay([line({ risk: 0.8, sure: 0.9, level: 'high' })])).asks).toBe(0);
  const hooked = [line({ ...risky, hooked: true }), line({ k: 'assess', risk: 0.9, sure: 0.9, effect: 'B' })];
  expect(await replay(hooked)).toMatchObject({ calls: 1, asks: 1, byClass: { B: { calls: 1, asks: 1 } } });
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

/** The n-th recorded call: each run makes the same ones. */
function factsOf(n: number): CallFacts {
  const pick = <T>(of: readonly T[], step: number): T => of[Math.floor(n / step) % of.length] as T;
  const effect = {
    class: pick(['A', 'B', 'C', 'D'] as const, 1),
    undo: pick(['easy', 'hard', 'impossible'] as const, 4),
    outbound: n % 5 === 0,
  };
  const text = n % 97 === 0 ? 'I want to die' : `note ${n}`;
  const args = [pick<unknown>([text, { recursive: true, text }, '', { force: true }], 3)];
  const effects = n % 13 === 0 ? undefined : { m: effect };
  const grant = `g${n % 50}`;
  const level = pick(['low', 'medium', 'high'] as const, 2);
  return { session: 's', grant, petname: 'cap', offer: pick(['scratch', 'ordinary', 'high'], 7), method: 'm', args, effects, reads: [], level, waits: false, undoes: n % 2 === 0 }; // biome-ignore format: one line
}

test('recorded calls replayed give the same scores, and each asks that would have waited (60,000 in the deep run)', async () => {
  const sensitivity = (offer: string): Sensitivity => offer as Sensitivity;
  const [observing, enforcing] = (['observe', 'enforce'] as const).map((mode) => makeFirewall({ mode, sensitivity }));
  const calls = volume(2000, 60_000);
  const lines: string[] = [];
  let asks = 0;
  for (let n = 0; n < calls; n += 1) {
    const facts = factsOf(n);
    const { trace } = observing!.decide(facts);
    const enforced = enforcing!.decide(facts);
    expect(enforced.trace).toEqual(trace);
    if (enforced.waits) asks += 1;
    lines.push(line({ ...trace, grant: facts.grant, t: Date.UTC(2026, 10, 1 + (n % 28)) }));
  }
  expect(asks).toBeGreaterThan(calls / 10);
  const first = await replay(lines);
  expect(first).toMatchObject({ calls, asks, unassessed: 0 });
  expect(await replay(lines)).toEqual(first);
  const sum = (rows: Readonly<Record<string, Asked>>): number => Object.values(rows).reduce((all, row) => all + row.asks, 0); // biome-ignore format: one line
  expect([sum(first.byClass), sum(first.byDay), sum(first.byGrant)]).toEqual([asks, asks, asks]);
}, 120_000);
