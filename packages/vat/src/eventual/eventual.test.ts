/** Messages, promises, resolvers, waiting. */
import { expect, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import {
  CapError,
  type Definition,
  define,
  E,
  type Far,
  type Outcome,
  promise,
  spawn,
  type Vat,
  type Vats,
} from '../index.ts';

let vats: Vats;
let a: Vat;
let b: Vat;
openForEachTest((opened) => ({ vats, a, b } = opened));

interface Log {
  add(x: unknown): number;
  all(): readonly unknown[];
  twin(): Log;
  later(promise: Promise<unknown>): void;
  wait(promise: Promise<unknown>): void;
  told(outcome: Outcome, ...data: unknown[]): void;
}
const Log: Definition<Log, [all: readonly unknown[]]> = define('Log', (bcom, all) => ({
  add: (x) => bcom(Log([...all, x]), all.length),
  all: () => all,
  twin: () => spawn(Log([])),
  later: (x) => {
    const { self } = bcom;
    void E.when(
      x,
      (value) => self.add(['ok', value]),
      (error) => self.add(['broken', error.message]),
    );
  },
  wait: (x) => E.to(bcom.self, 'told', 'data', 7).on(x),
  told: (outcome, ...data) => bcom(Log([...all, outcome, ...data])),
}));

test('a near call is plain and synchronous; in another vat the same reference says to use E', async () => {
  const log = await a.spawn(Log([]));
  expect(await a.turn(() => (log as unknown as Log).add(1))).toBe(0);
  await expect(b.turn(() => (log as unknown as Log).add(1))).rejects.toMatchObject({
    code: 'not-callable',
    message: expect.stringContaining('use E('),
  });
  expect(await E(log).all()).toEqual([1]);
});

test('a near call on an unresolved promise says that it is one', async () => {
  const log = await b.spawn(Log([]));
  await expect(
    a.turn(() => {
      const twin = E(log).twin() as unknown as Log;
      return twin.add(1);
    }),
  ).rejects.toMatchObject({ code: 'not-callable', message: expect.stringContaining('E(promise)') });
});

test("a reference's method called outside a turn enqueues and returns a promise", async () => {
  const log = await a.spawn(Log([]));
  const answer = (log as unknown as Log).add('x');
  expect(answer).toBeInstanceOf(Promise);
  expect(await answer).toBe(0);
});

test('E always queues, also to a near reference', async () => {
  const seen = await a.turn(() => {
    const log = spawn(Log([]));
    const answer = E(log).add('later');
    return { before: log.all(), answer, log };
  });
  expect(seen.before).toEqual([]);
  expect(await seen.answer).toBe(0);
  expect(await E(seen.log as unknown as Far<Log>).all()).toEqual(['later']);
});

test('sendOnly returns nothing, and only the observer sees its failure', async () => {
  const log = await a.spawn(Log([]));
  expect(E.sendOnly(log).add('x') as unknown).toBeUndefined();
  expect((E.sendOnly(log) as unknown as { nope(): unknown }).nope()).toBeUndefined();
  expect(await E(log).all()).toEqual(['x']);
});

test('sendOnly of a value that cannot be passed throws: there is no answer that could break', async () => {
  const log = await a.spawn(Log([]));
  expect(() => E.sendOnly(log).add(() => {})).toThrow(CapError);
  expect(() => (E.sendOnly(5 as never) as unknown as { x(): void }).x()).toThrow(CapError);
});

test('messages are pipelined to what a promise will be, in order, over several steps', async () => {
  const log = await a.spawn(Log([]));
  const twin = E(log).twin();
  const answers = [E(twin).add('x'), E(twin).add('y'), E(E(E(twin).twin()).twin()).add('deep')];
  expect(await Promise.all(answers)).toEqual([0, 1, 0]);
  expect(await E(twin).all()).toEqual(['x', 'y']);
});

test('a resolved promise is delivered as its value, an unresolved one as a promise, also deep inside', async () => {
  const log = await a.spawn(Log([]));
  const pending = promise<number>();
  const Looker: Definition<{ look(x: unknown, deep: readonly unknown[]): string }, []> = define('Looker', () => ({
    look: (x, deep) => [x, ...deep].map((y) => (y instanceof Promise ? 'promise' : typeof y)).join(),
  }));
  const looker = await a.spawn(Looker());
  const twin = E(log).twin();
  await twin;
  expect(await E(looker).look(twin, [twin, pending.promise, 1])).toBe('object,object,promise,number');
  pending.resolver.resolve(1);
});

test('a message to data breaks, sent at once or pipelined', async () => {
  const log = await a.spawn(Log([]));
  const sent = (x: unknown): Promise<unknown> => (E(x as never) as unknown as { m(): Promise<unknown> }).m();
  for (const data of [5, 'text', null, undefined])
    await expect(sent(data)).rejects.toMatchObject({ code: 'not-callable' });
  await expect(sent(E(log).add('x'))).rejects.toMatchObject({ code: 'not-callable' });
  const inTurn = await a.turn(() => ({ data: sent(5), record: sent({ x: 1 }), promised: sent(E(log).all()) }));
  for (const broken of Object.values(inTurn)) await expect(broken).rejects.toMatchObject({ code: 'not-callable' });
});

test('a message to a broken promise breaks with the same error', async () => {
  const { promise: p, resolver } = promise<Log>();
  const waiting = E(p).add(1);
  resolver.break(new CapError('denied', 'no'));
  await expect(waiting).rejects.toMatchObject({ code: 'denied' });
  await expect(E(p).add(2)).rejects.toMatchObject({ code: 'denied' });
});

test('a promise resolved to itself, directly or around a ring of any length, breaks with cycle', async () => {
  const self = promise<number>();
  self.resolver.resolve(self.promise);
  await expect(self.promise).rejects.toMatchObject({ code: 'cycle' });
  const ring = [promise<Log>(), promise<Log>(), promise<Log>()];
  const waiting = ring.map(({ promise: p }) => E(p).add(1));
  for (const [i, { resolver }] of ring.entries())
    resolver.resolve((ring[(i + 1) % 3] as (typeof ring)[number]).promise);
  for (const broken of [...waiting, ...ring.map(({ promise: p }) => p)])
    await expect(broken).rejects.toMatchObject({ code: 'cycle' });
});

test('data that holds its own promise is no cycle', async () => {
  const { promise: p, resolver } = promise<{ p: unknown }>();
  resolver.resolve({ p });
  const log = await a.spawn(Log([]));
  await E(log).later(p);
  expect((await p).p).toBe(p);
});

test('a resolver resolves once: later calls are ignored, with either outcome', async () => {
  const one = promise<number>();
  one.resolver.resolve(1);
  one.resolver.resolve(2);
  one.resolver.break(new Error('late'));
  expect(await one.promise).toBe(1);
  const other = promise<number>();
  other.resolver.break(new Error('first'));
  other.resolver.resolve(1);
  await expect(other.promise).rejects.toThrow('first');
});

test('a resolver can be sent, kept in a portrait and called by message; a failed turn resolves nothing', async () => {
  const Keeper: Definition<{ decide(x: unknown): void; fail(): void }, [resolver: { resolve(x: unknown): void }]> =
    define('Keeper', (_bcom, resolver) => ({
      decide: (x) => resolver.resolve(x),
      fail: () => {
        resolver.resolve('undone');
        throw new Error('no');
      },
    }));
  const { promise: p, resolver } = promise<unknown>();
  const objectStore = await a.spawn(Keeper(resolver));
  await expect(E(objectStore).fail()).rejects.toThrow('no');
  await E(objectStore).decide('kept');
  expect(await p).toBe('kept');
  const other = promise<unknown>();
  await (E(other.resolver) as unknown as { resolve(x: unknown): Promise<void> }).resolve(3);
  expect(await other.promise).toBe(3);
});

test('E.when runs as a turn of its own, with the value or the error, once', async () => {
  const log = await a.spawn(Log([]));
  const one = promise<number>();
  const two = promise<number>();
  await E(log).later(one.promise);
  await E(log).later(two.promise);
  two.resolver.break(new Error('why'));
  one.resolver.resolve(1);
  one.resolver.resolve(2);
  expect(await a.turn(() => E(log).all())).toEqual([
    ['broken', 'why'],
    ['ok', 1],
  ]);
});

test('the promise of E.when settles as its handler returns or throws; without a handler the break passes through', async () => {
  const seen = await a.turn(() => {
    const ok = promise<number>();
    const bad = promise<number>();
    ok.resolver.resolve(1);
    bad.resolver.break(new Error('bad'));
    return [
      E.when(ok.promise, (n) => n + 1),
      E.when(ok.promise, () => {
        throw new RangeError('thrown');
      }),
      E.when(bad.promise, () => 1),
      E.when(
        bad.promise,
        () => 1,
        (error) => error.message.length,
      ),
      E.when(5, (n) => n + 1),
    ];
  });
  const settled = await Promise.allSettled(seen);
  expect(settled.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error).message))).toEqual([
    2,
    'thrown',
    'bad',
    3,
    6,
  ]);
});

