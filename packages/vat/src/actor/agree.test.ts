/**
 * Near, far and restarted agree: a call has the same result near, by message, and near after a restart,
 * whatever the actor became meanwhile and however many forwarders are before it.
 */
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { Cell, Facet, makeSwappable, SwappableProxy, Swapper } from '../actors/index.ts';
import {
  type AnyDefinition,
  CapError,
  type Definition,
  define,
  defineProcedure,
  E,
  openStore,
  openVats,
  spawn,
  type Table,
  table,
  type Vat,
} from '../index.ts';
import { shownMethods } from '../turn/driver.ts';
import { ephemeral } from './ephemeral.ts';

type Anything = ((...args: unknown[]) => unknown) & Readonly<Record<string, (...args: unknown[]) => unknown>>;

const Add: Definition<Anything, [n: number]> = define('Add', (_bcom, n) => ((x: number) => x + n) as never);
const Through: Definition<Anything, [inner: object]> = defineProcedure('Through', (_bcom, inner) => (method, args) => {
  const to = inner as Anything;
  return method === '' ? to(...args) : to[method]?.(...args);
});
/** Each kind has methods of its own, beside the one that changes the kind. */
const Mono: Definition<Anything, []> = define('Mono', (bcom) => ({
  become: (kind: string) => bcom(kinds[kind]?.() as never),
  one: () => 'one of Mono',
  both: () => 'both of Mono',
})) as never;
const Duo: Definition<Anything, []> = define('Duo', (bcom) => ({
  become: (kind: string) => bcom(kinds[kind]?.() as never),
  two: () => 'two of Duo',
  both: () => 'both of Duo',
  length: () => 2,
})) as never;
const Any: Definition<Anything, []> = defineProcedure('Any', (bcom) => (method, args) => {
  return method === 'become' ? bcom(kinds[args[0] as string]?.() as never) : `${method} of Any`;
});
const Fun: Definition<Anything, []> = define(
  'Fun',
  ((bcom: (next: unknown) => unknown) => (kind: string) =>
    kind === undefined ? 'Fun' : bcom(kinds[kind]?.())) as never,
);
const kinds: Readonly<Record<string, () => object>> = { Mono, Duo, Any, Fun };

interface Shelf {
  put(key: string, x: unknown): void;
  get(key: string): unknown;
}
const Shelf: Definition<Shelf, [rows: Table<unknown>]> = define('Shelf', (_bcom, rows) => ({
  put: (key, x) => rows.set(key, x),
  get: (key) => rows.get(key),
}));
const definitions: readonly AnyDefinition[] = [
  ...[Add, Through, Mono, Duo, Any, Fun, Shelf],
  ...[Cell, Facet, SwappableProxy, Swapper],
];

/** The result of a call: its value, or the code of its error. */
const outcome = async (call: () => unknown): Promise<unknown> => {
  try {
    return await call();
  } catch (error) {
    return error instanceof CapError ? error.code : String(error);
  }
};
/** A near call, and the same by message. `''` is a call without a method name. */
const near = (vat: Vat, at: unknown, method: string, args: readonly unknown[]): Promise<unknown> =>
  outcome(() =>
    vat.turn(() => {
      const it = at as Anything;
      return (method === '' ? it(...args) : it[method]?.(...args)) as never;
    }),
  );
const far = (at: unknown, method: string, args: readonly unknown[]): Promise<unknown> =>
  outcome(() => {
    const to = E(at as object) as unknown as Anything;
    return method === '' ? to(...args) : to[method]?.(...args);
  });

/** Makes objects in a durable vat, calls them near and by message, and near again in a new process. */
async function agree(
  make: () => Readonly<Record<string, unknown>>,
  calls: readonly (readonly [key: string, method: string, ...args: unknown[]])[],
): Promise<readonly unknown[]> {
  const store = await openStore({ memory: true });
  const open = async () => {
    const vats = await openVats({ store, definitions });
    const vat = vats.vat('a');
    return { vats, vat, shelf: await vat.root('shelf', () => Shelf(table())) };
  };
  const first = await open();
  await first.vat.turn(() => {
    for (const [key, made] of Object.entries(make())) (first.shelf as unknown as Shelf).put(key, made);
  });
  const run = async ({ vat, shelf }: typeof first, how: typeof near): Promise<unknown[]> => {
    const seen: unknown[] = [];
    for (const [key, method, ...args] of calls) seen.push(await how(vat, await E(shelf).get(key), method, args));
    return seen;
  };
  const nearby = await run(first, near);
  expect(await run(first, (_vat, at, method, args) => far(at, method, args))).toEqual(nearby);
  await first.vats.close();
  const second = await open();
  onTestFinished(async () => {
    await second.vats.close();
    await store.close();
  });
  expect(await run(second, near)).toEqual(nearby);
  return nearby;
}

