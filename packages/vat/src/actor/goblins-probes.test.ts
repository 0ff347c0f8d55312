/**
 * One test for each fact that was verified against Spritely Goblins 0.18.0 (`docs/goblins.md`), named after
 * it. Where we deviate on purpose, the name says what we do instead and the table there says why.
 */
import { expect, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import {
  makeCell,
  makeNonceRegistry,
  makeRandomSource,
  makeTicker,
  type NonceRegistry,
  type Tickable,
} from '../actors/index.ts';
import {
  CapError,
  type Definition,
  define,
  E,
  type Far,
  type Portrait,
  promise,
  spawn,
  type TurnRecord,
  type Vat,
  type Vats,
} from '../index.ts';

let vats: Vats;
let a: Vat;
let b: Vat;
let records: TurnRecord[];
openForEachTest((opened) => ({ vats, a, b, records } = opened));

interface Cell {
  get(): unknown;
  set(x: unknown): void;
  setAnd(x: unknown): string;
  setFails(x: unknown): void;
  lost(x: unknown): void;
  become(x: unknown): void;
  outer(): void;
  sends(to: Far<Cell>, fails: boolean): void;
  spawns(fails: boolean): void;
}
let leaked: Cell | undefined;
const Cell: Definition<Cell, [x: unknown]> = define('Cell', (bcom, x) => ({
  get: () => x,
  set: (next) => bcom(Cell(next)),
  setAnd: (next) => bcom(Cell(next), 'value'),
  setFails: (next) => {
    bcom.self.set(next);
    throw new Error('after');
  },
  lost: (next) => void bcom(Cell(next)),
  become: (what) => bcom(what as Portrait<Cell>),
  outer: () => {
    bcom.self.set('inner');
    return bcom(Cell('outer'));
  },
  sends: (to, fails) => {
    E.sendOnly(to).set(1);
    E.sendOnly(to).set(2);
    if (fails) throw new Error('withheld');
  },
  spawns: (fails) => {
    leaked = spawn(Cell('spawned'));
    if (fails) throw new Error('vanish');
  },
}));
const code = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error instanceof CapError ? error.code : (error as Error).message;
  }
};

// ---- 1.1 objects ------------------------------------------------------------------------------------------------------

test('1.1 bcom with a value also returns it; without one the call returns nothing', async () => {
  const cell = await a.spawn(Cell(0));
  expect([await E(cell).setAnd(1), await E(cell).set(2), await E(cell).get()]).toEqual(['value', undefined, 2]);
});

test('1.1 a bcom result that is not returned, or an error after it, changes nothing', async () => {
  const cell = await a.spawn(Cell(0));
  await E(cell).lost(1);
  await expect(E(cell).setFails(1)).rejects.toThrow('after');
  expect(await E(cell).get()).toBe(0);
});

test('1.1 becoming a reference is the error become-failure', async () => {
  const cell = await a.spawn(Cell(0));
  await expect(E(cell).become(cell)).rejects.toMatchObject({ code: 'become-failure' });
  expect(await E(cell).get()).toBe(0);
});

test("1.1 returning another object's seal is an error, and both are unharmed", async () => {
  let seal: unknown;
  interface Odd {
    make(): void;
    use(): unknown;
    n(): number;
  }
  const Odd: Definition<Odd, [n: number]> = define('Odd', (bcom, n) => ({
    make: () => {
      seal = bcom(Odd(n + 1));
    },
    use: () => seal,
    n: () => n,
  }));
  const seen = await a.turn(() => {
    const [one, two] = [spawn(Odd(0)), spawn(Odd(10))];
    one.make();
    return [code(() => two.use()), one.n(), two.n()];
  });
  expect(seen).toEqual(['become-failure', 0, 10]);
});

test('1.1 when an object calls itself and both become, the outer one wins', async () => {
  const cell = await a.spawn(Cell(0));
  await E(cell).outer();
  expect(await E(cell).get()).toBe('outer');
});

test('1.1 an unknown method is an error that names it', async () => {
  const cell = await a.spawn(Cell(0));
  const to = E(cell) as unknown as { nope(): Promise<unknown> };
  await expect(to.nope()).rejects.toMatchObject({ code: 'no-such-method', message: expect.stringContaining('"nope"') });
});

// ---- 1.2 near and far, promises ---------------------------------------------------------------------------------------------

test('1.2 a near call on a reference of another vat is the error not-callable', async () => {
  const cell = (await a.spawn(Cell(0))) as unknown as Cell;
  await expect(b.turn(() => cell.get())).rejects.toMatchObject({ code: 'not-callable' });
});

test('1.2 a near call on an unresolved promise is an error', async () => {
  const cell = await b.spawn(Cell(0));
  await expect(a.turn(() => (E(cell).get() as unknown as Cell).get())).rejects.toMatchObject({ code: 'not-callable' });
});

