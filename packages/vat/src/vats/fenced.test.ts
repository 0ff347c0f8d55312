/**
 * Internal errors in a turn, an effect, an alarm, a commit and a driver call: the rest goes on, and callers
 * are told.
 */
import { expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../../test/patience.ts';
import { Actor } from '../actor/actor.ts';
import { Causes, noChain } from '../core/causes.ts';
import { logFaultsTo } from '../core/faults.ts';
import { Message } from '../core/message.ts';
import { Account } from '../core/meter.ts';
import { VatPromise } from '../core/promise.ts';
import { ObjectStore } from '../durable/object-store.ts';
import { type Commit, OutputCommit } from '../durable/output-commit.ts';
import {
  CapError,
  type Definition,
  define,
  driver,
  E,
  type Far,
  openStore,
  openVats,
  type Vats,
  vatTime,
  wakeAt,
} from '../index.ts';
import { testClock } from '../testing.ts';
import type { Clock } from '../time/clock.ts';
import { cut } from '../turn/cut.ts';
import { RunningCall } from '../turn/driver-call.ts';
import { Turn, under } from '../turn/turn.ts';
import { openVatsThrough } from './vats.ts';

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** The next call of this method throws, once, if `when` holds. */
function breakOnce(
  of: { readonly prototype: object },
  method: string,
  when: (self: never, ...args: never[]) => boolean = () => true,
): Error {
  const on = of.prototype as Record<string, Method>;
  const real = on[method] as Method;
  const injected = new Error(`a fault in ${method}`);
  const restore = (): void => void (on[method] = real);
  on[method] = function (...args) {
    if (!when(this as never, ...(args as never[]))) return Reflect.apply(real, this, args);
    restore();
    throw injected;
  };
  onTestFinished(restore);
  return injected;
}

interface Counter {
  add(n: number): number;
  count(): number;
  send(to: Far<Counter>): Promise<number>;
  sendBoth(to: Far<Counter>, and: Far<Counter>): number;
  addAfter(ms: number): void;
  wait(cause: string): Promise<unknown>;
  end(cause: string): Promise<void>;
}
const Counter: Definition<Counter, [bell: object, count: number]> = define('Counter', (bcom, bell, count) => ({
  add: (n) => bcom(Counter(bell, count + n), count + n),
  count: () => count,
  send: (to) => E(to).add(1) as never,
  sendBoth: (to, and) => {
    E.sendOnly(to).add(1);
    E.sendOnly(and).add(1);
    return count;
  },
  addAfter: (ms) => {
    wakeAt(vatTime() + ms, bcom.self, 'add', 1);
  },
  wait: (cause) => under(cause, () => E(bell as Far<{ wait(): number }>).wait()) as never,
  end: (cause) => cut(cause, new CapError('revoked', 'it was revoked: ask again')),
}));

/** The outcome of a call, or `hangs`. */
async function told(promise: Promise<unknown>): Promise<unknown> {
  const outcomes: unknown[] = [];
  promise.then(
    (value) => outcomes.push(value),
    (error: { code?: string }) => outcomes.push(`refused ${error.code}`),
  );
  return (await waitFor(() => outcomes.length > 0)) ? outcomes[0] : 'hangs';
}
const counterIn = (vats: Vats, vat: string, bell: object = {}): Promise<Far<Counter>> =>
  vats.vat(vat).root('counter', () => Counter(bell, 0));

interface Parts {
  readonly clock?: Clock;
  readonly through?: (commit: Commit) => Commit;
}

/** A driver whose calls end when they are aborted. */
const bell = (name: string): Far<{ wait(): number }> =>
  driver<{ wait(): number }>(
    {
      wait: (_args, { signal }) =>
        new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason as Error))),
    },
    { name },
  );

async function open({ clock, through = (commit) => commit }: Parts = {}) {
  const store = await openStore({ memory: true });
  const faults: unknown[] = [];
  const onFault = (error: unknown): void => void faults.push(error);
  const vats = await openVatsThrough({ store, definitions: [Counter], onFault, ...(clock && { clock }) }, through);
  onTestFinished(async () => {
    expect(await told(vats.close())).toBeUndefined();
    await store.close();
  });
  return { store, vats, faults };
}

