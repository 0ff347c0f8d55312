/** Reads of a disk: the actors of a table are read together, and no behaviour takes a failed read for a missing row. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import { Cell } from '../actors/cell.ts';
import { BrandCheck, makeSealers, SealedBox, Sealer, Unsealer } from '../actors/sealers.ts';
import type { AnyDefinition, Definition, Table } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { diskOf } from '../store/disk.ts';
import { engineOn } from '../store/engine.ts';
import { sqliteRows } from '../store/sqlite.ts';
import { storeOf } from '../store/store.ts';
import { define } from '../turn/portrait.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';

interface Shelf {
  put(name: string): void;
  /** Takes every error for a missing row. */
  has(name: string): boolean;
  asked(): number;
}
const Shelf: Definition<Shelf, [names: Table<boolean>, asked: number]> = define('Shelf', (bcom, names, asked) => ({
  put: (name) => names.set(name, true),
  has(name) {
    let found = false;
    try {
      found = names.has(name);
    } catch {
      // "It is not there."
    }
    return bcom(Shelf(names, asked + 1), found);
  },
  asked: () => asked,
}));

interface Thing {
  use(): string;
}
const Thing: Definition<Thing, []> = define('Thing', () => ({ use: () => 'used' }));

interface Vault {
  isOurs(): boolean;
}
const Vault: Definition<Vault, [box: object, check: (x: unknown) => boolean]> = define(
  'Vault',
  (_bcom, box, check) => ({
    isOurs: () => check(box),
  }),
);

interface Crew {
  hire(name: string): void;
  all(): readonly Thing[];
  count(): number;
}
const Crew: Definition<Crew, [members: Table<{ readonly one: Thing; readonly two: Thing }>]> = define(
  'Crew',
  (_bcom, members) => ({
    hire: (name) => members.set(name, { one: spawn(Thing()), two: spawn(Thing()) }),
    all: () => [...members.entries()].flatMap(([, { one, two }]) => [one, two]),
    count: () => [...members.entries()].length,
  }),
);

const all: readonly AnyDefinition[] = [Crew, Shelf, Thing, Vault, Cell, BrandCheck, SealedBox, Sealer, Unsealer];

/**
 * Opens the same folder again and again. `read` has every key that is read, and `fails` says which cannot be.
 */
function machine() {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-unreadable-')), 'state');
  mkdirSync(folder);
  const read: string[] = [];
  const disk = { fails: (_key: string): boolean => false };
  const close: (() => Promise<void>)[] = [];
  const boot = async (): Promise<Vats> => {
    for (const end of close.splice(0)) await end();
    read.length = 0;
    const rows = sqliteRows(folder);
    const look = <T>(key: string, act: () => T): T => {
      read.push(key);
      if (disk.fails(key)) throw new Error('disk I/O error');
      return act();
    };
    const store = storeOf(
      engineOn(
        diskOf(() => ({
          ...rows,
          get: (key) => look(key, () => rows.get(key)),
          getAll: (keys) => look(keys.join(' '), () => rows.getAll(keys)),
          scan: (prefix) => look(prefix, () => rows.scan(prefix)),
        })),
      ),
    );
    const vats = await openVats({ store, definitions: all });
    close.push(async () => {
      await vats.close();
      await store.close();
    });
    return vats;
  };
  onTestFinished(async () => {
    for (const end of close.splice(0)) await end();
    rmSync(dirname(folder), { recursive: true, force: true });
  });
  return { boot, read, disk };
}

test('an actor that takes every error for an answer decides nothing from a disk that cannot be read', async () => {
  const { boot, disk } = machine();
  const make = (): ReturnType<typeof Shelf> => Shelf(table(), 0);
  await E(await (await boot()).vat('v').root('shelf', make)).put('a');
  const shelf = await (await boot()).vat('v').root('shelf', make);
  disk.fails = (key) => key.startsWith('t/');
  await expect(E(shelf).has('a')).rejects.toMatchObject({ code: 'unavailable' });
  disk.fails = () => false;
  // Nothing of that turn stays, and the next one sees what is there.
  expect([await E(shelf).asked(), await E(shelf).has('a'), await E(shelf).has('b')]).toEqual([0, true, false]);
});

test('the actors in the rows of a table are read together, and none by itself', async () => {
  const { boot, read, disk } = machine();
  const make = (): ReturnType<typeof Crew> => Crew(table());
  const crew = await (await boot()).vat('v').root('crew', make);
  for (let n = 0; n < 50; n += 1) await E(crew).hire(`m${n}`);
  const next = await (await boot()).vat('v').root('crew', make);
  const before = read.length;
  disk.fails = (key) => key.includes(' ');
  await expect(E(next).count()).rejects.toMatchObject({ code: 'unavailable' });
  disk.fails = () => false;
  expect(await E(next).count()).toBe(50);
  const reads = read.slice(before).map((keys) => keys.split(' '));
  const members = new Set(reads.find(({ length }) => length > 1));
  expect(members.size).toBe(100);
  // The collector may take the table or its owner in between, and then they are read again.
  expect(reads.filter(({ length }) => length !== 1).every(({ length }) => length === 100)).toBe(true);
  expect(reads.filter(({ length, 0: key = '' }) => length === 1 && members.has(key))).toEqual([]);
  const answers = await Promise.all([...(await E(next).all())].map((one) => E(one).use()));
  expect(answers).toEqual(Array.from({ length: 100 }, () => 'used'));
});

test('a brand check says "no" of no box that the disk could not give', async () => {
  const { boot, read, disk } = machine();
  const make = (): ReturnType<typeof Vault> => {
    const [seal, , isOurs] = makeSealers<object>();
    return Vault(seal(spawn(Thing())) as object, isOurs as (x: unknown) => boolean);
  };
  await (await boot()).vat('v').root('vault', make);
  const first = await (await boot()).vat('v').root('vault', make);
  read.length = 0;
  expect(await E(first).isOurs()).toBe(true);
  // The content of the box is read last, when it wakes up.
  const inTheBox = read.filter((key) => key.startsWith('a/')).at(-1);
  expect(inTheBox).toBeDefined();
  const second = await (await boot()).vat('v').root('vault', make);
  disk.fails = (key) => key === inTheBox;
  await expect(E(second).isOurs()).rejects.toMatchObject({ code: 'unavailable' });
  disk.fails = () => false;
  expect(await E(second).isOurs()).toBe(true);
});
