/** Values that look like data and are not: refused when the message or the portrait is made, never later. */
import { expect, onTestFinished, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import {
  attempt,
  CapError,
  type Definition,
  define,
  defineProcedure,
  E,
  type Far,
  openVats,
  spawn,
  table,
  type Vats,
} from '../index.ts';

interface Keep {
  get(): unknown;
  put(value: unknown): void;
  echo(value: unknown): unknown;
}
const Keep: Definition<Keep, [value: unknown]> = define('Keep', (bcom, value) => ({
  get: () => value,
  put: (next) => bcom(Keep(next)),
  echo: (x) => x,
}));

let vats: Vats;
openForEachTest((opened) => ({ vats } = opened));

const never = (what: string) => (): never => {
  throw new Error(`${what} was run`);
};

function deep(depth: number): unknown {
  let at: unknown = 0;
  for (let i = 0; i < depth; i += 1) at = [at];
  return at;
}

function cyclic(): object {
  const record: Record<string, unknown> = {};
  record['self'] = { inner: [record] };
  return record;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

class Account {
  balance = 1;
}
class Stack extends Array<number> {}
class Later<T> extends Promise<T> {}

const traps = new Proxy({}, { get: never('get') as never, ownKeys: never('ownKeys'), getPrototypeOf: never('proto') });

const hostile: Readonly<Record<string, () => unknown>> = {
  'a getter': () => Object.defineProperty({}, 'x', { get: never('getter'), enumerable: true }),
  'a getter deep in what somebody froze': () =>
    Object.freeze({
      a: Object.freeze([Object.freeze(Object.defineProperty({}, 'x', { get: never('getter'), enumerable: true }))]),
    }),
  'a getter in an array': () => Object.defineProperty([1], 0, { get: never('getter') }),
  'a setter': () => ({ set x(_: number) {} }),
  'a Proxy': () => traps,
  'a Proxy of an array': () => new Proxy([], { get: never('get') as never }),
  'a Proxy of a function': () => new Proxy(() => {}, { apply: never('apply') }),
  'a revoked Proxy': revoked,
  'an object whose prototype is a Proxy': () => Object.create(traps),
  'a cycle': cyclic,
  'depth 100,000': () => deep(100_000),
  'a record named __proto__': () => JSON.parse('{"__proto__": {"polluted": true}}'),
  'a hidden property': () => Object.defineProperty({}, 'x', { value: 1 }),
  'a symbol key': () => ({ [Symbol('x')]: 1 }),
  'a symbol of its own': () => Symbol('x'),
  'a function': () => () => 1,
  'a method': () => ({ m() {} }),
  'a thenable': () => ({ then: never('then') }),
  'a thenable with a getter': () => Object.defineProperty({}, 'then', { get: never('then'), enumerable: true }),
  'a class instance': () => new Account(),
  'a Map': () => new Map(),
  'a Date': () => new Date(0),
  'a regular expression': () => /x/,
  'a subclassed array': () => new Stack(),
  'an array with holes': () => Object.assign(new Array(3), { 0: 1, 2: 3 }),
  'an array of length 4,294,967,295': () => new Array(4_294_967_295),
  'an array with a name': () => Object.assign([1], { extra: 2 }),
  'an array with an iterator of its own': () => Object.assign([1], { [Symbol.iterator]: never('iterator') }),
  'a SharedArrayBuffer': () => new SharedArrayBuffer(8),
  'an ArrayBuffer': () => new ArrayBuffer(8),
  floats: () => new Float64Array(1),
  'bytes that were transferred': () => {
    const bytes = new Uint8Array(4);
    bytes.buffer.transfer();
    return bytes;
  },
  'a boxed string': () => Object('x'),
  arguments: () =>
    (function () {
      // biome-ignore lint/complexity/noArguments: it is what is tried
      return arguments;
    })(),
  'a promise of a class of its own': () => Later.resolve(1),
  'a promise with a constructor of its own': () =>
    Object.defineProperty(Promise.resolve(1), 'constructor', { get: never('constructor') }),
  'a promise with a then of its own': () => Object.defineProperty(Promise.resolve(1), 'then', { value: never('then') }),
};

for (const [name, make] of Object.entries(hostile)) {
  test(`${name} is refused when the message is made`, async () => {
    const far = await vats.vat('a').spawn(Keep(0));
    await expect(E(far).put(make())).rejects.toMatchObject({ code: 'invalid' });
    await expect(E(far).put({ deep: [make()] })).rejects.toMatchObject({ code: 'invalid' });
    await vats.vat('b').turn(() => {
      expect(() => E(far).put(make())).toThrow(CapError);
    });
    expect(await E(far).get()).toBe(0);
  });

  test(`${name} is refused when the portrait is made, and in a table, and as an answer`, async () => {
    expect(() => Keep(make())).toThrow(CapError);
    expect(() => Keep([{ a: make() }])).toThrow(CapError);
    await vats.vat('a').turn(() => {
      const rows = table<unknown>();
      expect(() => rows.set('k', make())).toThrow(CapError);
      expect(rows.size).toBe(0);
    });
    const answer = vats.vat('a').turn(() => [make()]);
    await expect(answer).rejects.toMatchObject({ code: 'invalid' });
  });
}

test('a value arrives as it was sent: all kinds of data, names of Object.prototype too', async () => {
  const far = await vats.vat('a').spawn(Keep(0));
  const data = {
    n: [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY],
    big: 2n ** 80n,
    text: '\u{1f47a} \ud800',
    no: [null, undefined],
    yes: true,
    symbol: Symbol.for('x'),
    constructor: 1,
    toString: 'text',
    hasOwnProperty: 2,
    isPrototypeOf: 3,
    then: { nested: 'a JSON schema has this' },
    bare: Object.assign(Object.create(null), { x: 1 }),
  };
  const back = await E(far).echo(data);
  expect(back).toEqual({ ...data, bare: { x: 1 } });
  expect(Object.is((back as unknown as typeof data).n[1], -0)).toBe(true);
  expect(Object.isFrozen(back)).toBe(true);
  expect(Object.hasOwn(back as object, 'toString')).toBe(true);
});

test('a setter on Object.prototype is not run by data that has its name', async () => {
  if (Object.isFrozen(Object.prototype)) return; // the attack needs a world that is not locked down
  const seen: unknown[] = [];
  Object.defineProperty(Object.prototype, 'trap', { set: (value) => void seen.push(value), configurable: true });
  try {
    const far = await vats.vat('a').spawn(Keep(JSON.parse('{"trap": "secret"}')));
    expect(Object.hasOwn((await E(far).get()) as object, 'trap')).toBe(true);
  } finally {
    delete (Object.prototype as { trap?: unknown }).trap;
  }
  expect(seen).toEqual([]);
});

test('the receiver does not see later changes of the sender, and cannot change what it received', async () => {
  const far = await vats.vat('a').spawn(Keep(0));
  const sent = { list: [1], bytes: Uint8Array.of(1) };
  const done = E(far).put(sent);
  sent.list.push(2);
  sent.bytes[0] = 9;
  await done;
  expect(await E(far).get()).toEqual({ list: [1], bytes: Uint8Array.of(1) });
  const got = (await E(far).get()) as { list: number[] };
  expect(() => got.list.push(3)).toThrow(TypeError);
});

test('bytes are copied for each receiver, without running an iterator or length of theirs', async () => {
  const bytes = Uint8Array.of(1, 2, 3);
  Object.defineProperty(bytes, Symbol.iterator, { value: never('iterator') });
  Object.defineProperty(bytes, 'length', { get: never('length') });
  const portrait = Keep(bytes);
  const seen = await vats.vat('a').turn(() => {
    const one = spawn(portrait);
    const other = spawn(portrait);
    (one.get() as Uint8Array)[0] = 9;
    return [other.get(), spawn(portrait).get()];
  });
  expect(seen).toEqual([Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 3)]);
});

test('a reader of a table cannot change the bytes in it', async () => {
  const seen = await vats.vat('a').turn(() => {
    const rows = table<Uint8Array>();
    rows.set('k', Uint8Array.of(1));
    (rows.get('k') as Uint8Array)[0] = 9;
    for (const [, value] of rows.entries()) value[0] = 9;
    return rows.get('k');
  });
  expect(seen).toEqual(Uint8Array.of(1));
});

test('bytes that two holders are promised are two copies', async () => {
  const given: Uint8Array[] = [];
  const Taker: Definition<{ take(bytes: Uint8Array): void }, []> = define('Taker', () => ({
    take: (bytes) => {
      given.push(bytes);
      bytes[0] = (bytes[0] as number) + 1;
    },
  }));
  const source = await vats.vat('a').spawn(Keep(Uint8Array.of(1)));
  const takers = [await vats.vat('a').spawn(Taker()), await vats.vat('b').spawn(Taker())];
  const promised = E(source).get() as Promise<Uint8Array>;
  // Before it is kept, an argument is the promise itself; two vats run in no fixed order.
  await promised;
  await Promise.all(takers.map((taker) => E(taker).take(promised)));
  expect(given.map((bytes) => bytes[0])).toEqual([2, 2]);
  expect(given[0]).not.toBe(given[1]);
  expect(await E(source).get()).toEqual(Uint8Array.of(1));
});

test('bytes that came by a promise within data are copied like any others when that data is handed on', async () => {
  const kept = await vats.vat('b').spawn(Keep(0));
  const Handing: Definition<{ take(data: { bytes: Uint8Array }): unknown }, [to: object]> = define(
    'Handing',
    (_bcom, to) => ({
      take: (data) => {
        const sent = E(to as Far<Keep>).put(data);
        data.bytes[0] = 9;
        return sent;
      },
    }),
  );
  const source = await vats.vat('a').spawn(Keep(Uint8Array.of(1)));
  const handing = await vats.vat('a').spawn(Handing(kept as object));
  const bytes = E(source).get() as unknown as Promise<Uint8Array>;
  await bytes;
  await E(handing).take({ bytes } as never);
  expect(await E(kept).get()).toEqual({ bytes: Uint8Array.of(1) });
});

test('a SharedArrayBuffer behind bytes is left behind', async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(2));
  const far = await vats.vat('a').spawn(Keep(shared));
  shared[0] = 7;
  const got = (await E(far).get()) as unknown as Uint8Array;
  expect(got).toEqual(Uint8Array.of(0, 0));
  expect(got.buffer).toBeInstanceOf(ArrayBuffer);
});