test('a turn whose writes cannot be taken is undone, its caller is told, and the next turns go on', async () => {
  const { vats, faults } = await open();
  const counters = [await counterIn(vats, 'one'), await counterIn(vats, 'two')] as const;
  const injected = breakOnce(OutputCommit, 'turn');
  const [one, two] = counters.map((counter) => Promise.all([told(E(counter).add(1)), told(E(counter).add(1))]));
  const outcomes = [await one, await two];
  // The order of the vats is the scheduler's.
  expect(outcomes.toSorted()).toEqual([
    [1, 2],
    ['refused unknown-outcome', 1],
  ]);
  for (const [n, counter] of counters.entries()) expect(await told(E(counter).count())).toBe(outcomes[n]?.at(-1));
  expect(faults).toEqual([injected]);
});

test.for([
  ['after a turn', ObjectStore, 'restSome', () => true],
  ['when no message waits', OutputCommit, 'afterTurn', (_self: never, idle: boolean) => idle],
] as const)('an internal error %s keeps no message from its turn', async ([, of, method, when]) => {
  const { vats, faults } = await open();
  const one = await counterIn(vats, 'one');
  // A new slice of turns, so that no later turn ends what the error left undone.
  await new Promise((resolve) => setTimeout(resolve, 5));
  const injected = breakOnce(of, method, when);
  expect(await Promise.all([told(E(one).add(1)), told(E(one).add(1))])).toEqual([1, 2]);
  expect(await told(E(one).count())).toBe(2);
  expect(faults).toEqual([injected]);
});

test('a vat whose turn cannot be undone takes no more messages; others go on, and the next process finds it as it was', async () => {
  const { store, vats, faults } = await open();
  const [one, two] = [await counterIn(vats, 'one'), await counterIn(vats, 'two')];
  await told(E(one).add(1));
  breakOnce(OutputCommit, 'turn');
  breakOnce(Turn, 'rollback');
  expect(await told(E(one).add(1))).toBe('refused unknown-outcome');
  expect(await told(E(one).count())).toBe('refused vat-halted');
  expect(await told(E(two).add(1))).toBe(1);
  expect(faults).toHaveLength(2);
  await told(vats.close());
  const again = await openVats({ store, definitions: [Counter] });
  expect(await told(E(await counterIn(again, 'one')).count())).toBe(1);
  await told(again.close());
});

test('an effect that cannot leave holds up neither the next one nor the answer of the turn', async () => {
  const { vats, faults } = await open();
  const [one, two, three] = [
    await counterIn(vats, 'one'),
    await counterIn(vats, 'two'),
    await counterIn(vats, 'three'),
  ];
  const injected = breakOnce(Message, 'learned', ({ kept }: Message) => kept !== undefined);
  expect(await told(E(one).sendBoth(two, three))).toBe(0);
  expect(faults).toEqual([injected]);
  // The next effect leaves once the others had their turn, which may be after a call from outside.
  let arrived: unknown = 0;
  for (let tries = 0; arrived !== 1 && tries < 1000; tries += 1) arrived = await told(E(three).count());
  expect([await told(E(two).count()), arrived]).toEqual([0, 1]);
});

test('a durable message that cannot be sent on is not lost: its sender is told, and the next process delivers it', async () => {
  const { store, vats, faults } = await open();
  const [one, two] = [await counterIn(vats, 'one'), await counterIn(vats, 'two')];
  const injected = breakOnce(Message, 'learned', ({ kept }: Message) => kept !== undefined);
  expect(await told(E(one).send(two))).toBe('refused unknown-outcome');
  expect(await told(E(two).count())).toBe(0);
  expect(faults).toEqual([injected]);
  await told(vats.close());
  const again = await openVats({ store, definitions: [Counter] });
  expect(await told(E(await counterIn(again, 'two')).count())).toBe(1);
  await told(again.close());
});

test('a revocation whose first caller cannot be told stops every driver call', async () => {
  const { vats, faults } = await open();
  const one = await counterIn(vats, 'one', bell('bell-revoked'));
  const waits = [told(E(one).wait('grant')), told(E(one).wait('grant'))];
  await told(E(one).count());
  const injected = breakOnce(VatPromise, 'break');
  await told(E(one).end('grant'));
  expect(await Promise.all(waits)).toEqual(['refused revoked', 'refused revoked']);
  expect(faults).toEqual([injected]);
});

test('an alarm that cannot be sent holds up no other, and comes in the next process', async () => {
  const clock = testClock();
  const { store, vats, faults } = await open({ clock });
  const [one, two] = [await counterIn(vats, 'one'), await counterIn(vats, 'two')];
  await told(E(one).addAfter(10));
  await told(E(two).addAfter(10));
  await told(vats.settled());
  const injected = breakOnce(Actor, 'post');
  clock.advance(10);
  expect([await told(E(one).count()), await told(E(two).count())]).toEqual([0, 1]);
  expect(faults).toEqual([injected]);
  await told(vats.close());
  const again = await openVats({ store, definitions: [Counter], clock });
  const kept = [await counterIn(again, 'one'), await counterIn(again, 'two')];
  expect([await told(E(kept[0] as Far<Counter>).count()), await told(E(kept[1] as Far<Counter>).count())]).toEqual([
    1, 1,
  ]);
  await told(again.close());
});

