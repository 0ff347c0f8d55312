/**
 * A call of a peer is a turn. If the turn is undone, nothing of it is sent. Otherwise its messages leave when
 * it is durable.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HobPeer } from '../../test/hob-peer.ts';
import type { Commit } from '../durable/output-commit.ts';
import { CapError, type Definition, define, driver, E, openStore, promise, spawn } from '../index.ts';
import { openVatsThrough } from '../vats/vats.ts';
import { captp } from './captp.ts';
import { memoryPair } from './transport/memory-pair.ts';

interface Ear {
  hear(value: unknown): void;
}
interface Cell {
  set(value: string): string;
  get(): string;
  /** Tells `listener`, makes things, settles a promise that it gave before, and throws. */
  fail(listener: Ear): never;
  give(): { later: Promise<unknown> };
  settle(value: string): void;
  tell(listener: Ear, value: string): string;
  ask(listener: Ear): Promise<unknown>;
  made(): object;
}
let resolver: { resolve(value: unknown): void } | undefined;
const Cell: Definition<Cell, [value: string]> = define('Cell', (bcom, value) => ({
  set: (next) => bcom(Cell(next), next),
  get: () => value,
  fail: (listener) => {
    E.sendOnly(listener).hear('never');
    E(listener).hear(spawn(Cell('never')));
    resolver?.resolve('never');
    throw new CapError('denied', 'as asked');
  },
  give: () => {
    const made = promise<unknown>();
    resolver = made.resolver as { resolve(value: unknown): void };
    return { later: made.promise };
  },
  settle: (next) => {
    resolver?.resolve(next);
    return bcom(Cell(next));
  },
  tell: (listener, next) => {
    E.sendOnly(listener).hear(next);
    return bcom(Cell(next), next);
  },
  ask: (listener) => bcom(Cell('asked'), E(listener).hear('question')) as unknown as Promise<unknown>,
  made: () => bcom(Cell('made'), spawn(Cell('new')) as object),
}));

/** A host on a disk that writes when it is told to, and a peer that says frames. */
async function host() {
  const folder = mkdtempSync(join(tmpdir(), 'hob-captp-'));
  const waiting: ((lose: boolean) => void)[] = [];
  let held = false;
  const store = await openStore({ path: folder });
  const through =
    (commit: Commit): Commit =>
    (writes, done) => {
      if (held) waiting.push((lose) => (lose ? done(new Error('EIO')) : commit(writes, done)));
      else commit(writes, done);
    };
  const vats = await openVatsThrough({ store, definitions: [Cell] }, through);
  const cell = await vats.vat('cells').root('cell', () => Cell('first'));
  const [a, b] = memoryPair();
  const connection = captp<object>(a, { bootstrap: cell });
  const peer = new HobPeer(b);
  const disk = (lose = false): void => {
    held = false;
    for (const one of waiting.splice(0)) one(lose);
  };
  let open = true;
  const close = async (): Promise<void> => {
    if (!open) return;
    open = false;
    disk();
    peer.leave();
    await connection.closed;
    await vats.close();
    await store.close();
  };
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
  /** The state that a restart finds. */
  const afterwards = async (): Promise<string> => {
    await close();
    const again = await openStore({ path: folder });
    const restarted = await openVatsThrough({ store: again, definitions: [Cell] }, (commit) => commit);
    const found = await E(await restarted.vat('cells').root('cell', () => Cell('not there'))).get();
    await restarted.close();
    await again.close();
    return found;
  };
  return { peer, cell, connection, afterwards, hold: () => void (held = true), disk };
}
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
};
const listener = { '@': 'object', n: 1 };

test('a turn that throws says one thing to its peer: that it broke', async () => {
  const { peer, connection } = await host();
  peer.say(['deliver', 0, 'give', [], 1], ['deliver', 0, 'get', [], 2]);
  expect(await peer.answer(2)).toBe('"first"');
  const before = connection.stats();
  const said = peer.said.length;
  peer.say(['deliver', 0, 'fail', [listener], 3]);
  expect(await peer.answer(3)).toMatch(/^denied: /);
  await quiet();
  expect(peer.said.slice(said)).toEqual([['fail', 3, 'denied', 'as asked']]);
  expect(connection.stats().exports).toBe(before.exports);
  expect(connection.stats().questions).toBe(0);
  peer.say(['deliver', 0, 'settle', ['now'], 4]);
  expect(await peer.until(([name]) => name === 'resolve')).toEqual(['resolve', 1, 'now']);
});