test('data whose parts are shared is walked once, however often it is met', async () => {
  let shared: unknown = ['end'];
  for (let i = 0; i < 100; i += 1) shared = [shared, shared];
  const far = await vats.vat('a').spawn(Keep(0));
  let at = (await E(far).echo(shared)) as unknown[];
  for (let i = 0; i < 100; i += 1) at = at[1] as unknown[];
  expect(at).toEqual(['end']);
});

test('data with a promise in it is delivered with its parts shared as they were: not written out, 2 to its depth', async () => {
  const Looker: Definition<{ look(data: unknown): number }, []> = define('Looker', () => ({
    look: (data) => {
      // So many lists of their own: of the first few each place has one, and 4095 places there are.
      const lists = new Set<unknown>();
      const walk = (value: unknown): void => {
        if (!Array.isArray(value) || lists.has(value)) return;
        lists.add(value);
        value.forEach(walk);
      };
      walk(data);
      return lists.size;
    },
  }));
  const far = await vats.vat('a').spawn(Looker());
  let shared: unknown = [1, E(far).look(0)];
  for (let i = 0; i < 12; i += 1) shared = [shared, shared];
  expect(await E(far).look(shared)).toBeLessThan(100);
});

test('depth 127 passes and 129 does not', async () => {
  const far = await vats.vat('a').spawn(Keep(0));
  await E(far).put(deep(127));
  await expect(E(far).put(deep(129))).rejects.toMatchObject({ code: 'invalid' });
});

