/** Budgets: a charge over the limit is refused first, and a rolled-back turn gets its charges back. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  CapError,
  type Definition,
  define,
  E,
  type Far,
  openVats,
  promise,
  spawn,
  table,
  type Vats,
} from '../index.ts';
import { testClock } from '../testing.ts';

const clock = testClock();
let vats: Vats;
beforeEach(async () => {
  vats = await openVats({ clock });
});
afterEach(() => vats.close());

interface Cell {
  get(): unknown;
  set(x: unknown): void;
  grow(x: unknown): void;
}
const Cell: Definition<Cell, [x: unknown]> = define('Cell', (bcom, x) => ({
  get: () => x,
  set: (next) => bcom(Cell(next)),
  grow: (next) => bcom(Cell([x, next])),
}));

const overBudget: Readonly<Record<string, (far: Far<Cell>) => void>> = {
  actors: () => {
    for (let i = 0; i < 20; i += 1) spawn(Cell(i));
  },
  portraitBytes: (far) => (far as unknown as Cell).set('x'.repeat(20_000)),
  messages: (far) => {
    for (let i = 0; i < 20; i += 1) E.sendOnly(far).get();
  },
  promises: () => {
    for (let i = 0; i < 20; i += 1) promise();
  },
  rows: () => {
    const rows = table<number>();
    for (let i = 0; i < 20; i += 1) rows.set(String(i), i);
  },
  turnMs: () => clock.advance(20),
};

for (const [budget, spend] of Object.entries(overBudget)) {
  test(`a turn over its ${budget} rolls back with limit, and all of its charges are given back`, async () => {
    const meter = vats.meter('session', { [budget]: budget === 'portraitBytes' ? 10_000 : 10 });
    const vat = vats.vat('a', { meter });
    const far = await vat.spawn(Cell('before'));
    const { turnMs: _, ...before } = meter.used();
    await expect(
      vat.turn(() => {
        (far as unknown as Cell).set('during');
        spend(far);
      }),
    ).rejects.toMatchObject({ code: 'limit', message: expect.stringContaining('session') });
    const { turnMs: __, ...after } = meter.used();
    expect(after).toEqual(before);
    expect(await E(far).get()).toBe('before');
    const other = vats.vat('b', { meter: vats.meter('other') });
    await other.turn(() => {
      if (budget !== 'portraitBytes') spend(far);
    });
  });
}

test('a caught limit leaves the turn going, with nothing charged for what was refused', async () => {
  const meter = vats.meter('session', { actors: 3 });
  const made = await vats.vat('a', { meter }).turn(() => {
    let count = 0;
    try {
      while (count < 100) {
        spawn(Cell(0));
        count += 1;
      }
    } catch (error) {
      expect(error).toBeInstanceOf(CapError);
    }
    return count;
  });
  expect(made).toBe(3);
  expect(meter.used()['actors']).toBe(3);
});

test('objects that a message makes are charged to the meter of the message, not to the vat it runs in', async () => {
  const mine = vats.meter('mine', { portraitBytes: 50_000, actors: 10 });
  const host = vats.meter('host');
  const far = await vats.vat('shared', { meter: host }).spawn(Cell(0));
  const mineBefore = mine.used();
  await vats.vat('session', { meter: mine }).turn(() => E(far).set('x'.repeat(1000)));
  expect(host.used()['portraitBytes']).toBe(0);
  expect((mine.used()['portraitBytes'] as number) - (mineBefore['portraitBytes'] as number)).toBeGreaterThan(1000);
  await E(far).set(0);
  expect(mine.used()['portraitBytes']).toBe(0);
});

test('an undone change by another payer puts the bill back where it was', async () => {
  const mine = vats.meter('mine', { portraitBytes: 50_000 });
  const host = vats.meter('host', { portraitBytes: 50_000 });
  const far = await vats.vat('shared', { meter: host }).spawn(Cell('y'.repeat(100)));
  const before = [host.used()['portraitBytes'], mine.used()['portraitBytes']];
  await expect(
    vats
      .vat('session', { meter: mine })
      .turn(() => (E(far) as unknown as { grow(x: unknown): unknown }).grow('z'.repeat(60_000))),
  ).rejects.toMatchObject({ code: 'limit' });
  expect([host.used()['portraitBytes'], mine.used()['portraitBytes']]).toEqual(before);
});

test('actors that nobody holds give back their charges, also to a session that only changed them', async () => {
  const mine = vats.meter('mine', { portraitBytes: 1_000_000 });
  const make = async (): Promise<void> => {
    const far = await vats.vat('shared', { meter: vats.meter('host') }).spawn(Cell(0));
    await vats.vat('session', { meter: mine }).turn(() => E(far).set('x'.repeat(1000)));
  };
  await make();
  await make();
  expect(mine.used()['portraitBytes']).toBeGreaterThan(2000);
  for (let i = 0; i < 50 && mine.used()['portraitBytes'] !== 0; i += 1) {
    globalThis.gc?.();
    await new Promise((done) => setTimeout(done, 5));
  }
  expect(mine.used()['portraitBytes']).toBe(0);
});

test('time spent is added up for each meter', async () => {
  const meter = vats.meter('session');
  const vat = vats.vat('a', { meter });
  await vat.turn(() => clock.advance(3));
  await vat.turn(() => clock.advance(4));
  expect(meter.used()['turnMs']).toBe(7);
});

test('an unknown budget, a limit that is no number, and new limits for an old name are refused', () => {
  for (const limits of [{ actor: 1 }, { actors: -1 }, { actors: Number.NaN }, { actors: '5' as never }])
    expect(() => vats.meter('bad', limits)).toThrow(expect.objectContaining({ code: 'invalid' }));
  vats.meter('once', { actors: 1 });
  expect(vats.meter('once')).toBe(vats.meter('once'));
  expect(() => vats.meter('once', { actors: 2 })).toThrow(expect.objectContaining({ code: 'invalid' }));
});
