import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { type Definition, define, driver, E, type Far, openStore, openVats, spawn, type Vat } from '../index.ts';
import { GHash, makeGHash, makeSeteq, Seteq } from './collections.ts';

const Thing: Definition<{ n(): number }, [n: number]> = define('Thing', (_bcom, n) => ({ n: () => n }));

async function open(): Promise<Vat> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats.vat('a');
}

test('a set holds references by identity and data by content, each once', async () => {
  const vat = await open();
  await vat.turn(() => {
    const [one, twin] = [spawn(Thing(1)), spawn(Thing(1))];
    const set = makeSeteq<unknown>(one, 'text', { a: 1, b: [2] });
    set.add(one);
    set.add({ b: [2], a: 1 });
    expect(set.asList()).toHaveLength(3);
    expect([one, twin, 'text', { a: 1, b: [2] }, { a: 1 }].map((x) => set.isMember(x))).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
    set.remove(one);
    set.remove(twin);
    expect([set.isMember(one), set.asList().length]).toEqual([false, 2]);
  });
});

test('a hash table gives the value of a key, or what to take otherwise; a value may be anything, undefined too', async () => {
  const vat = await open();
  await vat.turn(() => {
    const hash = makeGHash<unknown, unknown>();
    const [one, twin] = [spawn(Thing(1)), spawn(Thing(1))];
    hash.set(one, 'of one');
    hash.set(1, twin);
    hash.set('1', undefined);
    expect([hash.ref(one), hash.ref(twin), hash.ref(twin, 'none'), hash.ref('1', 'none')]).toEqual([
      'of one',
      undefined,
      'none',
      undefined,
    ]);
    expect([hash.hasKey('1'), hash.hasKey(1n), hash.ref(1)]).toEqual([true, false, twin]);
    hash.remove(1);
    expect(hash.data()).toHaveLength(2);
  });
});

test('drivers and objects of other vats are keys, too', async () => {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  const away = await vats.vat('b').spawn(Thing(1));
  const outside = driver<{ n(): number }>({ n: () => 1 });
  const set = await vats.vat('a').turn(() => makeSeteq<unknown>(away, outside));
  const asked = set as unknown as Far<Seteq>;
  expect([await E(asked).isMember(away), await E(asked).isMember(outside)]).toEqual([true, true]);
  expect(await E(asked).asList()).toHaveLength(2);
});

test('they do what a Map and a Set of the same keys do', async () => {
  const vat = await open();
  const key = fc.oneof(fc.integer({ min: -2, max: 2 }), fc.constantFrom('0', '1', 'd 1'), fc.boolean());
  const steps = fc.array(fc.tuple(fc.constantFrom('set', 'remove'), key, fc.nat(5)));
  await fc.assert(
    fc.asyncProperty(steps, (all) =>
      vat.turn(() => {
        const [hash, set, map] = [makeGHash(), makeSeteq(), new Map<unknown, unknown>()];
        for (const [what, at, value] of all) {
          if (what === 'set') {
            hash.set(at, value);
            set.add(at);
            map.set(at, value);
          } else {
            hash.remove(at);
            set.remove(at);
            map.delete(at);
          }
          expect(new Map(hash.data())).toEqual(map);
          expect(new Set(set.asList())).toEqual(new Set(map.keys()));
        }
      }),
    ),
  );
});

test('after a restart they hold the same objects; a failed turn changes nothing', async () => {
  const store = await openStore({ memory: true });
  const definitions = [Thing, GHash, Seteq];
  const Root: Definition<{ all(): readonly unknown[] }, [all: readonly unknown[]]> = define('Root', (_b, all) => ({
    all: () => all,
  }));
  let vats = await openVats({ store, definitions: [...definitions, Root] });
  let vat = vats.vat('a');
  await vat.root('root', () => {
    const [one, hash] = [spawn(Thing(1)), makeGHash<unknown, number>()];
    hash.set(one, 1);
    return Root([one, hash, makeSeteq<unknown>(one)]);
  });
  await vats.close();
  vats = await openVats({ store, definitions: [...definitions, Root] });
  vat = vats.vat('a');
  onTestFinished(async () => {
    await vats.close();
    await store.close();
  });
  const root = await vat.root('root', () => Root([]));
  const [one, hash, set] = (await E(root).all()) as unknown as [Far<object>, Far<GHash>, Far<Seteq>];
  expect([await E(hash).ref(one), await E(set).isMember(one)]).toEqual([1, true]);
  const failing = vat.turn(() => {
    (set as unknown as Seteq).remove(one);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await E(set).isMember(one)).toBe(true);
});
