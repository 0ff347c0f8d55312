/**
 * How callers write: the program of the design, as the compiler sees it and as it runs. Each @ts-expect-error
 * must be one.
 */
import { expect, test } from 'vitest';
import {
  CapError,
  type Definition,
  define,
  defineProcedure,
  driver,
  E,
  type Far,
  openVats,
  spawn,
  table,
} from '../index.ts';

interface Counter {
  next(): number;
  reset(): void;
  twin(): Counter;
  label(a: string, b?: number): string;
}
const Counter: Definition<Counter, [count: number]> = define('Counter', (bcom, count) => ({
  next: () => bcom(Counter(count + 1), count),
  reset: () => bcom(Counter(0)),
  twin: () => spawn(Counter(count)),
  label: (a, b) => a.repeat(b ?? 1),
}));

interface Purse {
  balance(): number;
  deposit(amount: number, from: Purse): void;
  withdraw(amount: number): void;
}
const Purse: Definition<Purse, [balance: number, name: string]> = define('Purse', (bcom, balance, name) => ({
  balance: () => balance,
  deposit: (amount, from) => {
    from.withdraw(amount);
    return bcom(Purse(balance + amount, name));
  },
  withdraw: (amount) => {
    if (amount > balance) throw new RangeError(name);
    return bcom(Purse(balance - amount, name));
  },
}));

// An actor may become another definition of the same interface, or break and still change.
const Stopped: Definition<Counter, []> = define('Stopped', () => ({
  next: () => {
    throw new Error('stopped');
  },
  reset: () => {},
  twin: () => {
    throw new Error('stopped');
  },
  label: () => '',
}));
const Mortal: Definition<Counter, [n: number]> = define('Mortal', (bcom, n) => ({
  next: () => (n > 3 ? bcom(Stopped(), n) : bcom(Mortal(n + 1), n)),
  reset: () => bcom.broken(Mortal(n), new Error('no')),
  twin: () => spawn(Counter(n)),
  label: (a) => a,
}));

type Adder = (x: number) => number;
const Adder: Definition<Adder, [n: number]> = define('Adder', (bcom, n) => (x) => bcom(Adder(n + x), n + x));

// Without arguments a constructor still takes bcom.
const Once: Definition<{ stop(): void }, []> = define('Once', (bcom) => ({ stop: () => bcom(Once()) }));
const Forward: Definition<Counter, [to: Counter]> = defineProcedure('Forward', (_bcom, to) => (method, args) => [
  method,
  args.length,
  to,
]);

/** Compiled, never run. */
export function refusedByTheCompiler(counter: Far<Counter>, adder: Far<Adder>): void {
  // @ts-expect-error an adder has no methods
  E(adder).nope();
  // @ts-expect-error a far reference has no synchronous methods
  counter.next();
  // @ts-expect-error nor has a promise of one
  E(counter).twin().next();
  const twin = E(counter).twin();
  // @ts-expect-error nor has an answer that is one
  void twin.then((it) => it.next());
  // @ts-expect-error unknown method
  E(counter).nope();
  // @ts-expect-error bad argument
  E(counter).label(1);
  // @ts-expect-error wrong portrait argument
  Counter('x');
  // @ts-expect-error a portrait is no actor
  Counter(1).next();
  // @ts-expect-error an answer is promised
  E(counter).next() + 1;
}

export const Bad1: Definition<Purse, []> = define('Bad1', (bcom) => ({
  // @ts-expect-error a Purse cannot become a Counter
  balance: () => bcom(Counter(1), 1),
  deposit: () => {},
  withdraw: () => {},
}));
export const Bad2: Definition<Counter, [n: number]> = define('Bad2', (bcom, n) => ({
  // @ts-expect-error a become token is no number: forgetting to return it shows
  next: () => bcom(Bad2(n + 1), n) + 1,
  reset: () => {},
  twin: () => spawn(Bad2(n)),
  label: (a) => a,
}));
// @ts-expect-error missing method
export const Bad3: Definition<Counter, []> = define('Bad3', () => ({ next: () => 1 }));
export const Bad4: Definition<Counter, []> = define('Bad4', () => ({
  // @ts-expect-error behaviours are synchronous
  next: async () => 1,
  reset: () => {},
  twin: () => spawn(Counter(1)),
  label: (a) => a,
}));

test('the program that the types describe runs, and gives what they say', async () => {
  const vats = await openVats({ definitions: [Counter, Purse] });
  const vat = vats.vat('bank');
  const counter: Far<Counter> = await vat.root('counter', () => Counter(0));
  const n: number = await E(counter).next();
  const m: number = await E(E(counter).twin()).next();
  const s: string = await E(counter).label('x', 2);
  const near = await vat.turn(() => {
    const k = spawn(Counter(1));
    const v: number = k.next();
    return { k, v, list: [v, v] };
  });
  const nn: number = (await E(near.k).next()) + near.v + near.list.length;
  const plus: number = await E(vat.spawn(Adder(2)))(3);
  const paid: void = await E(vat.spawn(Purse(1, 'a')))
    .deposit(1, vat.spawn(Purse(2, 'b')) as never as Purse)
    .catch(() => undefined);
  expect([n, m, s, nn, plus, paid]).toEqual([0, 1, 'xx', 2 + 1 + 2, 5, undefined]);

  const mortal = await vat.spawn(Mortal(3));
  await expect(E(mortal).reset()).rejects.toThrow('no');
  expect([await E(mortal).next(), await E(mortal).next()]).toEqual([3, 4]);
  await expect(E(mortal).next()).rejects.toThrow('stopped');
  await E(vat.spawn(Once())).stop();
  expect(await E(vat.spawn(Forward(counter as never))).next()).toEqual(['next', 0, counter]);

  const directory = driver<{ readText(path: string): string }>(
    {
      readText: ([path], { signal }) => {
        signal.throwIfAborted();
        return `text of ${path}`;
      },
    },
    { name: 'project', reads: ['readText'] },
  );
  const text: string = await E(directory).readText('README.md');
  const visits: number = await vat.turn(() => {
    const names = table<number>();
    names.set('reads', 1);
    return names.size;
  });
  expect([text, visits]).toEqual(['text of README.md', 1]);
  await vats.close();
});

test('a transfer between two purses that fails changes neither', async () => {
  const vats = await openVats();
  const vat = vats.vat('bank');
  const [alice, bob] = [await vat.spawn(Purse(10, 'alice')), await vat.spawn(Purse(0, 'bob'))];
  await E(bob).deposit(4, alice);
  await expect(E(bob).deposit(7, alice)).rejects.toThrow(RangeError);
  expect([await E(alice).balance(), await E(bob).balance()]).toEqual([6, 4]);
  await vats.close();
});

test('two definitions of one label are refused by openVats', async () => {
  const Same = define<object, []>('Counter', () => ({}));
  await expect(openVats({ definitions: [Counter, Same] })).rejects.toBeInstanceOf(CapError);
});
