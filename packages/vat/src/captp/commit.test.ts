/** Output commit across the wire: nothing leaves a store before it is on the disk. */
import { expect, onTestFinished, test } from 'vitest';
import type { Commit } from '../durable/output-commit.ts';
import { type Definition, define, driver, E, type Far, openStore, openVats } from '../index.ts';
import { openVatsThrough } from '../vats/vats.ts';
import { type CapTPOptions, captp } from './captp.ts';
import { memoryPair } from './transport/memory-pair.ts';

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
  const client = captp<Cell>(b, { vat: away.vat('client') });
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
  return { hold: () => void (held = true), done, client, host, vats, away, cell, store };
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

test('messages of a turn to a peer wait for the disk, in turn order', async () => {
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

test('a commit that fails cuts every connection of the store, also those on which nothing waited, and no others', async () => {
  const { hold, done, client, host, vats, away, cell, store } = await slowHost();
  const driven = driver<{ ping(): number }>({ ping: () => 1 }) as Far<object>;
  const afar = await away.vat('cells').spawn(Cell('afar'));
  const ends = (options: CapTPOptions) => {
    const [a, b] = memoryPair();
    const made = { ours: captp<object>(a, options), theirs: captp<Cell>(b, { vat: away.vat('client') }) };
    onTestFinished(async () => {
      made.theirs.close();
      await made.ours.closed;
    });
    return made;
  };
  // By what it offers, by its vat, and where neither says whose it is: a driver, and nothing at all.
  const cut = [{ bootstrap: cell }, { bootstrap: driven, vat: vats.vat('other') }, { bootstrap: driven }, {}].map(ends);
  const kept = [{ bootstrap: afar }, { bootstrap: driven, vat: away.vat('other') }].map(ends);
  expect(await E((kept[0] as (typeof kept)[0]).theirs.bootstrap).get()).toBe('afar');
  const asked = cut.map(({ theirs }, i) => outcome(i === 0 ? E(theirs.bootstrap).get() : E(theirs.bootstrap).later()));
  expect(await E(client.bootstrap).get()).toBe('first');
  hold();
  // Nobody waits for an answer.
  E.sendOnly(client.bootstrap).set('lost');
  await turns();
  expect(asked[0]?.said).toBe('first');
  done(true);
  const why = { code: 1001, reason: 'the host could not write its store: enter again' };
  expect(await host.closed).toEqual(why);
  for (const { ours, theirs } of cut) {
    expect(await ours.closed).toEqual(why);
    await theirs.closed;
  }
  // A peer that connects again finds the durable state.
  const again = ends({ bootstrap: cell });
  expect(await E(again.theirs.bootstrap).get()).toBe('first');
  expect(await E(again.theirs.bootstrap).set('second')).toBe('second');
  for (const { ours } of kept) expect(await Promise.race([ours.closed, turns()])).toBe(undefined);
  // Closed ones have nothing more to learn, and a store that cannot even be read again cuts as well.
  hold();
  E.sendOnly(again.theirs.bootstrap).set('lost');
  await turns();
  await store.close();
  done(true);
  expect(await again.ours.closed).toEqual(why);
  for (const { ours } of kept) expect(await Promise.race([ours.closed, turns()])).toBe(undefined);
});
