/** One grant’s switch and counter, by itself: against the clocks, and against a model. */
import { type Definition, define, E, exportLedger, type Far, openStore, openVats, type Store, spawn, type TestClock, testClock, type Vats } from '@hob/vat'; // biome-ignore format: one line
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { code, say } from '../test/world.ts';
import { type Gate, grantOf, type Terms } from './index.ts';

let clock: TestClock;
let store: Store;
let vats: Vats;
beforeEach(async () => {
  clock = testClock();
  store = await openStore({ memory: true });
  vats = await openVats({ store, clock });
});
afterEach(async () => {
  await vats.close();
  await store.close();
});

interface Box {
  read(): string;
  write(): void;
}
const Box: Definition<Box, []> = define('Box', () => ({ read: () => 'read', write: () => undefined }));

/** A grant's gate, and its face in front of a box. */
interface Gated {
  readonly gate: Far<Gate>;
  readonly cap: Far<Box>;
}
const gateOf = async (terms: Terms): Promise<Gated> => {
  const [gate, cap] = (await vats.vat('grants').turn(() => {
    const made = grantOf(spawn(Box()), terms);
    return [made.gate, made.cap] as never[];
  })) as unknown as [Far<Gate>, Far<Box>];
  return { gate, cap };
};
const admit = ({ cap }: Gated, method = 'read'): Promise<string> => code(say(cap, method));
async function lines(): Promise<readonly Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for await (const line of exportLedger(store)) all.push(JSON.parse(line));
  return all.slice(1);
}

test('at its deadline it is over, not a millisecond later', async () => {
  const gate = await gateOf({ for: 1000 });
  clock.advance(999);
  expect(await admit(gate)).toBe('ok');
  clock.advance(1);
  expect(await admit(gate)).toBe('expired');
});

test('a wall clock set back extends nothing', async () => {
  const gate = await gateOf({ for: 1000 });
  clock.stepWall(-3_600_000);
  clock.advance(1000);
  expect(await admit(gate)).toBe('expired');
});

test('a wall clock set forward shortens', async () => {
  const gate = await gateOf({ for: 1000 });
  clock.stepWall(1000);
  expect(await admit(gate)).toBe('expired');
});

test('what expired by the wall clock stays so when that is set back again', async () => {
  const gate = await gateOf({ for: 1000 });
  clock.stepWall(5000);
  expect(await admit(gate)).toBe('expired');
  clock.stepWall(-5000);
  expect(await admit(gate)).toBe('expired');
  expect((await E(gate.gate).look()).state).toBe('expired');
  expect((await lines()).filter(({ k }) => k === 'expire')).toHaveLength(1);
});

test('expire says so once, and not before', async () => {
  const gate = await gateOf({ for: 1000 });
  await E(gate.gate).expire();
  expect((await lines()).map(({ k }) => k)).toEqual(['grant']);
  clock.advance(1000);
  await E(gate.gate).expire();
  await E(gate.gate).expire();
  expect((await lines()).map(({ k }) => k)).toEqual(['grant', 'expire']);
});

test('a result of a call made in time passes within the grace, and not after it', async () => {
  const gate = await gateOf({ for: 1000 });
  clock.advance(1099);
  await E(gate.gate).pass(false, 'in time');
  clock.advance(1);
  await expect(E(gate.gate).pass(false, 'late')).rejects.toMatchObject({ code: 'expired' });
});

test('nothing passes once it is revoked', async () => {
  const gate = await gateOf({ for: 1000 });
  await E(gate.gate).revoke('enough');
  await expect(E(gate.gate).pass(false, 'late')).rejects.toMatchObject({ code: 'revoked' });
  expect(await admit(gate)).toBe('revoked');
});

test('only the methods of the terms are let through, and a refusal costs no use', async () => {
  const gate = await gateOf({ uses: 1, methods: ['read'] });
  for (const method of ['write', '', 'toString', 'valueOf', 'READ', 'read '])
    expect(await admit(gate, method)).toBe('no-such-method');
  expect(await admit(gate)).toBe('ok');
  expect(await admit(gate)).toBe('exhausted');
});

test('a method’s name of a megabyte takes no more of the ledger than a person reads', async () => {
  const gate = await gateOf({ methods: ['read'] });
  await admit(gate, 'x'.repeat(1 << 20));
  const all = await gateOf({});
  await admit(all, 'y'.repeat(1 << 20));
  for (const { method = '' } of await lines()) expect((method as string).length).toBeLessThanOrEqual(64);
});

test('whatever the order of calls, revocation and time, it is what a model of three numbers says', async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.constant({ do: 'call' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'revoke' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'expire' as const }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 600 }) }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('step' as const), ms: fc.integer({ min: -3000, max: 1200 }) }),
    },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      fc.array(step, { maxLength: 40 }),
      async (uses, steps) => {
        const gate = await gateOf({ for: 1000, ...(uses === undefined ? {} : { uses }) });
        let left = uses ?? Number.POSITIVE_INFINITY;
        let ended: 'revoked' | 'expired' | undefined;
        const [vatEnd, wallEnd] = [clock.boottime() + 1000, clock.wall() + 1000];
        const notice = (): void => {
          if (clock.boottime() >= vatEnd || clock.wall() >= wallEnd) ended ??= 'expired';
        };
        for (const each of steps) {
          if (each.do === 'advance') clock.advance(each.ms);
          else if (each.do === 'step') clock.stepWall(each.ms);
          else if (each.do === 'revoke') {
            await E(gate.gate).revoke('');
            ended = 'revoked';
          } else {
            notice();
            if (each.do === 'expire') await E(gate.gate).expire();
            else {
              const expected = ended ?? (left > 0 ? 'ok' : 'exhausted');
              expect(await admit(gate)).toBe(expected);
              if (expected === 'ok') left -= 1;
            }
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});