test('data that was passed before is handed on as it is', async () => {
  const portrait = Keep({ a: [1] });
  const same = await vats.vat('a').turn(() => {
    const one = spawn(portrait);
    return spawn(Keep(one.get())).get() === one.get();
  });
  expect(same).toBe(true);
});

test('a promise is refused in a portrait and in a table, deep inside and handed on too', async () => {
  const far = await vats.vat('a').spawn(Keep(0));
  expect(() => Keep(E(far).get())).toThrow(/promise/);
  const Holder: Definition<{ hold(x: unknown): void }, [x?: unknown]> = define('Holder', (bcom) => ({
    hold: (x) => bcom(Holder(x)),
  }));
  const holder = await vats.vat('b').spawn(Holder());
  const pending = new Promise<never>(() => {});
  await expect(E(holder).hold({ a: [pending] })).rejects.toMatchObject({ code: 'invalid' });
});

test('an error arrives as a plain frozen error of its kind with its message and code, nothing else of it', async () => {
  const far = await vats.vat('a').spawn(Keep(0));
  const sent = Object.assign(new RangeError('too far'), { extra: { secret: 1 } });
  Object.defineProperty(sent, 'message', { get: never('message') });
  const hidden = (await E(far).echo(sent)) as Error;
  expect(hidden).toBeInstanceOf(RangeError);
  expect(hidden.message).toBe('');
  const plain = (await E(far).echo(Object.assign(new TypeError('why'), { extra: 1 }))) as unknown as Error;
  expect([plain.name, plain.message, 'extra' in plain, Object.isFrozen(plain)]).toEqual([
    'TypeError',
    'why',
    false,
    true,
  ]);
  const cap = (await E(far).echo(new CapError('denied', 'no'))) as unknown as CapError;
  expect([cap instanceof CapError, cap.code, cap.message]).toEqual([true, 'denied', 'no']);
});

