/**
 * Become: a change takes effect only through the token that the actor's own method returns in the same call.
 */
import { expect, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import {
  type Become,
  CapError,
  type Definition,
  define,
  defineProcedure,
  E,
  type Portrait,
  spawn,
  type Vat,
  type Vats,
} from '../index.ts';

let vats: Vats;
let vat: Vat;
openForEachTest((opened) => ({ vats, a: vat } = opened));

interface Counter {
  next(): number;
  count(): number;
}
const Counter: Definition<Counter, [count: number]> = define('Counter', (bcom, count) => ({
  next: () => bcom(Counter(count + 1), count),
  count: () => count,
}));

const code = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error instanceof CapError ? error.code : error;
  }
  return 'no error';
};

test('a method that returns bcom changes its actor and answers with the value; without one, with nothing', async () => {
  const Cell: Definition<{ get(): unknown; set(x: unknown): void }, [x: unknown]> = define('Cell', (bcom, x) => ({
    get: () => x,
    set: (next) => bcom(Cell(next)),
  }));
  const seen = await vat.turn(() => {
    const counter = spawn(Counter(5));
    const cell = spawn(Cell(1));
    return [counter.next(), counter.next(), counter.count(), cell.set(2) === undefined, cell.get()];
  });
  expect(seen).toEqual([5, 6, 7, true, 2]);
});

test('a become that is not returned, or that is followed by an error, changes nothing', async () => {
  const Forgetful: Definition<{ forget(): void; fail(): void; count(): number }, [count: number]> = define(
    'Forgetful',
    (bcom, count) => ({
      forget: () => void bcom(Forgetful(count + 1)),
      fail: () => {
        bcom(Forgetful(count + 1));
        throw new Error('after');
      },
      count: () => count,
    }),
  );
  const seen = await vat.turn(() => {
    const it = spawn(Forgetful(0));
    it.forget();
    expect(() => it.fail()).toThrow('after');
    return it.count();
  });
  expect(seen).toBe(0);
});

test("another actor's token, kept tokens and tokens of another call are refused, and both actors are unharmed", async () => {
  let kept: Become<number> | undefined;
  interface Thief {
    token(): number;
    give(): number;
    use(): number;
    steal(from: Thief): number;
    hand(to: Thief): number;
    take(token: unknown): number;
    count(): number;
  }
  const Thief: Definition<Thief, [count: number]> = define('Thief', (bcom, count) => ({
    token: () => {
      kept = bcom(Thief(count + 1), count);
      return -1;
    },
    give: () => bcom(Thief(count + 1), count),
    use: () => kept as never,
    steal: () => kept as never,
    hand: (to) => to.take(bcom(Thief(100), 1)),
    take: (token) => token as never,
    count: () => count,
  }));
  const seen = await vat.turn(() => {
    const a = spawn(Thief(0));
    const b = spawn(Thief(10));
    a.token();
    const codes = [code(() => a.use()), code(() => b.steal(a)), code(() => a.hand(b)), code(() => b.hand(b))];
    return { codes, counts: [a.count(), b.count()] };
  });
  expect(seen.codes).toEqual(['become-failure', 'become-failure', 'become-failure', 'become-failure']);
  expect(seen.counts).toEqual([0, 10]);
  const later = await vat.turn(() => {
    const c = spawn(Thief(0));
    return code(() => c.use());
  });
  expect(later).toBe('become-failure');
});

test('a token that is sent, kept or answered by message instead of returned is refused as data', async () => {
  const Loose: Definition<{ nested(): unknown; keep(): unknown }, []> = define('Loose', (bcom) => ({
    nested: () => [bcom(Loose())],
    keep: () => bcom(Loose(), undefined) && Keep(bcom(Loose())),
  }));
  const Keep: Definition<object, [x: unknown]> = define('Keep', () => ({}));
  const far = await vat.spawn(Loose());
  await expect(E(far).nested()).rejects.toMatchObject({ code: 'invalid' });
  await expect(E(far).keep()).rejects.toMatchObject({ code: 'invalid' });
});

