/** Sessions between two of our ends, in both dialects: values, order, and empty tables afterwards. */
import { describe, expect, test } from 'vitest';
import { HobPeer } from '../../test/hob-peer.ts';
import { closedAfterEachTest, openForEachTest } from '../../test/opened.ts';
import { StepWire } from '../../test/step-wire.ts';
import { CapError, connect, type Definition, define, driver, E, type Far, promise, type Vats } from '../index.ts';
import { type CapTPOptions, type Connection, captp, type DialectName, release } from './captp.ts';
import { type Faults, memoryPair } from './transport/memory-pair.ts';

interface Room {
  add(line: string): number;
  lines(): readonly string[];
  open(name: string): Room;
  echo(value: unknown): unknown;
  same(a: object, b: object): boolean;
  call(listener: object, ...values: unknown[]): Promise<unknown>;
  fail(how: string): never;
  then2(): unknown;
  keep(value: object): void;
  kept(): unknown;
  add2(a: number, b: number): number;
}
const Room: Definition<Room, [name: string, lines: readonly string[], kept: object | undefined]> = define(
  'Room',
  (bcom, name, lines, kept) => ({
    add: (line) => bcom(Room(name, [...lines, line], kept), lines.length + 1),
    lines: () => lines,
    open: () => bcom.self,
    echo: (value) => value,
    same: (a, b) => a === b,
    call: (listener, ...values) =>
      (E(listener as { hear(...values: unknown[]): unknown }).hear as never as (...v: unknown[]) => Promise<unknown>)(
        ...values,
      ),
    fail: (how) => {
      if (how === 'cap') throw new CapError('revoked', 'this grant was revoked: ask for a new one');
      throw new Error(`at /srv/${how}/store.db`);
    },
    then2: () => 2,
    keep: (value) => bcom(Room(name, lines, value)),
    kept: () => kept,
    add2: (a, b) => a + b,
  }),
);

let vats: Vats;
let room: Far<Room>;
openForEachTest(async (opened) => {
  ({ vats } = opened);
  room = await vats.vat('rooms').spawn(Room('hall', [], undefined));
});
const open = closedAfterEachTest<Connection>();

interface Ends {
  readonly client: Connection & { readonly bootstrap: Far<Room> };
  readonly host: Connection & { readonly bootstrap: Far<object> };
}
function connected(
  dialect: DialectName,
  { faults = {}, host = {}, client = {} }: { faults?: Faults; host?: CapTPOptions; client?: CapTPOptions } = {},
): Ends {
  const [a, b] = memoryPair(faults);
  const hostEnd = captp<object>(a, { dialect, bootstrap: room, ...host });
  const clientEnd = captp<Room>(b, { dialect, ...client });
  open.push(hostEnd, clientEnd);
  return { host: hostEnd, client: clientEnd };
}
const code = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    (value) => `no refusal: ${String(value)}`,
    (error: unknown) => (error as CapError).code,
  );
