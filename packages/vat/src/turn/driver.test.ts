/** Drivers run after the commit, results come back in later turns, and a cut reaches them. */
import { expect, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import { drivenBy, objectOf, refusalOf, under, type Watch } from '../forwarder.ts';
import {
  CapError,
  type Definition,
  type DriverCall,
  define,
  driver,
  driverOf,
  E,
  type Far,
  promise,
  spawn,
  type TurnRecord,
  type Vat,
  type Vats,
} from '../index.ts';
import { driverNamed } from './named-driver.ts';

let vats: Vats;
let vat: Vat;
let records: TurnRecord[];
openForEachTest((opened) => ({ vats, a: vat, records } = opened));

interface World {
  act(x: unknown): unknown;
}
interface Seen {
  readonly args: readonly unknown[];
  readonly call: DriverCall;
  readonly turns: number;
}
function world(answer: (seen: Seen) => unknown = ({ args }) => args[0]): {
  readonly ref: Far<World>;
  readonly calls: Seen[];
} {
  const calls: Seen[] = [];
  const ref = driver<World>({
    act: (args, call) => {
      const seen = { args, call, turns: records.length };
      calls.push(seen);
      return answer(seen);
    },
  });
  return { ref, calls };
}

interface User {
  use(world: Far<World>, how: string): unknown;
  last(): unknown;
  got(x: unknown): void;
}
const User: Definition<User, [last: unknown]> = define('User', (bcom, last) => ({
  use: (it, how) => {
    const answer = how === 'under' ? under('grant-1', () => under('grant-2', () => E(it).act(how))) : E(it).act(how);
    if (how === 'fail') throw new Error('no');
    const { self } = bcom;
    void E.when(
      answer,
      (value) => self.got(value),
      (error) => self.got((error as CapError).code ?? error.message),
    );
    return answer;
  },
  last: () => last,
  got: (x) => bcom(User(x)),
}));

test('a driver is called only after the turn that sent is committed, and never for one that failed', async () => {
  const { ref, calls } = world();
  const user = await vat.spawn(User(0));
  const before = records.length;
  await E(user).use(ref, 'x');
  expect(calls[0]?.turns).toBeGreaterThan(before);
  await expect(E(user).use(ref, 'fail')).rejects.toThrow('no');
  expect(calls).toHaveLength(1);
});

test('a result comes back as a later turn of who waited', async () => {
  const { ref } = world(async () => 'result');
  const user = await vat.spawn(User(0));
  expect(await E(user).use(ref, 'x')).toBe('result');
  await vat.turn(() => undefined);
  expect(await E(user).last()).toBe('result');
  expect(records.some((turn) => turn.to === 'when')).toBe(true);
});

test('a driver is never near: calling it in a turn says to use E', async () => {
  const { ref, calls } = world();
  await expect(vat.turn(() => (ref as unknown as World).act(1))).rejects.toMatchObject({ code: 'not-callable' });
  expect(calls).toHaveLength(0);
});

test('E on a driver from outside never runs it before it returns', async () => {
  const { ref, calls } = world();
  const answer = E(ref).act(1);
  expect(calls).toHaveLength(0);
  expect(await answer).toBe(1);
});

test('calls arrive in the order they were sent', async () => {
  const { ref, calls } = world();
  await vat.turn(() => {
    for (let i = 0; i < 20; i += 1) E.sendOnly(ref).act(i);
  });
  await E(ref).act('last');
  expect(calls.map((seen) => seen.args[0])).toEqual([...Array(20).keys(), 'last']);
});

test('a driver is told its meter and the grants of the call, outermost first', async () => {
  const { ref, calls } = world();
  const user = await vat.spawn(User(0));
  await E(user).use(ref, 'under');
  const { call } = calls[0] as Seen;
  expect(call.meter).toBe(vats.meter('a'));
  expect(call.cause).toEqual(['grant-1', 'grant-2']);
  expect(call.signal.aborted).toBe(false);
  expect(Object.isFrozen(call)).toBe(true);
});

test('a driver can destructure the facts about its call, and they lead to nothing else', async () => {
  const { ref, calls } = world();
  const user = await vat.spawn(User(0));
  await E(user).use(ref, 'under');
  const { call } = calls[0] as Seen;
  const { signal, watch, tell } = call;
  const watched = watch();
  await tell('told', {});
  const cutting = vats.cut('grant-2', new CapError('revoked', 'enough'));
  expect([signal.aborted, watched.signal.aborted]).toEqual([false, true]);
  watched.done();
  await cutting;
  expect([Reflect.ownKeys(call), call.constructor]).toEqual([[], Object]);
  expect(Object.isFrozen(Object.getPrototypeOf(call))).toBe(true);
});

test('cutting a cause fires the signal, tells the caller at once, drops what still comes, and waits for the driver', async () => {
  let finish: (value: string) => void = () => {};
  const { ref, calls } = world(
    ({ call }) =>
      new Promise((resolve) => {
        void call.signal;
        finish = resolve;
      }),
  );
  const user = await vat.spawn(User(0));
  const answer = E(user).use(ref, 'under');
  while (calls.length === 0) await vat.turn(() => undefined);
  const { signal } = (calls[0] as Seen).call;
  let cutDone = false;
  const cut = vats.cut('grant-1', new CapError('revoked', 'taken back')).then(() => {
    cutDone = true;
  });
  await expect(answer).rejects.toMatchObject({ code: 'revoked' });
  expect([signal.aborted, (signal.reason as CapError).code, cutDone]).toEqual([true, 'revoked', false]);
  finish('too late');
  await cut;
  await vat.turn(() => undefined);
  expect(await E(user).last()).toBe('revoked');
});

test('after the cut no message under the cause is delivered, by any way; others are', async () => {
  const { ref, calls } = world();
  const user = await vat.spawn(User(0));
  await vats.cut('grant-2', new CapError('expired', 'over'));
  await expect(E(user).use(ref, 'under')).rejects.toMatchObject({ code: 'expired' });
  expect(calls).toHaveLength(0);
  expect(await E(user).use(ref, 'plain')).toBe('plain');
});

test('messages that follow from one under a cause are under it too', async () => {
  const { ref, calls } = world();
  const Chain: Definition<{ start(user: Far<User>): unknown; pass(user: Far<User>): unknown }, []> = define(
    'Chain',
    (bcom) => ({
      start: (user) => under('grant-3', () => E(bcom.self).pass(user)),
      pass: (user) => E(user).use(ref, 'deep'),
    }),
  );
  const [chain, user] = [await vat.spawn(Chain()), await vats.vat('b').spawn(User(0))];
  expect(await E(chain).start(user)).toBe('deep');
  expect(calls[0]?.call.cause).toEqual(['grant-3']);
});

test('closing the vats aborts what is outside and waits for it', async () => {
  const { ref, calls } = world(
    ({ call }) =>
      new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason))),
  );
  const user = await vat.spawn(User(0));
  const answer = E(user).use(ref, 'x');
  while (calls.length === 0) await vat.turn(() => undefined);
  const closing = vats.close();
  await expect(answer).rejects.toMatchObject({ code: 'unavailable' });
  await closing;
});