test('a handler that throws rolls back its own turn only', async () => {
  const seen = await a.turn(() => {
    const log = spawn(Log([]));
    log.add('kept');
    const done = E.when(1, () => {
      log.add('dropped');
      throw new Error('handler');
    });
    return { log, done };
  });
  await expect(seen.done).rejects.toThrow('handler');
  expect(await E(seen.log as unknown as Far<Log>).all()).toEqual(['kept']);
});

test('E.to waits as a message to the actor itself: an outcome, then the data', async () => {
  const log = await a.spawn(Log([]));
  const one = promise<number>();
  await E(log).wait(one.promise);
  one.resolver.resolve(5);
  await a.turn(() => E(log).all());
  expect(await E(log).all()).toEqual([{ ok: true, value: 5 }, 'data', 7]);
  const two = promise<number>();
  await E(log).wait(two.promise);
  two.resolver.break(new CapError('denied', 'no'));
  await a.turn(() => E(log).all());
  expect((await E(log).all()).slice(3)).toEqual([{ ok: false, code: 'denied', message: 'no' }, 'data', 7]);
});

test('a wait is paid for when it is begun, and given back when its turn is undone', async () => {
  const small = vats.meter('small', { messages: 5 });
  const vat = vats.vat('small', { meter: small });
  const pending = promise<number>();
  const greedy = vat.turn(() => {
    for (let i = 0; i < 10; i += 1) void E.when(pending.promise, () => i);
  });
  await expect(greedy).rejects.toMatchObject({ code: 'limit' });
  expect(small.used()).toMatchObject({ messages: 0, promises: 0 });
  const log = await vat.spawn(Log([]));
  await E(log).wait(pending.promise);
  expect(small.used()['messages']).toBe(1);
  pending.resolver.resolve(1);
  await vat.turn(() => undefined);
  await vat.turn(() => undefined);
  expect(small.used()['messages']).toBe(0);
});