test('a forwarder of a function can be called as the function can: swappable, facet, and one of a program', async () => {
  const seen = await agree(() => {
    const add = spawn(Add(1));
    const { proxy } = makeSwappable(add);
    return {
      proxy,
      facet: spawn(Facet(add, [''])),
      none: spawn(Facet(add, [])),
      through: spawn(Through(add)),
      deep: spawn(Through(spawn(Through(proxy)))),
      data: makeSwappable(spawn(Duo())).proxy,
    };
  }, [
    ['proxy', '', 2],
    ['facet', '', 2],
    ['none', '', 2],
    ['through', '', 2],
    ['deep', '', 2],
    ['proxy', 'nope'],
    ['data', 'length'],
    ['data', 'two'],
  ]);
  expect(seen).toEqual([3, 3, 'denied', 3, 3, 'no-such-method', 2, 'two of Duo']);
});

test('a swapped proxy of a function is called by name, too, once it stands for an object with methods', async () => {
  const seen = await agree(() => {
    const { proxy, swapper } = makeSwappable<object>(spawn(Add(1)));
    swapper.swap(spawn(Mono()));
    return { proxy };
  }, [
    ['proxy', 'both'],
    ['proxy', ''],
  ]);
  expect(seen).toEqual(['both of Mono', 'no-such-method']);
});

test('a reference that is never stored can be called like what it forwards to', async () => {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  const vat = vats.vat('a');
  const add = await vat.spawn(Add(1));
  const made = await vat.turn(
    () => ephemeral('through', (_method, args) => (add as unknown as Anything)(...args), add) as never,
  );
  expect([await near(vat, made, '', [2]), await far(made, '', [2])]).toEqual([3, 3]);
});

test('after bcom a near call reaches the methods that the actor has now, and no other', async () => {
  const seen = await agree(() => {
    const [mono, any, fun] = [spawn(Mono()), spawn(Any()), spawn(Fun())];
    mono['become']?.('Duo');
    any['become']?.('Duo');
    fun('Mono');
    return { mono, any, fun };
  }, [
    ['mono', 'two'],
    ['mono', 'both'],
    ['mono', 'length'],
    ['any', 'two'],
    ['any', 'both'],
    ['fun', 'one'],
    ['fun', ''],
  ]);
  expect(seen).toEqual([
    ...['two of Duo', 'both of Duo', 2, 'two of Duo', 'both of Duo'],
    ...['one of Mono', 'no-such-method'],
  ]);
});

test('an actor with methods cannot become a function, which nobody could call near: the caller is told', async () => {
  const seen = await agree(
    () => ({ mono: spawn(Mono()) }),
    [
      ['mono', 'become', 'Fun'],
      ['mono', 'both'],
    ],
  );
  expect(seen).toEqual(['become-failure', 'both of Mono']);
});

test('near, far and restarted agree in any chain of becoming, and the host is shown the methods of now', async () => {
  const steps = fc.array(fc.constantFrom('Mono', 'Duo', 'Any'), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('Mono', 'Duo', 'Any'), steps, async (first, chain) => {
      const make = () => {
        const it = spawn(kinds[first]?.() as never) as Anything;
        for (const kind of chain) it['become']?.(kind);
        return { it, behind: spawn(Through(it)) };
      };
      const last = chain.at(-1) ?? first;
      const names = { Mono: ['become', 'one', 'both'], Duo: ['become', 'two', 'both', 'length'], Any: undefined }[last];
      const shared = (names ?? ['one', 'two', 'both']).filter((name) => name !== 'become');
      await agree(make, [
        ...shared.map((name) => ['it', name] as const),
        ...shared.map((name) => ['behind', name] as const),
      ]);
      const vats = await openVats();
      const it = await vats.vat('a').turn(() => make().it as never);
      expect(shownMethods(it as object)).toEqual(names);
      await vats.close();
    }),
    { numRuns: 20 },
  );
});

test('a name that the actor does not have is no property of a near reference, and a reference shows no more', async () => {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  const vat = vats.vat('a');
  await vat.turn(() => {
    const mono = spawn(Mono());
    expect(mono['two']).toBe(undefined);
    mono['become']?.('Duo');
    expect(typeof mono['two']).toBe('function');
    for (const name of ['then', 'constructor', 'toJSON', 'hasOwnProperty'])
      expect(mono[name]).toBe(({} as Record<string, never>)[name]);
    const copy = Object.create(mono) as Anything;
    expect(() => copy['two']?.()).toThrow(TypeError);
    expect(Reflect.ownKeys(mono)).toEqual([]);
  });
});