test('1.2 a promise resolved to data is that data where it is delivered', async () => {
  const cell = await a.spawn(Cell(5));
  const other = await a.spawn(Cell(0));
  const answer = E(cell).get();
  await answer;
  await E(other).set(answer);
  expect(await E(other).get()).toBe(5);
});

test('1.2 messages of one sender to one vat arrive first in, first out', async () => {
  const log: unknown[] = [];
  const Log: Definition<{ add(x: unknown): void }, []> = define('Log', () => ({ add: (x) => void log.push(x) }));
  const [one, two] = [await b.spawn(Log()), await b.spawn(Log())];
  await a.turn(() => {
    for (let i = 0; i < 10; i += 1) E.sendOnly(i % 2 === 0 ? one : two).add(i);
    return E(one).add('end');
  });
  expect(log).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 'end']);
});

test('1.2 handlers of a promise run as their own later turns', async () => {
  const order: string[] = [];
  const { done } = await a.turn(() => {
    const waited = E.when(5, () => void order.push('handler'));
    order.push('turn');
    return { done: waited };
  });
  await done;
  expect(order).toEqual(['turn', 'handler']);
  expect(records.filter((turn) => turn.to === 'when')).toHaveLength(1);
});

interface Listener {
  heard(outcome: { readonly ok: boolean; readonly value?: unknown; readonly code?: string }, note: string): void;
  notes(): readonly unknown[];
}
const Listener: Definition<Listener, [notes: readonly unknown[]]> = define('probes.Listener', (bcom, notes) => ({
  heard: ({ ok, value, code }, note) => bcom(Listener([...notes, [note, ok ? value : code]])),
  notes: () => notes,
}));