test("a driver's own error reaches its caller; what it may not answer is invalid; unknown methods are refused", async () => {
  const error = new RangeError('disk');
  const failing = world(() => {
    throw error;
  });
  await expect(E(failing.ref).act(1)).rejects.toBe(error);
  await expect(E(world(async () => new Map()).ref).act(1)).rejects.toMatchObject({ code: 'invalid' });
  const { ref } = world();
  const to = E(ref) as unknown as Record<string, () => Promise<unknown>>;
  for (const name of ['nope', 'toString', 'constructor__', 'hasOwnProperty'])
    await expect(to[name]?.()).rejects.toMatchObject({ code: 'no-such-method' });
  expect(() => driver({ then: () => 1 } as never)).toThrow(expect.objectContaining({ code: 'invalid' }));
  expect(() => driver({ x: 5 } as never)).toThrow(expect.objectContaining({ code: 'invalid' }));
});

test('driverOf wraps an object of a class with its own this, answers with methods too, and one object once', async () => {
  class File {
    #text: string;
    constructor(text: string) {
      this.#text = text;
    }
    async read(): Promise<string> {
      return this.#text;
    }
    async sibling(): Promise<File> {
      return this;
    }
  }
  const file = new File('text');
  const ref = driverOf(file);
  expect(driverOf(file)).toBe(ref);
  expect(await E(ref).read()).toBe('text');
  expect(await E(E(ref).sibling()).read()).toBe('text');
  expect(await E(ref).sibling()).toBe(ref);
  expect(() => driverOf({ x: 1 })).toThrow(expect.objectContaining({ code: 'invalid' }));
  const Keep: Definition<{ read(): Promise<string> }, [file: Far<File>]> = define('Keep', (_bcom, it) => ({
    read: () => E(it).read(),
  }));
  expect(await vat.turn(() => E(spawn(Keep(ref))).read())).toBe('text');
});

test('an answer of driverOf that is data is data: its getters are not run, and a method that throws at once breaks the answer', async () => {
  let ran = 0;
  const ref = driverOf({
    data: () => ({ version: 'v1', then: undefined }),
    hidden: () => ({
      get act(): () => void {
        ran += 1;
        return () => {};
      },
    }),
    fails: (): number => {
      throw new CapError('invalid', 'at once');
    },
  });
  expect(await E(ref).data()).toEqual({ version: 'v1', then: undefined });
  await expect(E(ref).hidden()).rejects.toMatchObject({ code: 'invalid' });
  expect(ran).toBe(0);
  await expect(E(ref).fails()).rejects.toMatchObject({ code: 'invalid', message: 'at once' });
});