test('a thrown value cannot act either: no trap or getter of it runs outside its turn', async () => {
  const seen: string[] = [];
  await vats.close();
  vats = await openVats({ observe: (turn) => void seen.push(turn.code) });
  onTestFinished(() => vats.close());
  const vat = vats.vat('a');
  const thrownThings: readonly unknown[] = [
    traps,
    revoked(),
    Object.defineProperty(new Error('x'), 'message', { get: never('message') }),
    Object.setPrototypeOf(new Error('x'), traps),
    Object.assign(new Error('x'), { code: traps, cause: traps }),
    { toString: never('toString') },
    cyclic(),
    () => {},
  ];
  for (const thing of thrownThings) {
    const error: unknown = await vat
      .turn(() => {
        throw thing;
      })
      .then(never('ok'), (reason: unknown) => reason);
    expect(Object.isFrozen(error)).toBe(true);
    expect(Object.is(error, thing)).toBe(false);
  }
  expect(seen).toHaveLength(thrownThings.length);
  expect(await vat.turn(() => 'still there')).toBe('still there');
});

test('an ordinary error comes out of a turn as the very one that was thrown; a symbol and data as themselves', async () => {
  const error = new RangeError('no');
  const vat = vats.vat('a');
  const caught = (thing: unknown): Promise<unknown> =>
    vat
      .turn(() => {
        throw thing;
      })
      .then(never('ok'), (reason: unknown) => reason);
  expect(await caught(error)).toBe(error);
  expect(await caught(Symbol.for('oh-no'))).toBe(Symbol.for('oh-no'));
  expect(await caught({ why: ['data'] })).toEqual({ why: ['data'] });
});

test('a record with a callable "then" never reaches a host that awaits it', async () => {
  const Fn: Definition<(...args: readonly unknown[]) => void, []> = define('Fn', () => () => {});
  await expect(vats.vat('a').turn(() => ({ then: spawn(Fn()) }))).rejects.toMatchObject({ code: 'invalid' });
});

test('a refused argument in the middle of a turn undoes only what its throwing undoes', async () => {
  const far: Far<Keep> = await vats.vat('a').spawn(Keep('before'));
  const Sender: Definition<{ run(): string }, [far: Far<Keep>]> = define('Sender', (_bcom, to) => ({
    run: () => {
      E.sendOnly(to).put('sent');
      try {
        attempt(() => {
          E.sendOnly(to).put('undone');
          E.sendOnly(to).put(() => {});
        });
      } catch (error) {
        return (error as CapError).code;
      }
      return 'not refused';
    },
  }));
  expect(await E(vats.vat('a').spawn(Sender(far))).run()).toBe('invalid');
  expect(await vats.vat('a').turn(() => E(far).get())).toBe('sent');
});

test('a procedure gets the arguments checked like any actor', async () => {
  const Log: Definition<Keep, []> = defineProcedure('Log', () => (method, args) => [method, args.length]);
  const far = await vats.vat('a').spawn(Log());
  expect(await E(far).echo({ a: 1 })).toEqual(['echo', 1]);
  await expect(E(far).echo(() => {})).rejects.toMatchObject({ code: 'invalid' });
});
