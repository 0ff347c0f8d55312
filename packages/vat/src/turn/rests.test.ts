/** Beside a meter that takes much less, a flooding meter takes an eighth of the time. Alone, it takes all of it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../core/message.ts';
import { Account } from '../core/meter.ts';
import { Scheduler } from './scheduler.ts';

/**
 * A scheduler with a clock of its own, which also fires its timers. A turn of the meter `flood` takes `floodMs`, any
 * other turn `otherMs`.
 */
function scene(floodMs = 0.1, otherMs = 0.1) {
  let time = 0;
  let made = 0;
  let asked = 0;
  let timers: { readonly at: number; readonly then: () => void }[] = [];
  const turns: Account[] = [];
  const fire = (now: number): void => {
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter(({ at }) => at > now);
    for (const { then } of due) then();
  };
  const scheduler = new Scheduler(
    () => time,
    ({ account }, now) => {
      turns.push(account);
      time = now + (account.name === 'flood' ? floodMs : otherMs);
      fire(time);
      return time;
    },
    () => {},
    undefined,
    (ms, then) => {
      made += 1;
      timers.push({ at: time + ms, then });
    },
  );
  const post = (account: Account, count = 1, alarm = false): void => {
    for (let i = 0; i < count; i += 1) scheduler.post({ account, alarm } as Message);
  };
  const others = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    post,
    turns,
    others,
    /** Posts `count` messages, unless earlier ones still wait or the last call was less than 4 ms ago. */
    ask(polite: Account, count = 1): void {
      if (polite.queued > 0 || time - asked < 4) return;
      asked = time;
      post(polite, count);
    },
    /** The number of rests so far. */
    timers: () => made,
    taken: (account: Account) => turns.filter((each) => each === account).length,
    /** Lets the given time pass. Calls `each` in every step. A step in which no turn runs takes 1 ms. */
    async pass(ms: number, each: () => void = () => {}): Promise<void> {
      for (const until = time + ms; time < until; ) {
        each();
        const before = turns.length;
        await others();
        await others();
        // No turn moved the clock.
        if (turns.length === before) time += 1;
        fire(time);
      }
    },
  };
}

const limited = (name: string): Account => new Account(name, { messages: 1_000_000 });

test('a meter that floods takes about an eighth of the time beside one that does not', async () => {
  const at = scene();
  const [flood, polite] = [limited('flood'), limited('polite')];
  at.post(flood, 50_000);
  await at.pass(60, () => at.ask(polite));
  const before = at.taken(flood);
  await at.pass(1000, () => at.ask(polite));
  const took = (at.taken(flood) - before) * 0.1;
  expect(took).toBeGreaterThan(60);
  expect(took).toBeLessThan(1000 / 6);
  expect(at.taken(polite)).toBeGreaterThan(200);
});

test('a meter does not rest if it is alone, has no limit of messages, or sends only short bursts', async () => {
  const alone = scene();
  const flood = limited('flood');
  alone.post(flood, 5000);
  await alone.pass(490);
  expect(alone.taken(flood)).toBeGreaterThan(4500);
  const beside = scene();
  const [unlimited, polite] = [new Account('the host'), limited('polite')];
  beside.post(unlimited, 5000);
  await beside.pass(490, () => beside.ask(polite));
  expect(beside.taken(unlimited)).toBeGreaterThan(3000);
  const bursts = scene();
  const burst = limited('burst');
  // 20 ms of turns every 40 ms.
  for (let i = 0; i < 10; i += 1) {
    bursts.post(burst, 200);
    await bursts.pass(40, () => bursts.ask(polite));
    expect(bursts.taken(burst)).toBe(200 * (i + 1));
  }
});

test.each([
  [300, 3],
  [50, 7],
])(
  'attack: a meter that sends its next %i calls %i ms after the last answer counts as flooding, too',
  async (calls, ms) => {
    const at = scene();
    const [flood, polite] = [limited('flood'), limited('polite')];
    at.post(flood, calls);
    let sent = calls;
    let idle = 0;
    const next = (): void => {
      at.ask(polite);
      idle = at.taken(flood) === sent ? idle + 1 : 0;
      if (idle < ms) return;
      at.post(flood, calls);
      sent += calls;
    };
    await at.pass(200, next);
    const before = at.taken(flood);
    await at.pass(1000, next);
    expect((at.taken(flood) - before) * 0.1).toBeLessThan(1000 / 5);
  },
);

test('attack: a meter that makes a break each time before it counts as flooding gets less than half of the time', async () => {
  const at = scene();
  const [flood, polite] = [limited('flood'), limited('polite')];
  at.post(flood, 400);
  let sent = 400;
  let idle = 0;
  const next = (): void => {
    at.ask(polite);
    // After 40 ms of turns comes a break of 12 ms or more.
    idle = at.taken(flood) === sent ? idle + 1 : 0;
    if (idle < 16) return;
    at.post(flood, 400);
    sent += 400;
  };
  await at.pass(500, next);
  const before = at.taken(flood);
  await at.pass(3000, next);
  expect((at.taken(flood) - before) * 0.1).toBeLessThan(3000 / 2);
});

