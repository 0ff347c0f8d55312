import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import { CapError } from '../core/errors.ts';
import type { AnyDefinition, Definition, Far, Outcome, Table } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { promise } from '../eventual/resolver.ts';
import { openStore } from '../store/store.ts';
import { driver } from '../turn/driver.ts';
import { define, defineProcedure } from '../turn/portrait.ts';
import type { Vats } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';

interface Counter {
  next(): number;
  twin(): Counter;
}
const Counter: Definition<Counter, [count: number]> = define('Counter', (bcom, count) => ({
  next: () => bcom(Counter(count + 1), count),
  twin: () => spawn(Counter(count)),
}));

interface Purse {
  balance(): number;
  deposit(amount: number, from: Purse): void;
  withdraw(amount: number): void;
}
const Purse: Definition<Purse, [balance: number]> = define('Purse', (bcom, balance) => ({
  balance: () => balance,
  deposit: (amount, from) => {
    from.withdraw(amount);
    return bcom(Purse(balance + amount));
  },
  withdraw: (amount) => {
    if (amount > balance) throw new CapError('exhausted', 'not enough');
    return bcom(Purse(balance - amount));
  },
}));

interface Bank {
  open(name: string, balance: number): Purse;
  purse(name: string): Purse;
  names(): readonly string[];
}
const Bank: Definition<Bank, [purses: Table<Purse>]> = define('Bank', (_bcom, purses) => ({
  open: (name, balance) => {
    const purse = spawn(Purse(balance));
    purses.set(name, purse);
    return purse;
  },
  purse: (name) => purses.get(name) as Purse,
  names: () => [...purses.entries()].map(([name]) => name),
}));

const Adder: Definition<(x: number) => number, [n: number]> = define(
  'Adder',
  (bcom, n) => (x) => bcom(Adder(n + x), n + x),
);
const Through: Definition<object, [inner: object]> = defineProcedure(
  'Through',
  (_bcom, inner) => (method, args) =>
    (E(inner) as never as Record<string, (...a: readonly unknown[]) => unknown>)[method]?.(...args),
);

interface Holder {
  keep(what: object): void;
  kept(): object;
}
const Holder: Definition<Holder, [held: object | null]> = define('Holder', (bcom, held) => ({
  keep: (what) => bcom(Holder(what)),
  kept: () => held as object,
}));

const all: readonly AnyDefinition[] = [Counter, Purse, Bank, Adder, Through, Holder];

/** Opens the same folder again and again, as one process after the other would. */
function machine(definitions: readonly AnyDefinition[] = all): {
  boot(other?: readonly AnyDefinition[]): Promise<Vats>;
  folder: string;
} {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-durable-')), 'state');
  mkdirSync(folder);
  let last: { vats: Vats | undefined; close(): Promise<void> } | undefined;
  const down = async (): Promise<void> => {
    await last?.vats?.close();
    await last?.close();
    last = undefined;
  };
  onTestFinished(async () => {
    await down();
    rmSync(dirname(folder), { recursive: true });
  });
  return {
    folder,
    async boot(other = definitions) {
      await down();
      const store = await openStore({ path: folder });
      last = { vats: undefined, close: () => store.close() };
      last.vats = await openVats({ store, definitions: other });
      return last.vats;
    },
  };
}

test('an acknowledged turn is there after a restart', async () => {
  const { boot } = machine();
  let counter = await (await boot()).vat('v').root('counter', () => Counter(0));
  for (let i = 0; i < 5; i += 1) expect(await E(counter).next()).toBe(i);
  counter = await (await boot()).vat('v').root('counter', () => Counter(100));
  expect(await E(counter).next()).toBe(5);
});

test('the bank keeps its purses, their sums and their identity; a failed transfer changes nothing on the disk', async () => {
  const { boot } = machine();
  const first = (await boot()).vat('bank');
  const bank = await first.root('bank', () => Bank(table<Purse>()));
  await E(bank).open('a', 10);
  await E(bank).open('b', 5);
  await E(E(bank).purse('a')).deposit(3, E(bank).purse('b'));
  await expect(E(E(bank).purse('a')).deposit(30, E(bank).purse('b'))).rejects.toThrow(/not enough/);
  const second = (await boot()).vat('bank');
  const again = await second.root('bank', () => Bank(table<Purse>()));
  expect(await E(again).names()).toEqual(['a', 'b']);
  expect([await E(E(again).purse('a')).balance(), await E(E(again).purse('b')).balance()]).toEqual([13, 2]);
  expect(await E(again).purse('a')).toBe(await E(again).purse('a'));
});

test('functions, procedures and references between vats come back as what they were', async () => {
  const { boot } = machine();
  const vats = await boot();
  const adder = await vats.vat('one').root('adder', () => Adder(2));
  expect(await E(adder)(3)).toBe(5);
  const counter = await vats.vat('two').root('counter', () => Counter(7));
  const through = (await vats.vat('one').root('through', () => Through(counter))) as unknown as Far<Counter>;
  expect(await E(through).next()).toBe(7);
  const later = await boot();
  const through2 = (await later.vat('one').root('through', () => Through(counter))) as unknown as Far<Counter>;
  expect(await E(through2).next()).toBe(8);
  expect(await E(await later.vat('one').root('adder', () => Adder(0)))(1)).toBe(6);
});

test('actors that hold each other in a ring are woken without an end', async () => {
  const { boot } = machine();
  const vat = (await boot()).vat('v');
  const a = await vat.root('a', () => Holder(null));
  const b = await vat.root('b', () => Holder(a as unknown as object));
  await E(a).keep(b as unknown as object);
  const again = (await boot()).vat('v');
  const a2 = await again.root('a', () => Holder(null));
  expect(await E((await E(a2).kept()) as never as Far<Holder>).kept()).toBe(a2);
});

