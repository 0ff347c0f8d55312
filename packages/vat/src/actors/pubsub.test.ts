import { expect, onTestFinished, test } from 'vitest';
import {
  type Definition,
  define,
  driver,
  E,
  openStore,
  openVats,
  spawn,
  type Table,
  table,
  type Vats,
} from '../index.ts';
import { makePubSub, PubSub, type Subscriber } from './pubsub.ts';

async function open(): Promise<Vats> {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  return vats;
}

interface Log extends Subscriber {
  seen(): readonly unknown[];
}
const Log: Definition<Log, [seen: readonly unknown[]]> = define('Log', (bcom, seen) => ({
  notify: (item) => bcom(Log([...seen, item])),
  seen: () => seen,
}));
const Failing: Definition<Subscriber, []> = define('Failing', () => ({
  notify: () => {
    throw new Error('not today');
  },
}));

test('each subscriber gets everything in order, near, far and driver, though another one fails', async () => {
  const vats = await open();
  const vat = vats.vat('a');
  const pubsub = await vat.turn(() => makePubSub());
  const heard: unknown[] = [];
  const outside = driver<Subscriber>({ notify: ([item]) => void heard.push(item) });
  const [near, far] = [await vat.spawn(Log([])), await vats.vat('b').spawn(Log([]))];
  await E(pubsub).subscribe(vat.spawn(Failing()));
  for (const subscriber of [near, far, outside]) await E(pubsub).subscribe(subscriber as never);
  for (let i = 0; i < 20; i += 1) await E(pubsub).publish(i);
  const all = Array.from({ length: 20 }, (_, i) => i);
  expect([await E(near).seen(), await E(far).seen(), heard]).toEqual([all, all, all]);
});

test('a subscriber that subscribed twice is told once; one that left is told nothing more', async () => {
  const vat = (await open()).vat('a');
  const pubsub = await vat.turn(() => makePubSub());
  const [stays, leaves] = [await vat.spawn(Log([])), await vat.spawn(Log([]))];
  for (const subscriber of [stays, leaves, stays]) await E(pubsub).subscribe(subscriber);
  await E(pubsub).publish('one');
  await E(pubsub).unsubscribe(leaves);
  await E(pubsub).unsubscribe(leaves);
  await E(pubsub).publish('two');
  expect([await E(stays).seen(), await E(leaves).seen()]).toEqual([['one', 'two'], ['one']]);
  expect(await E(pubsub).subscribers()).toEqual([stays]);
});

test('nobody hears an event that a failing turn published', async () => {
  const vat = (await open()).vat('a');
  const pubsub = await vat.turn(() => makePubSub());
  const log = await vat.spawn(Log([]));
  await E(pubsub).subscribe(log);
  const failing = vat.turn(() => {
    (pubsub as unknown as { publish(item: unknown): void }).publish('never');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await E(log).seen()).toEqual([]);
});

interface CountedRows extends Pick<Table<Subscriber>, 'set' | 'delete'> {
  entries(): readonly (readonly [string, Subscriber])[];
  searched(): number;
}
/** Rows that count how often all of them are asked for. */
const CountedRows: Definition<CountedRows, [rows: Table<Subscriber>, searched: number]> = define(
  'CountedRows',
  (bcom, rows, searched) => ({
    set: (key, value) => rows.set(key, value),
    delete: (key) => rows.delete(key),
    entries: () => bcom(CountedRows(rows, searched + 1), Array.from(rows.entries())),
    searched: () => searched,
  }),
);

test('neither subscribing nor leaving looks at the other subscribers, however many there are', async () => {
  const vat = (await open()).vat('a');
  const counts = await vat.turn(() => {
    const rows = spawn(CountedRows(table(), 0));
    const pubsub = spawn(PubSub(rows as unknown as Table<Subscriber>, 0, table()));
    const logs = Array.from({ length: 300 }, () => spawn(Log([])));
    for (const log of logs) pubsub.subscribe(log);
    for (const log of logs) pubsub.subscribe(log);
    for (const log of logs.slice(1)) pubsub.unsubscribe(log);
    return [rows.searched(), pubsub.subscribers().length];
  });
  expect(counts).toEqual([0, 1]);
});

test('a publisher that an earlier version stored keeps its subscribers, and nobody is in it twice', async () => {
  const store = await openStore({ memory: true });
  const Old: Definition<PubSub, [rows: Table<Subscriber>, next: number]> = define('PubSub', (bcom, rows, next) => ({
    subscribe(subscriber) {
      rows.set(String(next).padStart(16, '0'), subscriber);
      return bcom(Old(rows, next + 1));
    },
    unsubscribe: () => {},
    publish: () => {},
    subscribers: () => [],
  }));
  const before = await openVats({ store, definitions: [Old, Log] });
  const old = before.vat('a');
  const roots = [await old.root('one', () => Log([])), await old.root('two', () => Log([]))] as const;
  const stored = await old.root('pubsub', () => Old(table(), 0));
  for (const subscriber of roots) await E(stored).subscribe(subscriber);
  await before.close();

  for (let restart = 1; restart <= 2; restart += 1) {
    const vats = await openVats({ store, definitions: [PubSub, Log] });
    const vat = vats.vat('a');
    const pubsub = await vat.root('pubsub', () => PubSub(table(), 0, table()));
    const [one, two] = [await vat.root('one', () => Log([])), await vat.root('two', () => Log([]))];
    await E(pubsub).subscribe(two);
    expect(await E(pubsub).subscribers()).toEqual(restart === 1 ? [one, two] : [two]);
    await E(pubsub).unsubscribe(one);
    await E(pubsub).publish(restart);
    expect((await E(two).seen()).length).toBe(restart);
    await vats.close();
  }
  await store.close();
});