test('1.2 listen-to: an actor is told of a promise by a message, from whatever turn asks; a failed turn asked nothing', async () => {
  const { listener, resolvers } = await a.turn(() => {
    const [good, bad] = [promise<string>(), promise<string>()];
    const listener = spawn(Listener([]));
    E.to(listener, 'heard', 'good').on(good.promise);
    E.to(listener, 'heard', 'bad').on(bad.promise);
    return { listener, resolvers: [good.resolver, bad.resolver] as const };
  });
  await expect(
    a.turn(() => {
      E.to(listener as unknown as Listener, 'heard', 'failed turn').on(Promise.resolve('never'));
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await E(resolvers[0] as never as { resolve(value: string): void }).resolve('value');
  await E(resolvers[1] as never as { break(error: Error): void }).break(new CapError('denied', 'no'));
  while ((await E(listener).notes()).length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(await E(listener).notes()).toEqual([
    ['good', 'value'],
    ['bad', 'denied'],
  ]);
});

test('1.2 a second resolve is silently ignored', async () => {
  const { promise: p, resolver } = promise<number>();
  resolver.resolve(1);
  resolver.resolve(2);
  resolver.break(new Error('late'));
  expect(await p).toBe(1);
});

test('1.2 deviation: a message to a promise that becomes data breaks (Goblins: nobody is told)', async () => {
  const { promise: p, resolver } = promise<Cell>();
  const waiting = E(p).get();
  resolver.resolve(5 as never);
  await expect(waiting).rejects.toMatchObject({ code: 'not-callable' });
});

test('1.2 deviation: a promise resolved to itself breaks with cycle (Goblins: wrong trademark)', async () => {
  const { promise: p, resolver } = promise<number>();
  resolver.resolve(p);
  await expect(p).rejects.toMatchObject({ code: 'cycle' });
});

test('1.2 deviation: there is no finally handler; both handlers can do what it did', async () => {
  expect('finally' in E).toBe(false);
  const seen: string[] = [];
  const { promise: p, resolver } = promise<number>();
  const { done } = await a.turn(() => ({
    done: E.when(
      p,
      () => void seen.push('ok'),
      () => void seen.push('broken'),
    ),
  }));
  resolver.break(new Error('x'));
  await done;
  expect(seen).toEqual(['broken']);
});

test('1.2 deviation: a constructor that answers with a reference is refused (Goblins: wrapper constructors)', async () => {
  const Wrapper = define<Cell, [inner: Cell]>('Wrapper', ((_bcom: unknown, inner: Cell) => inner) as never);
  const made = a.turn(() => {
    const inner = spawn(Cell(1));
    return spawn(Wrapper(inner)).get();
  });
  await expect(made).rejects.toMatchObject({ code: 'invalid' });
});

// ---- 1.3 turns ----------------------------------------------------------------------------------------------------------------

test('1.3 an error drops the changes of all objects of the turn, nested near calls too', async () => {
  const [one, two] = [await a.spawn(Cell(0)), await a.spawn(Cell(0))];
  await expect(
    a.turn(() => {
      (one as unknown as Cell).set(1);
      (two as unknown as Cell).setFails(1);
    }),
  ).rejects.toThrow('after');
  expect([await E(one).get(), await E(two).get()]).toEqual([0, 0]);
});

test('1.3 objects spawned in a failed turn vanish: a leaked reference says that there is no such object', async () => {
  const cell = await a.spawn(Cell(0));
  await expect(E(cell).spawns(true)).rejects.toThrow('vanish');
  const vanished = leaked as Cell;
  expect(await a.turn(() => code(() => vanished.get()))).toBe('no-such-object');
  await E(cell).spawns(false);
  expect(await a.turn(() => (leaked as Cell).get())).toBe('spawned');
});

test('1.3 every message of a failed turn is withheld; exactly one thing goes out, the broken promise', async () => {
  const [one, two] = [await a.spawn(Cell(0)), await b.spawn(Cell(0))];
  records.length = 0;
  await expect(E(one).sends(two, true)).rejects.toThrow('withheld');
  await a.turn(() => E(two).get());
  expect(records.filter((turn) => turn.vat === 'b').map((turn) => turn.method)).toEqual(['get']);
  expect(await E(two).get()).toBe(0);
});

test('1.3 the next message runs from the old state', async () => {
  const cell = await a.spawn(Cell('old'));
  // Expected at once: it may break a while before the next message is answered.
  const failing = expect(E(cell).setFails('new')).rejects.toThrow('after');
  expect(await E(cell).get()).toBe('old');
  await failing;
});

test('1.3 an error caught inside the turn does not roll back what the inner call did', async () => {
  const seen = await a.turn(() => {
    const [one, two] = [spawn(Cell(0)), spawn(Cell(0))];
    one.set(1);
    code(() => two.setFails(2));
    return [one.get(), two.get()];
  });
  expect(seen).toEqual([1, 2]);
});

test('1.3 deviation: a message to a halted vat breaks with vat-halted (Goblins: silence)', async () => {
  const cell = await a.spawn(Cell(0));
  a.halt();
  await expect(E(cell).get()).rejects.toMatchObject({ code: 'vat-halted' });
});

// ---- 1.6 persistence, as far as memory shows it ---------------------------------------------------------------------------------

test('1.6 after two good turns and a failing one the state is that of the second', async () => {
  const Counter: Definition<{ next(fails: boolean): number; count(): number }, [n: number]> = define(
    'Counter',
    (bcom, n) => ({
      next: (fails) => {
        if (fails) {
          bcom.self.next(false);
          throw new Error('third');
        }
        return bcom(Counter(n + 1), n);
      },
      count: () => n,
    }),
  );
  const counter = await a.root('counter', () => Counter(0));
  await E(counter).next(false);
  await E(counter).next(false);
  await expect(E(counter).next(true)).rejects.toThrow('third');
  expect(await E(await a.root('counter', () => Counter(99))).count()).toBe(2);
});

// ---- the actor library, where it differs --------------------------------------------------------------------------------------

test('deviation: arguments are not counted; a missing one is undefined, and one too many is not seen', async () => {
  const Pair: Definition<{ both(a: unknown, b?: unknown): unknown }, []> = define('Pair', () => ({
    both: (a, b) => [a, b],
  }));
  const pair = await a.spawn(Pair());
  const to = E(pair) as unknown as { both(...args: unknown[]): Promise<unknown> };
  expect([await to.both(1), await to.both(1, 2, 3)]).toEqual([
    [1, undefined],
    [1, 2],
  ]);
});

test('deviation: an empty cell holds undefined (Goblins: #f)', async () => {
  expect(await a.turn(() => makeCell(undefined).read())).toBe(undefined);
});

test('deviation: an object that is registered twice has two numbers (Goblins 0.18: one)', async () => {
  const source = makeRandomSource((bytes) => globalThis.crypto.getRandomValues(new Uint8Array(bytes)));
  const { registry } = await a.turn(() => makeNonceRegistry(source));
  const cell = await a.spawn(Cell(0));
  const to = E(registry as unknown as Far<NonceRegistry>);
  expect(await to.register(cell)).not.toBe(await to.register(cell));
});

test('deviation: an object registers at a ticker and leaves by returning false (Goblins: to-tick gives it a ticky to die with)', async () => {
  const Once: Definition<Tickable, []> = define('Once', () => ({ tick: () => false }));
  const counts = await a.turn(() => {
    const ticker = makeTicker();
    ticker.register(spawn(Once()));
    const before = ticker.count();
    ticker.tick();
    return [before, ticker.count()];
  });
  expect(counts).toEqual([1, 0]);
});