test('a number is never given out twice, also by actors that nobody holds', async () => {
  const { boot } = machine();
  const labels = new Set<string>();
  for (let i = 0; i < 3; i += 1) {
    const vat = (await boot()).vat('v');
    for (let n = 0; n < 3; n += 1) labels.add(String(await vat.spawn(Counter(0))));
  }
  expect(labels.size).toBeGreaterThan(0);
  const vat = (await boot()).vat('v');
  const root = await vat.root('late', () => Counter(42));
  expect(await E(root).next()).toBe(42);
});

test('a sturdyref opens after a restart, and not after it was revoked', async () => {
  const { boot } = machine();
  const vats = await boot();
  const counter = await vats.vat('v').spawn(Counter(3));
  const secret = await vats.sturdyref(counter);
  const later = await boot();
  expect(await E(await later.restore<Counter>(secret)).next()).toBe(3);
  await later.revokeSturdyref(secret);
  await expect(later.restore(secret)).rejects.toMatchObject({ code: 'no-such-object' });
  const last = await boot();
  await expect(last.restore(secret)).rejects.toMatchObject({ code: 'no-such-object' });
});

test('a named driver in a portrait answers unavailable after a restart, until the program names it again', async () => {
  const { boot } = machine();
  const name = `disk-${Math.random()}`;
  const disk = driver<{ read(): string }>({ read: () => 'text' }, { name });
  const holder = await (await boot()).vat('v').root('h', () => Holder(disk as unknown as object));
  expect(await E((await E(holder).kept()) as never as Far<{ read(): string }>).read()).toBe('text');
});

test('a value that ends with the process is refused in a durable portrait, and the turn leaves nothing', async () => {
  const { boot } = machine();
  const vats = await boot();
  const holder = await vats.vat('v').root('h', () => Holder(null));
  const fleeting = driver<{ read(): string }>({ read: () => 'x' });
  await expect(E(holder).keep(fleeting as unknown as object)).rejects.toMatchObject({ code: 'invalid' });
  expect(await E(holder).kept()).toBe(null);
  const { promise: pending } = promise<object>();
  await expect(E(holder).keep(pending as never)).rejects.toMatchObject({ code: 'invalid' });
});

test('a definition that the environment lacks refuses the store whole, by name', async () => {
  const { boot } = machine();
  await (await boot()).vat('v').root('counter', () => Counter(0));
  await expect(boot([Purse])).rejects.toThrow(/"Counter"/);
  expect(await E(await (await boot()).vat('v').root('counter', () => Counter(9))).next()).toBe(0);
});

test('an actor whose definition was not given cannot be spawned in a durable vat', async () => {
  const { boot } = machine([Purse]);
  const vat = (await boot()).vat('v');
  await expect(vat.spawn(Counter(0))).rejects.toThrow(/"Counter"/);
});

test('an older version is upgraded, a renamed one found by its former label, a newer one refused', async () => {
  const { boot } = machine();
  const counter = await (await boot()).vat('v').root('counter', () => Counter(4));
  await E(counter).next();
  interface Named {
    say(): string;
  }
  const Tally: Definition<Named, [name: string, count: number]> = define(
    'Tally',
    (_bcom, name, count) => ({ say: () => `${name} ${count}` }),
    {
      version: 1,
      formerly: ['Counter'],
      upgrade: { 0: (count: never) => ['was', count] as [string, number] },
      shape: ([name]) => typeof name === 'string',
    },
  );
  const tally = await (await boot([Tally])).vat('v').root('counter', () => Tally('new', 0));
  expect(await E(tally).say()).toBe('was 5');
  const Old: Definition<Named, []> = define('Tally', () => ({ say: () => '' }), { formerly: ['Counter'] });
  // Nothing was written in the new version yet: the old program still opens it.
  await boot([Old]);
});

test('a message inside the store is delivered once, whenever the process ended', async () => {
  const { boot } = machine();
  const vats = await boot();
  const counter = await vats.vat('v').root('counter', () => Counter(0));
  const other = vats.vat('w');
  // Sent in a turn that commits; the vat that receives it is halted, as if the process had ended before the
  // delivery.
  await other.turn(() => void E(counter).next());
  await vats.settled();
  const later = await boot();
  const again = await later.vat('v').root('counter', () => Counter(50));
  expect(await E(again).next()).toBe(1);
});

test('an actor that waits with E.to is told that the process was restarted', async () => {
  interface Waiter {
    wait(for_: Promise<unknown>): void;
    woken(outcome: Outcome, note: string): void;
    heard(): string;
  }
  const Waiter: Definition<Waiter, [heard: string]> = define('Waiter', (bcom, heard) => ({
    wait: (on) => E.to(bcom.self, 'woken', 'note').on(on),
    woken: (outcome, note) => bcom(Waiter(`${outcome.ok ? 'ok' : outcome.code} ${note}`)),
    heard: () => heard,
  }));
  const { boot } = machine([Waiter]);
  const vats = await boot();
  const waiter = await vats.vat('v').root('w', () => Waiter(''));
  const { promise: never } = promise<unknown>();
  await E(waiter).wait(never);
  await vats.settled();
  const again = await (await boot()).vat('v').root('w', () => Waiter(''));
  expect(await E(again).heard()).toBe('restarted note');
  const once = await (await boot()).vat('v').root('w', () => Waiter(''));
  expect(await E(once).heard()).toBe('restarted note');
});