test('a commit that cannot begin is a failed one: its callers are told, and the next turns go on', async () => {
  const injected = new Error('a fault in a commit');
  let faulty = false;
  const { vats, faults } = await open({
    through: (commit) => (writes, done) => {
      if (!faulty) return commit(writes, done);
      faulty = false;
      throw injected;
    },
  });
  const one = await counterIn(vats, 'one');
  await told(vats.settled());
  faulty = true;
  expect(await told(E(one).add(1))).toBe('refused unknown-outcome');
  expect(await told(E(one).add(1))).toBe(1);
  expect(faults).toEqual([injected]);
});

test('a driver call whose result cannot be passed on is answered, and the next one too', async () => {
  const { vats, faults } = await open();
  const bell = driver<{ wait(): number }>({ wait: async () => 7 }, { name: 'bell-result' });
  const one = await counterIn(vats, 'one', bell);
  const injected = breakOnce(RunningCall, 'fulfilled');
  expect(await told(E(one).wait('grant'))).toBe('refused unknown-outcome');
  expect(await told(E(one).wait('grant'))).toBe(7);
  expect(await told(E(one).end('grant'))).toBeUndefined();
  expect(faults).toEqual([injected]);
});

test('a driver call that an internal error meets before its start is answered', async () => {
  const { vats, faults } = await open();
  const bell = driver<{ wait(): number }>({ wait: async () => 7 }, { name: 'bell-start' });
  const one = await counterIn(vats, 'one', bell);
  const injected = breakOnce(Causes, 'started');
  expect(await told(E(one).wait('grant'))).toBe('refused unknown-outcome');
  expect(await told(E(one).wait('grant'))).toBe(7);
  expect(faults).toEqual([injected]);
});

test('a revocation that an internal error meets is answered, and ends the other calls', async () => {
  const { vats, faults } = await open();
  const one = await counterIn(vats, 'one', bell('bell-abort'));
  const waits = [told(E(one).wait('grant')), told(E(one).wait('grant'))];
  await told(E(one).count());
  const injected = breakOnce(RunningCall, 'abort');
  expect(await told(E(one).end('grant'))).toBe('refused unknown-outcome');
  expect(await waits[1]).toBe('refused revoked');
  expect(faults).toEqual([injected]);
  expect(await told(E(one).end('grant'))).toBeUndefined();
  expect(await waits[0]).toBe('refused revoked');
});

test('who watches a promise is told, also behind one that throws', () => {
  const faults: unknown[] = [];
  onTestFinished(logFaultsTo((error) => void faults.push(error)));
  const promise = new VatPromise(new Account('test'));
  const injected = new Error('a fault in a watcher');
  const heard: unknown[] = [];
  const hear = (value: unknown): void => void heard.push(value);
  promise.watch(() => {
    throw injected;
  }, hear);
  promise.watch(hear, hear);
  const other = new VatPromise(new Account('test'));
  other.watch(hear, hear);
  promise.watch(() => other.fulfil(2), hear);
  promise.fulfil(1);
  expect(heard).toEqual([expect.objectContaining({ code: 'unknown-outcome' }), 1, 2]);
  expect(faults).toEqual([injected]);
});

test('a message that waits at a promise arrives, also behind one that cannot be passed on', () => {
  const faults: unknown[] = [];
  onTestFinished(logFaultsTo((error) => void faults.push(error)));
  const account = new Account('test');
  const answers = [new VatPromise(account), new VatPromise(account)];
  const heard: unknown[] = [];
  const hear = (value: unknown): void => void heard.push(value);
  for (const answer of answers) answer.watch(hear, hear);
  const promise = new VatPromise(account);
  for (const answer of answers)
    promise.post(new Message({ to: promise, method: 'm', args: [], answer, account, chain: noChain }));
  const injected = breakOnce(Message, 'fail');
  promise.fulfil('data');
  expect(heard).toEqual([
    expect.objectContaining({ code: 'unknown-outcome' }),
    expect.objectContaining({ code: 'not-callable' }),
  ]);
  expect(faults).toEqual([injected]);
});
