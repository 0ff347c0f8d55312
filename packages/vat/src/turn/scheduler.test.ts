/** Fairness: no meter waits for more than another's quantum. Time is turned by the turns themselves. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Definition, define, E, openVats, type TurnRecord, type Vats } from '../index.ts';
import { testClock } from '../testing.ts';

const clock = testClock();
let vats: Vats;
let turns: TurnRecord[];
beforeEach(async () => {
  turns = [];
  vats = await openVats({ clock, observe: (turn) => void turns.push(turn) });
});
afterEach(() => vats.close());

const Work: Definition<{ work(ms: number): void }, []> = define('Work', () => ({ work: (ms) => clock.advance(ms) }));

/** How many turns of others ran before each turn of `vat`. */
function gaps(vat: string): number[] {
  const found: number[] = [];
  let others = 0;
  for (const turn of turns)
    if (turn.vat === vat) {
      found.push(others);
      others = 0;
    } else others += 1;
  return found;
}

test("a flood of 50,000 messages in one meter lets another meter's turn through within one quantum", async () => {
  const flood = await vats.vat('flood').spawn(Work());
  const quiet = await vats.vat('quiet').spawn(Work());
  turns.length = 0;
  const answers: Promise<void>[] = [];
  for (let i = 0; i < 50_000; i += 1) E.sendOnly(flood).work(0.01);
  for (let i = 0; i < 200; i += 1) answers.push(E(quiet).work(0.01));
  await Promise.all(answers);
  // A quantum is 0.5 ms: 50 turns of 0.01 ms, and one that overdraws.
  expect(Math.max(...gaps('quiet'))).toBeLessThanOrEqual(51);
  turns.length = 0;
  for (let i = 0; i < 50; i += 1) await E(quiet).work(0.01);
  // A caller that awaits each answer runs only between slices: 2 ms of flood, then a quantum.
  expect(Math.max(...gaps('quiet'))).toBeLessThanOrEqual(200 + 51 + 1);
  expect(turns.length).toBeGreaterThan(100);
});

test('a meter with long turns pays for them before it has its next go', async () => {
  const slow = await vats.vat('slow').spawn(Work());
  const quick = await vats.vat('quick').spawn(Work());
  turns.length = 0;
  const all: Promise<void>[] = [];
  for (let i = 0; i < 20; i += 1) all.push(E(slow).work(5));
  for (let i = 0; i < 200; i += 1) all.push(E(quick).work(0.5));
  await Promise.all(all);
  // Time is shared, not turns: each slow turn of 5 ms is followed by about ten quick ones of 0.5 ms.
  const between = gaps('slow').slice(2, 15);
  expect(Math.min(...between)).toBeGreaterThanOrEqual(9);
  expect(Math.max(...between)).toBeLessThanOrEqual(11);
});

test('messages of one meter run in the order they were posted, whatever runs beside them', async () => {
  const seen: number[] = [];
  const Order: Definition<{ n(n: number): void }, []> = define('Order', () => ({
    n: (n) => {
      seen.push(n);
      clock.advance(0.3);
    },
  }));
  const order = await vats.vat('order').spawn(Order());
  const other = await vats.vat('other').spawn(Work());
  const all: Promise<void>[] = [];
  for (let i = 0; i < 3000; i += 1) {
    all.push(E(order).n(i));
    E.sendOnly(other).work(0.2);
  }
  await Promise.all(all);
  expect(seen).toEqual(Array.from({ length: 3000 }, (_, i) => i));
});

test('a flood leaves the event loop its turns', async () => {
  const flood = await vats.vat('flood').spawn(Work());
  for (let i = 0; i < 5_000; i += 1) E.sendOnly(flood).work(0.5);
  turns.length = 0;
  await new Promise((done) => setImmediate(done));
  // A slice is 2 ms: at most two of them may have run before we were asked.
  expect(turns.length).toBeLessThanOrEqual(10);
  vats.vat('flood').halt();
});

test('a program that awaits each answer does not keep the event loop in microtasks', async () => {
  const work = await vats.vat('a').spawn(Work());
  let breathed = false;
  setImmediate(() => {
    breathed = true;
  });
  let calls = 0;
  while (!breathed && calls < 10_000) {
    await E(work).work(0.5);
    calls += 1;
  }
  expect(calls).toBeLessThanOrEqual(20);
});