test('a flooding meter with long turns takes an eighth of the time, with one rest for each turn', async () => {
  const at = scene(50);
  const [flood, polite] = [limited('flood'), limited('polite')];
  at.post(flood, 100);
  await at.pass(60, () => at.ask(polite));
  const [before, timers] = [at.taken(flood), at.timers()];
  await at.pass(8000, () => at.ask(polite));
  const turns = at.taken(flood) - before;
  expect(turns).toBeGreaterThan(10);
  expect(turns * 50).toBeLessThan(8000 / 6);
  expect(at.timers() - timers).toBeLessThanOrEqual(turns + 1);
});

test('attack: a flood rests for the others also if its turns are longer than a meter counts as active (0.1 s)', async () => {
  const at = scene(300);
  const [flood, polite] = [limited('flood'), limited('polite')];
  at.post(flood, 100);
  // Its first turn is over before anybody else had one. The time that it owes then is not forgiven.
  await at.pass(1);
  const before = at.taken(flood);
  await at.pass(250, () => at.ask(polite));
  expect(at.taken(flood) - before).toBe(0);
  await at.pass(10_000, () => at.ask(polite));
  expect((at.taken(flood) - before) * 300).toBeLessThan(10_000 / 3);
});

test('two meters with turns of more than 0.1 s get the same time', async () => {
  const at = scene(300, 300);
  const both = [limited('flood'), limited('other')];
  for (const each of both) at.post(each, 100);
  await at.pass(9000);
  const [one, other] = both.map(at.taken) as [number, number];
  expect(one + other).toBeGreaterThan(25);
  expect(Math.abs(one - other)).toBeLessThan(3);
});

test('meters that all flood do not rest for each other', async () => {
  const at = scene();
  const floods = [limited('a'), limited('b'), limited('c')];
  for (const each of floods) at.post(each, 20_000);
  await at.pass(1200);
  const before = floods.map(at.taken);
  await at.pass(900);
  const took = floods.map((each, n) => at.taken(each) - (before[n] as number));
  expect(Math.min(...took)).toBeGreaterThan(2500);
});

test('a meter that floods does not rest for one that takes nearly a third of the time', async () => {
  const at = scene();
  const [flood, busy] = [limited('flood'), limited('busy')];
  at.post(flood, 50_000);
  await at.pass(300, () => at.ask(busy, 12));
  const before = at.taken(flood);
  await at.pass(1000, () => at.ask(busy, 12));
  expect((at.taken(flood) - before) * 0.1).toBeGreaterThan(550);
});

test('two meters do not rest for each other if both send the next calls when the last ones are answered', async () => {
  const at = scene();
  const both = [limited('a'), limited('b')];
  const sent = [0, 0];
  const next = (): void => {
    for (const [n, each] of both.entries())
      if (at.taken(each) === sent[n]) {
        at.post(each, 30);
        sent[n] = (sent[n] as number) + 30;
      }
  };
  await at.pass(200, next);
  const before = at.turns.length;
  await at.pass(600, next);
  // Turns of 0.1 ms fill most of the time.
  expect((at.turns.length - before) * 0.1).toBeGreaterThan(400);
});

test('a meter does not rest for its own alarms', async () => {
  const at = scene();
  const flood = limited('flood');
  at.post(flood, 5000);
  await at.pass(490, () => at.post(flood, 1, true));
  expect(at.timers()).toBe(0);
  expect(at.taken(flood)).toBeGreaterThan(4500);
});

test('the alarms of a meter do not rest for others, since they end grants, or for its own calls', async () => {
  const at = scene();
  const [flood, polite] = [limited('flood'), limited('polite')];
  at.post(flood, 5000, true);
  await at.pass(490, () => at.ask(polite));
  expect(at.timers()).toBe(0);
  expect(at.taken(flood)).toBeGreaterThan(4000);
});

test('whichever meters flood, each message is delivered once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 900 })), { minLength: 1, maxLength: 12 }),
      async (posts) => {
        const at = scene();
        const meters = [limited('a'), limited('b'), limited('c'), new Account('no limit')];
        const all = meters.map(() => 0);
        for (const [who, count] of posts) {
          at.post(meters[who] as Account, count);
          all[who] = (all[who] as number) + count;
          await at.pass(3);
        }
        await at.pass(8 * 0.1 * all.reduce((sum, n) => sum + n, 0) + 400);
        expect(meters.map(at.taken)).toEqual(all);
        expect(meters.map(({ queued }) => queued)).toEqual(all.map(() => 0));
      },
    ),
    { numRuns: 12 },
  );
});
