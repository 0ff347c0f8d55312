/** Endo's published packages and we, in one process: each other's E, promises, presences, Far objects. */
import { makeCapTP, makeLoopback } from '@endo/captp';
import { E as EndoE, Far } from '@endo/far';
import { passStyleOf } from '@endo/pass-style';
import { expect, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import {
  type Definition,
  define,
  defineProcedure,
  E,
  openStore,
  openVats,
  promise,
  spawn,
  type Vat,
  type Vats,
} from '../index.ts';

let vats: Vats;
let vat: Vat;
openForEachTest((opened) => ({ vats, a: vat } = opened));

interface Log {
  add(x: unknown): number;
  all(): readonly unknown[];
  twin(): Log;
  echo(x: unknown): unknown;
  call(it: unknown, ...args: unknown[]): unknown;
  fail(): void;
}
const Log: Definition<Log, [all: readonly unknown[]]> = define('Log', (bcom, all) => ({
  add: (x) => bcom(Log([...all, x]), all.length),
  all: () => all,
  twin: () => spawn(Log([])),
  echo: (x) => x,
  call: (it, ...args) =>
    (E(it as { greet(...args: unknown[]): unknown }) as { greet(...args: unknown[]): unknown }).greet(...args),
  fail: () => {
    throw new RangeError('inside');
  },
}));
const Adder: Definition<(x: number) => number, [n: number]> = define('Adder', (_bcom, n) => (x) => n + x);
const Any: Definition<Log, []> = defineProcedure('Any', () => (method, args) => [method, ...args]);

// Its own habit is to print every broken answer.
const quiet = { onReject: () => {} };

/** Two ends of a wire of `@endo/captp`, as it is published. */
function wire(bootstrap: unknown): { readonly bootstrap: Promise<unknown>; close(): void } {
  const near = makeCapTP('near', (message) => queueMicrotask(() => far.dispatch(message)), undefined, quiet);
  const far = makeCapTP('far', (message) => queueMicrotask(() => near.dispatch(message)), bootstrap, quiet);
  return { bootstrap: near.getBootstrap() as Promise<unknown>, close: () => near.abort(new Error('test over')) };
}

const greeter = () => {
  const seen: unknown[] = [];
  const it = Far('greeter', {
    greet: (...args: unknown[]) => {
      seen.push(...args);
      return `hello ${args.length}`;
    },
    self: () => it,
    give: (x: unknown) => x,
    boom: () => {
      throw new TypeError('theirs');
    },
  });
  return { it, seen };
};

test("Endo's E works on our references, functions, procedures and promises", async () => {
  const log = await vat.spawn(Log([]));
  expect(await EndoE(log as never as Log).add('x')).toBe(0);
  expect(await EndoE(EndoE(log as never as Log).twin()).add('y')).toBe(0);
  expect(await EndoE(E(log).twin() as never as Promise<Log>).all()).toEqual([]);
  expect(await EndoE((await vat.spawn(Adder(1))) as never as (x: number) => number)(2)).toBe(3);
  expect(await EndoE((await vat.spawn(Any())) as never as Log).add(1)).toEqual(['add', 1]);
  await expect(EndoE(log as never as Log).fail()).rejects.toThrow('inside');
  expect(await EndoE.when(log, (x) => x)).toBe(log);
});

test("Endo's sendOnly works on our references", async () => {
  const log = await vat.spawn(Log([]));
  EndoE.sendOnly(log as never as Log).add('x');
  await new Promise((done) => setImmediate(done));
  expect(await E(log).all()).toEqual(['x']);
});

test('our E works on Far objects, from the host and from a turn, also when they are not answered', async () => {
  const { it, seen } = greeter();
  expect(await E(it).greet('host')).toBe('hello 1');
  const log = await vat.spawn(Log([]));
  expect(await E(log).call(it, 'turn', 2)).toBe('hello 2');
  expect(E.sendOnly(it).greet('only')).toBeUndefined();
  await expect(E(it).boom()).rejects.toThrow('theirs');
  await expect(E(log).call(Far('bare', {}), 1)).rejects.toBeDefined();
  expect(seen).toEqual(['host', 'turn', 2, 'only']);
});

test('our E pipelines to promises and presences of a CapTP connection', async () => {
  const { it } = greeter();
  const { bootstrap, close } = wire(it);
  const remote = bootstrap as Promise<typeof it>;
  expect(await E(E(E(remote).self()).self()).greet(1, 2, 3)).toBe('hello 3');
  const presence = await remote;
  expect(await E(presence).greet()).toBe('hello 0');
  const log = await vat.spawn(Log([]));
  expect(await E(log).call(presence, 'x')).toBe('hello 1');
  expect(await E(log).call(remote, 'x')).toBe('hello 1');
  close();
});

test('a Far object and a presence keep their identity through our turns, both ways, deep inside data too', async () => {
  const { it } = greeter();
  const { bootstrap, close } = wire(it);
  const presence = await bootstrap;
  const log = await vat.spawn(Log([]));
  for (const theirs of [it, presence]) {
    expect(await E(log).echo(theirs)).toBe(theirs);
    expect(await EndoE(log as never as Log).echo(theirs)).toBe(theirs);
    const deep = (await E(log).echo({ a: [theirs, 1] })) as unknown as { a: unknown[] };
    expect(deep.a[0]).toBe(theirs);
    const same = await vat.turn(() => spawn(Log([theirs, theirs])).all());
    expect(same[0]).toBe(same[1]);
  }
  expect(await E(it).give(log)).toBe(log);
  expect(await E(log).call(Far('echo', { greet: (x: unknown) => x === log }), log)).toBe(true);
  close();
});

test('our references are what Endo calls remotables: they travel through its CapTP and come home the same', async () => {
  const log = await vat.spawn(Log([]));
  const adder = await vat.spawn(Adder(2));
  const any = await vat.spawn(Any());
  for (const ours of [log, adder, any]) expect(passStyleOf(ours as never)).toBe('remotable');
  const { it, seen } = greeter();
  const there = wire(it);
  const remote = (await there.bootstrap) as typeof it;
  expect(await E(remote).give(log)).toBe(log);
  expect(await E(remote).give({ deep: [adder] })).toEqual({ deep: [adder] });
  const asked = Far('asker', { greet: (theirLog: unknown) => EndoE(theirLog as Log).add('by wire') });
  const other = wire(asked);
  expect(await E((await other.bootstrap) as typeof asked).greet(log)).toBe(0);
  expect(await E(log).all()).toEqual(['by wire']);
  expect(seen).toEqual([]);
  there.close();
  other.close();
});

test('references of a store are remotables to Endo, too, in the process that made them and in the next', async () => {
  const store = await openStore({ memory: true });
  for (let process = 1; process <= 2; process += 1) {
    const durable = await openVats({ store, definitions: [Log, Adder, Any] });
    const home = durable.vat('a');
    const roots = await Promise.all([
      home.root('log', () => Log([])),
      home.root('adder', () => Adder(2)),
      home.root('any', () => Any()),
    ]);
    for (const ours of roots) expect(passStyleOf(ours as never)).toBe('remotable');
    await durable.close();
  }
  await store.close();
});

test('one of our actors can be the bootstrap of a CapTP connection, pipelined through', async () => {
  const log = await vat.spawn(Log([]));
  const { bootstrap, close } = wire(log);
  const remote = bootstrap as Promise<Log>;
  expect(await EndoE(remote).add('x')).toBe(0);
  expect(await E(E(remote as never as Promise<Log>).twin()).add('y')).toBe(0);
  const { it } = greeter();
  expect(await EndoE(remote).echo(it)).toBe(it);
  expect(await EndoE(remote).call(it, 1)).toBe('hello 1');
  close();
});

test('a loopback of Endo works the same', async () => {
  const { makeFar, makeNear } = makeLoopback('test');
  const { it } = greeter();
  const far = (await makeFar(it)) as typeof it;
  expect(far).not.toBe(it);
  expect(await E(far).greet('x')).toBe('hello 1');
  const log = await vat.spawn(Log([]));
  const farLog = (await makeFar(log)) as Log;
  expect(await EndoE(farLog).add(1)).toBe(0);
  expect(await makeNear(farLog)).toBe(log);
});

test('a promise of theirs delivered to a turn is awaited there as ours, and a promise of ours as theirs', async () => {
  let settle: (x: unknown) => void = () => {};
  const theirs = new Promise((resolve) => {
    settle = resolve;
  });
  const log = await vat.spawn(Log([]));
  const { it, seen } = greeter();
  const called = E(log).call(theirs, 'waited');
  settle(it);
  expect(await called).toBe('hello 1');
  const ours = promise<string>();
  const taken = E(log).call(Far('awaiter', { greet: async (p: Promise<string>) => `${await p}!` }), ours.promise);
  ours.resolver.resolve('ours');
  expect(await taken).toBe('ours!');
  expect(seen).toEqual(['waited']);
});

test('messages of a turn to a Far object leave only when the turn commits', async () => {
  const { it, seen } = greeter();
  await expect(
    vat.turn(() => {
      void E(it).greet('never');
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await vat.turn(() => {
    void E(it).greet('sent');
    expect(seen).toEqual([]);
  });
  await new Promise((done) => setImmediate(done));
  expect(seen).toEqual(['sent']);
});

test('messages to a Far object through a promise and directly keep their order', async () => {
  const { it, seen } = greeter();
  const later = promise<typeof it>();
  await vat.turn(() => {
    for (let i = 0; i < 3; i += 1) E.sendOnly(later.promise).greet(i);
  });
  later.resolver.resolve(it);
  await vat.turn(() => {
    for (let i = 3; i < 6; i += 1) E.sendOnly(later.promise).greet(i);
  });
  await new Promise((done) => setImmediate(done));
  expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
});