test('becoming a reference, a plain behaviour, a definition or nothing is become-failure and changes nothing', async () => {
  const Odd: Definition<{ become(what: unknown): void; count(): number }, [count: number]> = define(
    'Odd',
    (bcom, count) => ({ become: (what) => bcom(what as Portrait<never>), count: () => count }),
  );
  await vat.turn(() => {
    const it = spawn(Odd(1));
    const forged = Object.create(Object.getPrototypeOf(Counter(1)));
    for (const what of [spawn(Counter(1)), it, { next: () => 1 }, () => 1, Counter, undefined, null, 5, forged])
      expect(code(() => it.become(what))).toBe('become-failure');
    expect(it.count()).toBe(1);
  });
});

test('bcom outside its own call is refused: after its turn, from a closure called by another, while constructing', async () => {
  let leaked: (() => unknown) | undefined;
  const Leaky: Definition<{ leak(): void; through(other: Caller): unknown }, []> = define('Leaky', (bcom) => ({
    leak: () => {
      leaked = () => bcom(Leaky());
    },
    through: (other) => other.call(() => bcom(Leaky())),
  }));
  interface Caller {
    call(f: () => unknown): unknown;
  }
  const Caller: Definition<Caller, []> = define('Caller', () => ({ call: (f) => f() }));
  const Eager: Definition<object, []> = define('Eager', (bcom) => {
    bcom(Eager());
    return {};
  });
  const codes = await vat.turn(() => {
    const it = spawn(Leaky());
    it.leak();
    return [code(() => leaked?.()), code(() => it.through(spawn(Caller()))), code(() => spawn(Eager()))];
  });
  expect(codes).toEqual(['become-failure', 'become-failure', 'become-failure']);
  expect(code(() => leaked?.())).toBe('become-failure');
});

test('when an actor calls itself and both become, the outer one wins; the inner is seen at once in between', async () => {
  const Self: Definition<{ outer(): number; inner(): void; value(): string }, [value: string]> = define(
    'Self',
    (bcom, value) => ({
      outer: () => {
        bcom.self.inner();
        return bcom(Self('outer'), bcom.self.value().length);
      },
      inner: () => bcom(Self('inner')),
      value: () => value,
    }),
  );
  const seen = await vat.turn(() => {
    const it = spawn(Self('none'));
    return [it.outer(), it.value()];
  });
  expect(seen).toEqual(['inner'.length, 'outer']);
});

test('a token made before the actor calls itself still counts for the call that made it', async () => {
  const Self: Definition<{ outer(): void; inner(): void; value(): string }, [value: string]> = define(
    'SelfBefore',
    (bcom, value) => ({
      outer: () => {
        const token = bcom(Self('outer'));
        bcom.self.inner();
        return token;
      },
      inner: () => bcom(Self('inner')),
      value: () => value,
    }),
  );
  expect(
    await vat.turn(() => {
      const it = spawn(Self('none'));
      it.outer();
      return it.value();
    }),
  ).toBe('outer');
});

interface Pin {
  open(pin: string): string;
  left(): number;
}
const Pin: Definition<Pin, [left: number]> = define('Pin', (bcom, left) => ({
  open: (pin) => (pin === '1234' ? bcom(Pin(3), 'open') : bcom.broken(Pin(left - 1), new CapError('denied', 'wrong'))),
  left: () => left,
}));

test('bcom.broken changes the actor and answers with a break: a wrong PIN costs a try', async () => {
  const pin = await vat.spawn(Pin(3));
  await expect(E(pin).open('0000')).rejects.toMatchObject({ code: 'denied' });
  expect(await E(pin).left()).toBe(2);
  expect(await E(pin).open('1234')).toBe('open');
});

test('bcom.broken in a near call throws to the caller: caught it keeps the try, uncaught the whole turn goes', async () => {
  const pin = await vat.turn(() => spawn(Pin(3)));
  const Caller: Definition<{ caught(pin: Pin): unknown; uncaught(pin: Pin): unknown }, []> = define('Caller2', () => ({
    caught: (it) => code(() => it.open('0')),
    uncaught: (it) => it.open('0'),
  }));
  const caller = await vat.spawn(Caller());
  expect(await E(caller).caught(pin)).toBe('denied');
  expect(await E(pin).left()).toBe(2);
  await expect(E(caller).uncaught(pin)).rejects.toMatchObject({ code: 'denied' });
  expect(await E(pin).left()).toBe(2);
});