test('all that a turn lets out waits for the disk, and leaves in the order of turns', async () => {
  const { peer, hold, disk } = await host();
  peer.say(['deliver', 0, 'give', [], 1]);
  await peer.answer(1);
  const said = peer.said.length;
  hold();
  peer.say(
    ['deliver', 0, 'tell', [listener, 'one'], 2],
    ['deliver', 0, 'made', [], 3],
    // On an answer that nobody may know yet.
    ['deliver', [3], 'get', [], 4],
    ['deliver', 0, 'settle', ['two'], 5],
    ['deliver', 0, 'get', [], 6],
    ['deliver', 0, 'nothing', [], 7],
    ['deliver', 0, 'ask', [listener], 8],
  );
  await quiet();
  expect(peer.said.slice(said)).toEqual([]);
  disk();
  expect(await peer.answer(7)).toMatch(/^no-such-method/);
  const asked = (await peer.until(
    ([name, , , args]) => name === 'deliver' && (args as unknown[])[0] === 'question',
  )) as unknown[];
  peer.say(['return', asked[4], 'answer']);
  expect(await peer.answer(8)).toBe('"answer"');
  const order = peer.said
    .slice(said)
    .filter(([name]) => name === 'return' || name === 'resolve' || name === 'deliver' || name === 'fail')
    .map(([name, id, , args]) =>
      name === 'deliver' ? `deliver ${String((args as unknown[])[0])}` : `${String(name)} ${String(id)}`,
    );
  for (const [earlier, later] of [
    ['deliver one', 'return 2'],
    ['return 2', 'return 3'],
    ['return 3', 'return 4'],
    ['resolve 1', 'return 6'],
    ['return 6', 'deliver question'],
  ] as const) {
    expect(order).toContain(earlier);
    expect(order.indexOf(earlier), `${earlier} before ${later} in ${order.join(', ')}`).toBeLessThan(
      order.indexOf(later),
    );
  }
});

test('when the disk fails, nothing of it was ever said: the peer is cut off, the program is told unknown-outcome', async () => {
  const { peer, cell, connection, hold, disk, afterwards } = await host();
  peer.say(['deliver', 0, 'give', [], 1], ['deliver', 0, 'set', ['safe'], 2]);
  expect(await peer.answer(2)).toBe('"safe"');
  const said = peer.said.length;
  hold();
  peer.say(
    ['deliver', 0, 'tell', [listener, 'lost'], 3],
    ['deliver', 0, 'settle', ['lost'], 4],
    ['deliver', 0, 'made', [], 5],
    ['deliver', [5], 'get', [], 6],
    ['deliver', 0, 'ask', [listener], 7],
    ['deliver', 0, 'get', [], 8],
  );
  const local = [E(cell).set('lost'), E(cell).get()].map((answer) =>
    answer.then(
      (value) => `answered ${value}`,
      (error: CapError) => error.code,
    ),
  );
  await quiet();
  disk(true);
  expect(await Promise.all(local)).toEqual(['unknown-outcome', 'unknown-outcome']);
  expect((await connection.closed).code).toBe(1001);
  expect(peer.said.slice(said)).toEqual([]);
  expect(connection.stats()).toEqual({ questions: 0, answers: 0, imports: 0, exports: 0, promises: 0, bytes: 0 });
  expect(await afterwards()).toBe('safe');
});

test('a call to a peer that was under way when the disk failed is not repeated; what was not on the disk never happened, and what comes after is kept', async () => {
  const { peer, cell, hold, disk, afterwards } = await host();
  peer.say(['deliver', 0, 'ask', [listener], 1]);
  const asked = (await peer.until(([name]) => name === 'deliver')) as unknown[];
  hold();
  const lost = E(cell)
    .set('lost')
    .catch((error: CapError) => error.code);
  await quiet();
  disk(true);
  expect(await lost).toBe('unknown-outcome');
  // Its turn was on the disk, but the peer has to look again: what else it did may be undone.
  expect(asked[4]).toBe(1);
  expect(await peer.answer(1)).toMatch(/^closed 1001 /);
  expect(await E(cell).set('after')).toBe('after');
  expect(peer.said.filter(([name]) => name === 'deliver')).toHaveLength(1);
  expect(await afterwards()).toBe('after');
});

test("messages of a client's turn leave when the client's disk has the turn, and never if that fails", async () => {
  const heard: unknown[] = [];
  const there = driver<Ear>({ hear: ([value]) => void heard.push(value) });
  for (const lose of [false, true]) {
    const mine = await host();
    const [a, b] = memoryPair();
    const far = captp<object>(a, { bootstrap: there });
    const here = captp<Ear>(b);
    onTestFinished(async () => {
      here.close();
      await Promise.all([here.closed, far.closed]);
    });
    mine.hold();
    const told = E(mine.cell)
      .tell(here.bootstrap as never, `lost ${lose}`)
      .catch((error: CapError) => error.code);
    await quiet();
    expect(heard).toEqual(lose ? ['lost false'] : []);
    mine.disk(lose);
    expect(await told).toBe(lose ? 'unknown-outcome' : 'lost false');
    await quiet();
    expect(heard).toEqual(['lost false']);
  }
});