interface Heard {
  hear(value: unknown): unknown;
}
function listener(): { readonly heard: unknown[]; readonly cap: Far<Heard> } {
  const heard: unknown[] = [];
  return { heard, cap: driver<Heard>({ hear: ([value]) => heard.push(value) }) };
}
/** Everything that is on its way has arrived. */
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe.each<DialectName>(['hob.1', 'captp'])('%s', (dialect) => {
  test('calls, pipelined calls and callbacks are answered', async () => {
    const { client } = connected(dialect);
    const { bootstrap } = client;
    expect(await E(bootstrap).add('one')).toBe(1);
    expect(await E(E(E(bootstrap).open('a')).open('b')).add('two')).toBe(2);
    const { heard, cap } = listener();
    expect(await E(bootstrap).call(cap, { from: 'hall' })).toBe(1);
    expect(heard).toEqual([{ from: 'hall' }]);
    expect(await code(E(bootstrap as unknown as Far<{ nothing(): void }>).nothing())).toBe('no-such-method');
  });

  test('data comes home as it went', async () => {
    const { client } = connected(dialect);
    for (const value of [
      null,
      undefined,
      true,
      0,
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      2n ** 200n,
      -5n,
      '',
      'ünïcødé \u2028 \u{1f600}',
      [1, [2, []]],
      { a: { b: [] } },
      { '@': 'object', n: 0 },
      { '@@': 1, '@x': { '@': 2 } },
      { '@qclass': 'slot', index: 0 },
      { '@qclass': 1 },
      Symbol.for('a'),
      Symbol.for('@@a'),
      { then: 1, constructor: 2, toString: [undefined] },
      new Uint8Array([0, 255, 7]),
      [new Uint8Array(), { a: new Uint8Array([1]) }],
      { 10: new Uint8Array([1]), a: 1, 2: new Uint8Array([2, 2]) },
      '#undefined',
      '!x',
    ])
      expect(await E(client.bootstrap).echo(value)).toEqual(value);
    if (dialect === 'hob.1') expect(Object.is(await E(client.bootstrap).echo(-0), -0)).toBe(true);
  });

  test('identity holds both ways, and what one side passes comes home as it was', async () => {
    const { client } = connected(dialect);
    const { cap } = listener();
    const { bootstrap } = client;
    await E(bootstrap).lines();
    expect(await E(bootstrap).echo(cap)).toBe(cap);
    expect(await E(bootstrap).open('a')).toBe(bootstrap);
    expect(await E(bootstrap).same(cap as never, cap as never)).toBe(true);
    expect(await E(bootstrap).same(cap as never, bootstrap as never)).toBe(false);
    await E(bootstrap).keep(cap as never);
    expect(await E(bootstrap).kept()).toBe(cap);
  });

  test('promises cross both ways, fulfilled and broken', async () => {
    const { client } = connected(dialect);
    const later = promise<string>();
    const answer = E(client.bootstrap).echo(later.promise);
    later.resolver.resolve('at last');
    expect(await answer).toBe('at last');
    const broken = promise<string>();
    const refused = code(E(client.bootstrap).echo(broken.promise) as Promise<unknown>);
    broken.resolver.break(new CapError('expired', 'it took too long'));
    expect(await refused).toBe('expired');
    const nested = promise<number>();
    const record = (await E(client.bootstrap).echo({ nested: nested.promise })) as { nested: Promise<number> };
    nested.resolver.resolve(7);
    expect(await record.nested).toBe(7);
  });

  test('an error says its code and text; one that is not ours says nothing of the host', async () => {
    const { client } = connected(dialect);
    await expect(E(client.bootstrap).fail('cap')).rejects.toMatchObject({
      code: 'revoked',
      message: 'this grant was revoked: ask for a new one',
    });
    const error = (await E(client.bootstrap)
      .fail('secret')
      .catch((e: unknown) => e)) as CapError;
    expect(error.code).toBe('error');
    expect(JSON.stringify([error.message, error.code])).not.toMatch(/srv|secret/);
  });

  test('calls on one target arrive in the order in which they were sent, also by a promise', async () => {
    const { client } = connected(dialect);
    const to = E(client.bootstrap).open('a');
    const sent = Array.from({ length: 300 }, (_, index) => String(index));
    await Promise.all(sent.map((line, i) => E(i % 2 === 0 ? to : to).add(line)));
    expect(await E(client.bootstrap).lines()).toEqual(sent);
  });

  test('messages to a promise arrive before later messages to the object of ours that it became', async () => {
    for (const wait of ['await', 'at once', 'direct']) {
      const { client } = connected(dialect, { faults: { delayMs: 5 } });
      const { heard, cap } = listener();
      const p = E(client.bootstrap).echo(cap) as Promise<Far<Heard>>;
      const answers = [E(p).hear(1), E(p).hear(2)];
      if (wait === 'at once') answers.push(E(p).hear(3));
      else {
        const me = await p;
        answers.push(wait === 'direct' ? E(me).hear(3) : E(p).hear(3));
      }
      await Promise.all(answers);
      expect(heard).toEqual([1, 2, 3]);
    }
  });

  test('when the connection closes, what waits breaks with disconnected on both sides', async () => {
    const never = promise<number>();
    const { client, host } = connected(dialect, {
      host: {
        bootstrap: driver<{ wait(): unknown; promised(): unknown }>({
          wait: () => never.promise,
          promised: () => ({ p: never.promise }),
        }),
      },
    });
    const far = client.bootstrap as unknown as Far<{ wait(): unknown; promised(): { p: Promise<number> } }>;
    const record = (await E(far).promised()) as { p: Promise<number> };
    const waits = [code(E(far).wait() as Promise<unknown>), code(record.p)];
    client.close();
    expect(await Promise.all(waits)).toEqual(['disconnected', 'disconnected']);
    expect(await code(E(far).wait() as Promise<unknown>)).toBe('disconnected');
    await host.closed;
    expect(host.stats()).toMatchObject({ questions: 0, answers: 0, imports: 0, exports: 0, promises: 0, bytes: 0 });
  });

  test('an answer that is data takes no calls', async () => {
    const { client } = connected(dialect);
    const text = E(client.bootstrap).echo('text') as unknown as Promise<Far<{ repeat(n: number): string }>>;
    expect(await code(E(text).repeat(3) as Promise<unknown>)).toBe('not-callable');
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty', '__getMethodNames__'])
      expect(
        await code(
          (E(client.bootstrap) as never as Record<string, () => Promise<unknown>>)[name]?.() ??
            Promise.reject(new CapError('no-such-method', '')),
        ),
      ).toBe('no-such-method');
  });

  test('bytes that are larger than a frame travel in parts, or are refused', async () => {
    const { client } = connected(dialect);
    const bytes = new Uint8Array(3_000_000).fill(7);
    if (dialect === 'captp') expect(await code(E(client.bootstrap).echo(bytes))).toBe('limit');
    else expect(Buffer.compare((await E(client.bootstrap).echo(bytes)) as Uint8Array, bytes)).toBe(0);
    expect(await code(E(client.bootstrap).echo('x'.repeat(1 << 20)))).toBe('limit');
    expect(await E(client.bootstrap).echo('here')).toBe('here');
  });
});

