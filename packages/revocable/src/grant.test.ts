/** One grant by itself: its end and its counter, against the clocks and against a model. */
import {
  type Definition,
  define,
  E,
  exportLedger,
  type Far,
  openStore,
  openVats,
  type Store,
  spawn,
  type Vats,
} from '@hob/vat';
import { type TestClock, testClock } from '@hob/vat/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { code, say } from '../test/world.ts';
import { type GrantActor, grantOf, type Terms } from './index.ts';

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

/** A grant's actor, and its forwarder around a box. */
interface Gated {
  readonly actor: Far<GrantActor>;
  readonly cap: Far<Box>;
}
const grantWith = async (terms: Terms): Promise<Gated> => {
  const [actor, cap] = (await vats.vat('grants').turn(() => {
    const made = grantOf(spawn(Box()), terms);
    return [made.actor, made.cap] as never[];
  })) as unknown as [Far<GrantActor>, Far<Box>];
  return { actor, cap };
};
const admit = ({ cap }: Gated, method = 'read'): Promise<string> => code(say(cap, method));
async function lines(): Promise<readonly Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for await (const line of exportLedger(store)) all.push(JSON.parse(line));
  return all.slice(1);
}

test('a grant is over at its deadline, not a millisecond later', async () => {
  const granted = await grantWith({ for: 1000 });
  clock.advance(999);
  expect(await admit(granted)).toBe('ok');
  clock.advance(1);
  expect(await admit(granted)).toBe('expired');
});

test('a wall clock set back does not extend a grant', async () => {
  const granted = await grantWith({ for: 1000 });
  clock.stepWall(-3_600_000);
  clock.advance(1000);
  expect(await admit(granted)).toBe('expired');
});

test('a wall clock set forward shortens a grant', async () => {
  const granted = await grantWith({ for: 1000 });
  clock.stepWall(1000);
  expect(await admit(granted)).toBe('expired');
});

test('a grant that expired by the wall clock stays expired when that is set back', async () => {
  const granted = await grantWith({ for: 1000 });
  clock.stepWall(5000);
  expect(await admit(granted)).toBe('expired');
  clock.stepWall(-5000);
  expect(await admit(granted)).toBe('expired');
  expect((await E(granted.actor).look()).state).toBe('expired');
  expect((await lines()).filter(({ k }) => k === 'expire')).toHaveLength(1);
});

test('expire writes one line, and not before the deadline', async () => {
  const granted = await grantWith({ for: 1000 });
  await E(granted.actor).expire();
  expect((await lines()).map(({ k }) => k)).toEqual(['grant']);
  clock.advance(1000);
  await E(granted.actor).expire();
  await E(granted.actor).expire();
  expect((await lines()).map(({ k }) => k)).toEqual(['grant', 'expire']);
});

test('a result of a call made in time passes within the grace, and not after it', async () => {
  const granted = await grantWith({ for: 1000 });
  clock.advance(1099);
  await E(granted.actor).passResult(false, 'in time');
  clock.advance(1);
  await expect(E(granted.actor).passResult(false, 'late')).rejects.toMatchObject({ code: 'expired' });
});

test('nothing passes once a grant is revoked', async () => {
  const granted = await grantWith({ for: 1000 });
  await E(granted.actor).revoke('enough');
  await expect(E(granted.actor).passResult(false, 'late')).rejects.toMatchObject({ code: 'revoked' });
  expect(await admit(granted)).toBe('revoked');
});

test('only the methods of the terms pass, and a refusal costs no use', async () => {
  const granted = await grantWith({ uses: 1, methods: ['read'] });
  for (const method of ['write', '', 'toString', 'valueOf', 'READ', 'read '])
    expect(await admit(granted, method)).toBe('no-such-method');
  expect(await admit(granted)).toBe('ok');
  expect(await admit(granted)).toBe('exhausted');
});

test('a method name of a megabyte is cut in the ledger', async () => {
  const granted = await grantWith({ methods: ['read'] });
  await admit(granted, 'x'.repeat(1 << 20));
  const all = await grantWith({});
  await admit(all, 'y'.repeat(1 << 20));
  for (const { method = '' } of await lines()) expect((method as string).length).toBeLessThanOrEqual(64);
});

test('in any order of calls, revocations and time, a grant does what a model of three numbers does', async () => {
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
        const granted = await grantWith({ for: 1000, ...(uses === undefined ? {} : { uses }) });
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
            await E(granted.actor).revoke('');
            ended = 'revoked';
          } else {
            notice();
            if (each.do === 'expire') await E(granted.actor).expire();
            else {
              const expected = ended ?? (left > 0 ? 'ok' : 'exhausted');
              expect(await admit(granted)).toBe(expected);
              if (expected === 'ok') left -= 1;
            }
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});
