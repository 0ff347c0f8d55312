/** Output commit across the wire: nothing leaves a store before it is on the disk. */
import { expect, onTestFinished, test } from 'vitest';
import { memoryPair } from '../drivers/memory-pair.ts';
import type { Commit } from '../durable/edge.ts';
import { type Definition, define, driver, E, type Far, openStore, openVats } from '../index.ts';
import { openVatsThrough } from '../vats.ts';
import { captp } from './captp.ts';

interface Cell {
  set(value: string): string;
  get(): string;
  tell(listener: object): void;
  read(listener: object): void;
  later(): Promise<unknown>;
}
const Cell: Definition<Cell, [value: string]> = define('Cell', (bcom, value) => ({
  set: (next) => bcom(Cell(next), next),
  get: () => value,
  tell: (listener) => {
    E.sendOnly(listener as { hear(value: string): void }).hear(value);
    return bcom(Cell('told'));
  },
  read: (listener) => {
    E.sendOnly(listener as { hear(value: string): void }).hear(value);
  },
  later: () => E(bcom.self).get(),
}));

async function slowHost() {
  const waiting: ((lose: boolean) => void)[] = [];
  let held = false;
  const store = await openStore({ memory: true });
  const through =
    (commit: Commit): Commit =>
    (writes, done) => {
      if (held) waiting.push((lose) => (lose ? done(new Error('EIO')) : commit(writes, done)));
      else commit(writes, done);
    };
  const vats = await openVatsThrough({ store, definitions: [Cell] }, through);
  const cell = await vats.vat('cells').root('cell', () => Cell('first'));
  const away = await openVats();
  const [a, b] = memoryPair();
  const host = captp<object>(a, { bootstrap: cell });
  const client = captp<Cell>(b);
  const done = (lose = false): void => {
    held = false;
    for (const one of waiting.splice(0)) one(lose);
  };
  onTestFinished(async () => {
    done();
    client.close();
    await Promise.all([client.closed, host.closed]);
    await away.close();
    await vats.close();
    await store.close();
  });
  return { hold: () => void (held = true), done, client, host };
}
const turns = async (): Promise<void> => {
  for (let i = 0; i < 10; i += 1) await new Promise(setImmediate);
};
const outcome = (asked: Promise<unknown>): { said: string } => {
  const seen = { said: 'waits' };
  asked.then(
    (value) => (seen.said = String(value)),
    (error: { code?: string }) => (seen.said = error.code ?? 'broken'),
  );
  return seen;
};

test('an answer, and the answer of a reader after it, wait for the disk', async () => {
  const { hold, done, client } = await slowHost();
  expect(await E(client.bootstrap).get()).toBe('first');
  hold();
  const set = outcome(E(client.bootstrap).set('second'));
  const get = outcome(E(client.bootstrap).get());
  const later = outcome(E(client.bootstrap).later());
  await turns();
  expect([set.said, get.said, later.said]).toEqual(['waits', 'waits', 'waits']);
  done();
  await turns();
  expect([set.said, get.said, later.said]).toEqual(['second', 'second', 'second']);
});

test('what a turn sends to a peer waits for the disk, in turn order', async () => {
  const { hold, done, client } = await slowHost();
  const heard: unknown[] = [];
  const listener = driver<{ hear(value: string): void }>({ hear: ([value]) => void heard.push(value) }) as Far<object>;
  await E(client.bootstrap).read(listener as never);
  await turns();
  expect(heard).toEqual(['first']);
  hold();
  const told = outcome(E(client.bootstrap).tell(listener as never));
  E.sendOnly(client.bootstrap).read(listener as never);
  await turns();
  expect([heard, told.said]).toEqual([['first'], 'waits']);
  done();
  await turns();
  expect(heard).toEqual(['first', 'first', 'told']);
});

test('a commit that fails cuts the connection, and nothing of it is told', async () => {
  const { hold, done, client, host } = await slowHost();
  hold();
  const set = outcome(E(client.bootstrap).set('lost'));
  await turns();
  done(true);
  expect((await host.closed).code).toBe(1001);
  await client.closed;
  await turns();
  expect(set.said).toBe('disconnected');
});