test('order holds across three parties: a promise of one, used by another, becomes an object of the host', async () => {
  let box: unknown;
  interface Meeting {
    take(list: unknown): void;
    give(): unknown;
    room(): unknown;
  }
  const bootstrap = driver<Meeting>({
    take: ([list]) => {
      box = list;
    },
    give: () => box,
    room: () => room,
  });
  const peer = (): HobPeer => {
    const [ours, theirs] = memoryPair();
    open.push(captp(ours, { bootstrap }));
    return new HobPeer(theirs);
  };
  const [a, b] = [peer(), peer()];
  a.say(['deliver', 0, 'take', [[{ '@': 'promise', n: 1 }]], 1], ['deliver', 0, 'room', [], 2]);
  const [{ n: hall }] = [JSON.parse(await a.answer(2)) as { n: number }];
  b.say(['deliver', 0, 'give', [], 1]);
  const [{ n: shared }] = JSON.parse(await b.answer(1)) as [{ n: number }];
  b.say(['deliver', shared, 'add', ['first'], 2]);
  const asked = (await a.until(([name, , method]) => name === 'deliver' && method === 'add')) as unknown[];
  expect(asked.slice(0, 4)).toEqual(['deliver', 1, 'add', ['first']]);
  // A resolves it before it sends the first message on to what it became.
  a.say(['resolve', 1, { '@': 'yours', n: hall }]);
  const flushed = (await a.until(([, , method]) => method === '__flush__')) as unknown[];
  expect(flushed.slice(0, 4)).toEqual(['deliver', 1, '__flush__', []]);
  b.say(['deliver', shared, 'add', ['second'], 3]);
  await quiet();
  expect(await E(room).lines()).toEqual([]);
  expect(b.said.some(([name]) => name === 'resolve')).toBe(false);
  a.say(['deliver', hall, 'add', ['first'], 3], ['deliver', hall, '__flush__', [], 4]);
  expect(await a.answer(3)).toBe('1');
  a.say(['return', asked[4], 1], ['return', flushed[4], { '@': 'undefined' }]);
  expect(await b.answer(3)).toBe('2');
  expect(await E(room).lines()).toEqual(['first', 'second']);
  expect(await b.until(([name, id]) => name === 'resolve' && id === shared)).toBeDefined();
});