test('bcom.broken takes what it breaks with as everything that leaves: nothing that acts', async () => {
  const Bad: Definition<{ run(): void }, []> = define('Bad', (bcom) => ({
    run: () => bcom.broken(Bad(), new Proxy(new Error('x'), {})),
  }));
  await expect(E(vat.spawn(Bad())).run()).rejects.toMatchObject({ code: 'invalid' });
});

test('an actor may become another definition of the same interface', async () => {
  const Stopped: Definition<Counter, []> = define('Stopped', () => ({
    next: () => {
      throw new Error('stopped');
    },
    count: () => -1,
  }));
  const Mortal: Definition<Counter, [n: number]> = define('Mortal', (bcom, n) => ({
    next: () => (n > 1 ? bcom(Stopped(), n) : bcom(Mortal(n + 1), n)),
    count: () => n,
  }));
  const it = await vat.spawn(Mortal(1));
  expect([await E(it).next(), await E(it).next(), await E(it).count()]).toEqual([1, 2, -1]);
  await expect(E(it).next()).rejects.toThrow('stopped');
});

test('an actor that is one function is called without a method name, near and by message', async () => {
  const Adder: Definition<(x: number) => number, [n: number]> = define(
    'Adder',
    (bcom, n) => (x) => bcom(Adder(n + x), n + x),
  );
  const far = await vat.spawn(Adder(1));
  expect(await E(far)(2)).toBe(3);
  expect(
    await vat.turn(() => {
      const near = spawn(Adder(1));
      return near(1) + near(1);
    }),
  ).toBe(5);
  await expect((E(far) as unknown as Record<string, () => Promise<unknown>>)['call']?.()).rejects.toMatchObject({
    code: 'no-such-method',
  });
});

test('a procedure takes every call, one without a method name as the empty string', async () => {
  interface Any {
    any(...args: readonly unknown[]): unknown;
    toString(): string;
  }
  const Procedure: Definition<Any, [calls: number]> = defineProcedure('Procedure', (bcom, calls) => (method, args) => {
    if (method === 'count') return calls;
    return bcom(Procedure(calls + 1) as never, [method, ...args]);
  });
  const far = await vat.spawn(Procedure(0));
  const to = E(far) as unknown as ((x: number) => Promise<unknown>) &
    Record<string, (...args: unknown[]) => Promise<unknown>>;
  expect(await to['any']?.(1, 2)).toEqual(['any', 1, 2]);
  expect(await to(7)).toEqual(['', 7]);
  expect(await to['toString']?.()).toEqual(['toString']);
  expect(await to['count']?.()).toBe(3);
  expect(await vat.turn(() => spawn(Procedure(0)).any(1))).toEqual(['any', 1]);
});

test('a method that is async, or returns a promise made by native then, undoes the turn with async-behaviour', async () => {
  const Bad: Definition<
    {
      asynchronous(): unknown;
      native(x: Counter): unknown;
      resolved(): unknown;
      own(x: Counter): unknown;
      touched(): boolean;
    },
    [touched: boolean]
  > = define('Async', (bcom, touched) => ({
    asynchronous: async () => bcom(Bad(true)),
    native: (x) =>
      E(x)
        .count()
        .then((n) => n + 1),
    resolved: () => Promise.resolve(1),
    own: (x) => E(x).count(),
    touched: () => touched,
  }));
  const counter = await vats.vat('b').spawn(Counter(4));
  const far = await vat.spawn(Bad(false));
  for (const end of await Promise.allSettled([E(far).asynchronous(), E(far).native(counter), E(far).resolved()]))
    expect(end).toMatchObject({ status: 'rejected', reason: { code: 'async-behaviour' } });
  expect(await E(far).own(counter)).toBe(4);
  expect(await E(far).touched()).toBe(false);
  await expect(vat.turn(async () => 1)).rejects.toMatchObject({ code: 'async-behaviour' });
  await vat.turn(() => {
    const near = spawn(Bad(false));
    expect(code(() => near.asynchronous())).toBe('async-behaviour');
  });
});