test('messages of one sender through a promise and after its resolution arrive in the order they were sent', async () => {
  const log = await b.spawn(Log([]));
  const Sender: Definition<{ go(to: Promise<Far<Log>>, from: number, n: number): void }, []> = define('Sender', () => ({
    go: (to, from, n) => {
      for (let i = from; i < from + n; i += 1) E.sendOnly(to).add(i);
    },
  }));
  const sender = await a.spawn(Sender());
  const outer = promise<Far<Log>>();
  const inner = promise<Far<Log>>();
  const sent = [E(sender).go(outer.promise, 0, 3)];
  await Promise.all(sent);
  outer.resolver.resolve(inner.promise);
  await E(sender).go(outer.promise, 3, 3);
  inner.resolver.resolve(log);
  await E(sender).go(outer.promise, 6, 3);
  expect(await a.turn(() => E(log).all())).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test('a value that cannot be sent is refused at once: in a turn E throws, outside the answer breaks', async () => {
  const log = await a.spawn(Log([]));
  await expect(E(log).add(() => {})).rejects.toMatchObject({ code: 'invalid' });
  await a.turn(() => {
    expect(() => E(log).add(() => {})).toThrow(CapError);
  });
});

test('E(x) is opaque: it has no then, cannot be written, and shows nothing', async () => {
  const to = E(await a.spawn(Log([]))) as unknown as Record<string, unknown>;
  expect(to['then']).toBeUndefined();
  expect(Reflect.ownKeys(to)).toEqual([]);
  expect(Reflect.set(to, 'x', 1)).toBe(false);
  expect(Object.getPrototypeOf(to)).toBe(null);
});

test('a broken answer that somebody waits for inside does not end the process', async () => {
  const Passer: Definition<{ pass(to: Far<Log>): Promise<unknown> }, []> = define('Passer', () => ({
    pass: (to) => (E(to) as unknown as { nope(): Promise<unknown> }).nope(),
  }));
  const log = await b.spawn(Log([]));
  await expect(E(a.spawn(Passer())).pass(log)).rejects.toMatchObject({ code: 'no-such-method' });
});

test('no argument of E.when gives an actor the internal object of a promise', async () => {
  const given: unknown[] = [];
  const more = (inside: unknown): unknown => given.push(inside);
  const told = a.turn(() => {
    const waiting = E.when as (...all: readonly unknown[]) => Promise<unknown>;
    const bytes = waiting(undefined, () => new Uint8Array([1]), undefined, more, more);
    return waiting(bytes, (value: unknown) => value, undefined, more, more);
  });
  expect(await told).toEqual(new Uint8Array([1]));
  expect(given).toEqual([]);
});