test('objectOf answers, to the program only, the object that a reference of driverOf stands for, by name too', async () => {
  const object = { read: () => ({ more: () => 1 }) };
  const plain = driverOf(object);
  expect(objectOf(plain)).toBe(object);
  expect(objectOf(driverOf(object, { name: 'object-of' }))).toBe(object);
  expect(objectOf(driver<{ read(): number }>({ read: () => 1 }))).toBeUndefined();
  expect(objectOf(object)).toBeUndefined();
  await expect(vat.turn(() => void objectOf(plain))).rejects.toMatchObject({ code: 'not-callable' });
});

test('an object that says itself what a call by reference does is told of each call, and watches its grants after the answer', async () => {
  const watches: Watch[] = [];
  const thing = drivenBy(
    { begin: () => 'plain' },
    {
      begin: (_args, call) => {
        watches.push(call.watch());
        return drivenBy({ it: true }, { inner: (_none, { cause }) => cause.length });
      },
    },
  );
  expect(thing.begin()).toBe('plain');
  const ref = driverOf(thing) as unknown as Far<{ begin(): { inner(): number } }>;
  const made = (await vat.turn(() => under('g1', () => E(ref).begin()))) as unknown as Far<{ inner(): number }>;
  expect(await vat.turn(() => under('g1', () => under('g2', () => E(made).inner())))).toBe(2);
  // Nobody's grant: the program itself asks.
  await E(ref).begin();
  const [mine, none] = watches as [Watch, Watch];
  expect(mine.signal.aborted).toBe(false);
  let over = false;
  const cutting = vats.cut('g1', new CapError('revoked', 'enough')).then(() => (over = true)); // biome-ignore format: one line
  await new Promise((told) => setImmediate(told));
  expect([mine.signal.aborted, none.signal.aborted, over]).toEqual([true, false, false]);
  mine.done();
  none.done();
  await cutting;
});

interface Asker {
  ask(world: Far<World>): unknown;
}
const Asker: Definition<Asker, []> = define('Asker', () => ({ ask: (it) => E(it).act('x') }));

test('a driver that returned a promise which nobody settles keeps no vats open, and its caller is told', async () => {
  const { promise: never } = await vat.turn(() => promise<string>());
  const { ref, calls } = world(() => never);
  const told = expect(E(await vat.spawn(Asker())).ask(ref)).rejects.toMatchObject({ code: 'unavailable' });
  await expect.poll(() => calls.length).toBe(1);
  await vats.close();
  await told;
});

test('a call of a driver that the program has not named yet, or that is away, is known to be refused', () => {
  const slot = driverNamed('driver.test: away');
  expect(refusalOf(slot)?.code).toBe('unavailable');
  let there = false;
  const away = (): CapError | undefined => (there ? undefined : new CapError('unavailable', 'not now'));
  driverOf(drivenBy({}, { pay: () => 1 }, away) as { pay(): number }, { name: 'driver.test: away' });
  expect(refusalOf(slot)?.message).toBe('not now');
  there = true;
  expect(refusalOf(slot)).toBe(undefined);
});

test('a caller pays for each pending promise that it gives to a driver, until that promise is settled', async () => {
  const { ref, calls } = world(() => 'done');
  const meter = vats.meter('attacker', { promises: 100 });
  const attacker = vats.vat('attacker', { meter });
  for (const how of ['resolve', 'break'] as const) {
    const { promise: never, resolver } = await attacker.turn(() => promise<string>());
    const before = Number(meter.used()['promises']);
    calls.length = 0;
    // Each call has ended when the next one is made, so no other limit holds.
    const ended: string[] = [];
    for (let n = 0; n < 300; n += 1)
      ended.push(
        await attacker.turn(() => E(ref).act([{ deep: never }])).then(String, (error: CapError) => error.code),
      );
    expect(ended.at(-1)).toBe('limit');
    expect(calls.length).toBeLessThanOrEqual(100);
    expect(meter.used()['promises']).toBeLessThanOrEqual(100);
    const [first] = calls.map(({ args }) => args[0] as readonly [{ readonly deep: Promise<string> }]);
    if (how === 'resolve') E(resolver as unknown as { resolve(x: string): void }).resolve('late');
    else E(resolver as unknown as { break(x: Error): void }).break(new CapError('denied', 'no'));
    expect(await first?.[0].deep.catch((error: CapError) => error.code)).toBe(how === 'resolve' ? 'late' : 'denied');
    expect(meter.used()['promises']).toBeLessThan(before);
    expect(await attacker.turn(() => E(ref).act([{ deep: never }]))).toBe('done');
  }
});