test('an async constructor is refused', async () => {
  const Bad = define<object, []>('AsyncCtor', (async () => ({})) as never);
  await expect(vat.spawn(Bad())).rejects.toMatchObject({ code: 'async-behaviour' });
});

test('a constructor that returns no behaviour, or one with something that is no method, is refused', async () => {
  const behaviours: readonly unknown[] = [
    undefined,
    5,
    'text',
    { count: 1 },
    Object.defineProperty({}, 'x', { get: () => () => 1 }),
    { then: () => {} },
    { [Symbol('x')]: () => {} },
  ];
  for (const behaviour of behaviours) {
    const Bad = define<object, []>('BadCtor', (() => behaviour) as never);
    await expect(vat.spawn(Bad())).rejects.toMatchObject({ code: 'invalid' });
  }
});

test('bcom.self is the actor; while it is being made there is none, and nothing else is given away', async () => {
  let inConstructor: unknown;
  const Own: Definition<{ self(): unknown }, []> = define('Own', (bcom) => {
    inConstructor = code(() => bcom.self);
    return { self: () => bcom.self };
  });
  const far = await vat.spawn(Own());
  expect(inConstructor).toBe('not-callable');
  expect(await E(far).self()).toBe(far);
});

test('an actor called while it becomes has no state to be called in', async () => {
  let seen: unknown;
  const Odd: Definition<{ go(): void; n(): number }, [n: number]> = define('OddCtor', (bcom, n) => {
    if (n === 1) seen = code(() => bcom.self.n());
    return { go: () => bcom(Odd(1)), n: () => n };
  });
  const far = await vat.spawn(Odd(0));
  await E(far).go();
  expect(seen).toBe('not-callable');
  expect(await E(far).n()).toBe(1);
});

test('a constructor that throws leaves the actor as it was, and a caught failing spawn costs its meter nothing', async () => {
  const Picky: Definition<{ go(): void; n(): number }, [n: number]> = define('Picky', (bcom, n) => {
    if (n > 0) throw new Error('picky');
    return { go: () => bcom(Picky(1)), n: () => n };
  });
  const far = await vat.spawn(Picky(0));
  await expect(E(far).go()).rejects.toThrow('picky');
  expect(await E(far).n()).toBe(0);
  const before = vats.meter('a').used();
  await vat.turn(() => {
    for (let i = 0; i < 10; i += 1) expect(() => spawn(Picky(1))).toThrow('picky');
  });
  const after = vats.meter('a').used();
  expect([after['actors'], after['portraitBytes']]).toEqual([before['actors'], before['portraitBytes']]);
});

test('a portrait tells nobody what is in it, is frozen, and can be spawned twice', async () => {
  const portrait = Counter(7);
  expect(Object.isFrozen(portrait)).toBe(true);
  expect(Reflect.ownKeys(portrait)).toEqual([]);
  for (let at: unknown = portrait; at !== null; at = Object.getPrototypeOf(at))
    if (at !== Object.prototype) expect(Reflect.ownKeys(at as object)).toEqual([]);
  expect(
    await vat.turn(() => {
      const [a, b] = [spawn(portrait), spawn(portrait)];
      a.next();
      return [a.count(), b.count()];
    }),
  ).toEqual([8, 7]);
});

test('a behaviour is called without this: it cannot see a raw become token through it', async () => {
  const That: Definition<{ self(): string }, []> = define('That', () => ({
    self(this: unknown) {
      return typeof this;
    },
  }));
  expect(await E(vat.spawn(That())).self()).toBe('undefined');
});

test('only own methods are reached by message: nothing inherited, no symbol, no then', async () => {
  const far = await vat.spawn(Counter(0));
  const to = E(far) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of ['toString', 'hasOwnProperty', '__defineGetter__', 'valueOf', 'nope'])
    await expect(to[name]?.('x'), name).rejects.toMatchObject({ code: 'no-such-method' });
  for (const name of ['then', 'constructor', '__proto__']) expect(to[name], name).toBeUndefined();
});
