/** The scheduler limits how much of a batch one meter takes: an eighth beside other meters, all of it alone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../core/message.ts';
import { Account } from '../core/meter.ts';
import { Scheduler } from './scheduler.ts';

const SIZE = 256;

/**
 * A scheduler and a disk. A commit ends when the test calls `commit`. Turns take no time. The test sets the clock. Each
 * turn takes `weight` of the places in a batch.
 */
function scene(weight = 1): {
  readonly post: (account: Account, count?: number) => void;
  /** Returns the number of turns of a meter in the next batch. */
  readonly taken: (account: Account) => number;
  readonly delivered: readonly (readonly [account: Account, n: number])[];
  readonly commit: () => void;
  readonly rest: () => Promise<void>;
  time: number;
  /** Runs within each turn. */
  within: (account: Account) => void;
} {
  let turns: Account[] = [];
  let next = 1;
  let n = 0;
  const delivered: (readonly [Account, number])[] = [];
  const numbers = new Map<Message, number>();
  const batch = {
    get next() {
      return next;
    },
    get taken() {
      return (turns.length * weight) / SIZE;
    },
  };
  const at = {
    time: 0,
    within: (_account: Account) => {},
    delivered,
    post(account: Account, count = 1) {
      for (let i = 0; i < count; i += 1) {
        const message = { account } as Message;
        numbers.set(message, (n += 1));
        scheduler.post(message);
      }
    },
    taken: (account: Account) => turns.filter((each) => each === account).length,
    commit() {
      turns = [];
      next += 1;
      scheduler.goOn();
    },
    rest: () => new Promise<void>((resolve) => setTimeout(resolve, 20)),
  };
  const scheduler = new Scheduler(
    () => at.time,
    (message, now) => {
      turns.push(message.account);
      delivered.push([message.account, numbers.get(message) as number]);
      at.within(message.account);
      return now;
    },
    () => {},
    batch,
  );
  return at;
}

test('a meter that floods takes an eighth of a batch beside another one, which still joins that batch', async () => {
  const at = scene();
  const [flood, quiet] = [new Account('flood'), new Account('quiet')];
  at.post(quiet);
  at.post(flood, 1000);
  await at.rest();
  expect([at.taken(flood), at.taken(quiet)]).toEqual([SIZE / 8, 1]);
  // These messages come while the flood waits for the disk.
  at.post(quiet, 3);
  await at.rest();
  expect([at.taken(flood), at.taken(quiet)]).toEqual([SIZE / 8, 4]);
  at.commit();
  await at.rest();
  expect([at.taken(flood), at.taken(quiet)]).toEqual([SIZE / 8, 0]);
});

test('a meter that is alone takes whole batches', async () => {
  const at = scene();
  const [flood, quiet] = [new Account('flood'), new Account('quiet')];
  at.post(quiet);
  at.post(flood, 2000);
  await at.rest();
  at.commit();
  await at.rest();
  expect(at.taken(flood)).toBe(SIZE / 8);
  at.time += 1000;
  at.commit();
  await at.rest();
  expect(at.taken(flood)).toBe(SIZE);
});

test('eight floods fill a batch, and a ninth meter joins the next one', async () => {
  const at = scene();
  const floods = Array.from({ length: 8 }, (_, n) => new Account(`flood ${n}`));
  const late = new Account('late');
  for (const flood of floods) at.post(flood, 100);
  await at.rest();
  expect(floods.map(at.taken)).toEqual(floods.map(() => SIZE / 8));
  at.post(late);
  await at.rest();
  expect(at.taken(late)).toBe(0);
  at.commit();
  await at.rest();
  expect(at.taken(late)).toBe(1);
});

test('of the meters that wait for the disk, those without a turn in the batch come first', async () => {
  // Each turn fills an eighth of a batch, so eight floods fill it with one turn each.
  const at = scene(SIZE / 8);
  const floods = Array.from({ length: 8 }, (_, n) => new Account(`flood ${n}`));
  const quiet = new Account('quiet');
  for (const flood of floods) at.post(flood, 20);
  at.post(quiet);
  await at.rest();
  expect(at.taken(quiet)).toBe(0);
  at.commit();
  await at.rest();
  expect(at.taken(quiet)).toBe(1);
});

test('a commit that ends within a turn leaves no message waiting', async () => {
  const at = scene();
  const [first, flood, last] = [new Account('first'), new Account('flood'), new Account('last')];
  at.post(first);
  at.post(flood, SIZE / 8 + 3);
  at.post(last);
  at.within = (account) => {
    // The flood has had its share by now.
    if (account === last) at.commit();
  };
  await at.rest();
  expect(at.delivered).toHaveLength(SIZE / 8 + 5);
});

test('property: every message is delivered, and those of one meter in their order, whoever sends and whenever commits end', async () => {
  const step = fc.oneof(
    fc.record({ who: fc.nat(3), count: fc.integer({ min: 1, max: 120 }) }),
    fc.constantFrom('commit' as const, 'rest' as const, 'later' as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const at = scene();
      const meters = Array.from({ length: 4 }, (_, n) => new Account(`${n}`));
      let sent = 0;
      for (const each of steps)
        if (each === 'commit') at.commit();
        else if (each === 'rest') await new Promise((resolve) => setImmediate(resolve));
        else if (each === 'later') at.time += 600;
        else {
          at.post(meters[each.who] as Account, each.count);
          sent += each.count;
        }
      for (let n = 0; at.delivered.length < sent && n <= sent; n += 1) {
        at.commit();
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(at.delivered).toHaveLength(sent);
      for (const meter of meters) {
        const numbers = at.delivered.filter(([account]) => account === meter).map(([, n]) => n);
        expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      }
    }),
    { numRuns: 40 },
  );
});