test('arguments may be answers that are not there yet: one round trip', async () => {
  const wire = new StepWire();
  const host = captp<object>(wire.ends[0], { bootstrap: room });
  const client = captp<Room>(wire.ends[1]);
  open.push(host, client);
  let answer: unknown = 'waits';
  E(client.bootstrap)
    .add2(E(client.bootstrap).add('a') as never, E(client.bootstrap).add('b') as never)
    .then((value) => (answer = value));
  // All there is goes there, once; all there is comes back, once.
  for (const end of [0, 1] as const) {
    await quiet();
    while (wire.step(end));
  }
  await quiet();
  expect(answer).toBe(3);
  client.close();
  while (wire.step(0));
});

test('nothing is left when everything was answered, forgotten and released', async () => {
  const { client, host } = connected('hob.1');
  const { cap } = listener();
  for (let i = 0; i < 50; i += 1) {
    const echo = (await E(client.bootstrap).echo({ cap, p: Promise.resolve(i) })) as { p: Promise<number> };
    expect(await echo.p).toBe(i);
  }
  const made = await E(client.bootstrap).echo(driver<Heard>({ hear: () => 1 }));
  void made;
  await quiet();
  const gone = (): boolean => {
    const { answers, promises, imports } = host.stats();
    return answers === 0 && promises === 0 && imports === 1;
  };
  for (let i = 0; i < 100 && !gone(); i += 1) {
    (globalThis as unknown as { gc(): void }).gc();
    await quiet();
  }
  expect(host.stats()).toMatchObject({ questions: 0, answers: 0, promises: 0 });
  expect(client.stats()).toMatchObject({ questions: 0, answers: 0, promises: 0 });
});

test('a released reference is given back, and dead for those who still hold it', async () => {
  const { client, host } = connected('hob.1', {
    host: { bootstrap: driver<{ make(): unknown }>({ make: () => driver<Heard>({ hear: () => 1 }) }) },
  });
  const far = client.bootstrap as unknown as Far<{ make(): Heard }>;
  const made = (await E(far).make()) as unknown as Far<Heard>;
  expect(await E(made).hear(1)).toBe(1);
  expect(host.stats().exports).toBe(2);
  release(made);
  expect(await code(E(made).hear(1) as Promise<unknown>)).toBe('no-such-object');
  await quiet();
  expect(host.stats().exports).toBe(1);
  expect(client.stats().imports).toBe(1);
});

test('messages of a turn leave when it commits, and never if it fails', async () => {
  const { client } = connected('hob.1');
  const { bootstrap } = client;
  const vat = vats.vat('client');
  await expect(
    vat.turn(() => {
      E.sendOnly(bootstrap).add('never');
      throw new CapError('invalid', 'x');
    }),
  ).rejects.toThrow();
  await vat.turn(() => void E.sendOnly(bootstrap).add('once'));
  expect(await E(bootstrap).lines()).toEqual(['once']);
});

test('a dialect that is not spoken is refused before anything is sent or dialled, and the error says what to choose', async () => {
  const [ours] = memoryPair();
  const nobody = 'ws://127.0.0.1:9';
  for (const [dialect, refusal] of [
    ['ocapn', 'unavailable'],
    ['telnet', 'invalid'],
  ] as const) {
    const options = { dialect: dialect as 'ocapn' };
    expect(() => captp(ours, options)).toThrow(
      expect.objectContaining({ code: refusal, message: expect.stringContaining('choose hob.1') }),
    );
    expect(await code(connect(nobody, { ...options, secret: 'none' }))).toBe(refusal);
  }
});
