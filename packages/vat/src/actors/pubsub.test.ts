import { expect, onTestFinished, test } from 'vitest';
import { type Definition, define, driver, E, openVats, type Vats } from '../index.ts';
import { makePubSub, type Subscriber } from './pubsub.ts';

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

test('who subscribed twice is told once; who left is told nothing more', async () => {
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

test('what a failing turn published nobody hears', async () => {
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
