/** `onSever`: actors learn that a connection has ended. Over sockets, with both dialects. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { Meter } from '../core/types.ts';
import { forwardsTo } from '../forwarder.ts';
import {
  CapError,
  type Definition,
  define,
  driver,
  E,
  type Far,
  onSever,
  openStore,
  openVats,
  type Store,
} from '../index.ts';
import { captp, type Dialect, fromWebSocket } from '../wire.ts';

interface Guest {
  hear(text: string): void;
}
interface Room {
  join(guest: Guest, name: string): string;
  /** Asks to be told, and throws. */
  fail(guest: Guest): never;
  /** Does not wait by a message to itself, but in a handler. */
  watch(guest: Guest, log: { add(text: string): void }): void;
  left(outcome: { ok: boolean; code?: string; value?: { code: string } }, name: string): void;
  gone(): readonly string[];
}
const Room: Definition<Room, [gone: readonly string[]]> = define('sever.test.Room', (bcom, gone) => ({
  join: (guest, name) => {
    E.to(bcom.self, 'left', name).on(onSever(guest));
    return `hello ${name}`;
  },
  fail: (guest) => {
    E.to(bcom.self, 'left', 'failed').on(onSever(guest));
    throw new CapError('denied', 'as asked');
  },
  watch: (guest, log) => {
    E.when(onSever(guest), ({ code }) => E(log).add(code));
  },
  left: ({ ok, code, value }, name) => bcom(Room([...gone, `${name}: ${ok ? value?.code : code}`])),
  gone: () => gone,
}));

/** A room in a durable vat, behind a real socket. */
async function scene(dialect: Dialect, meter?: Readonly<Record<string, number>>, given?: Store) {
  const store = given ?? (await openStore({ memory: true }));
  const vats = await openVats({ store, definitions: [Room] });
  const room = await vats.vat('rooms').root('room', () => Room([]));
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const account: Meter | undefined = meter && vats.meter('peer', meter);
  const guests: Far<Guest>[] = [];
  sockets.on('connection', (socket) => {
    const meter = account === undefined ? {} : { meter: account };
    guests.push(captp<Guest>(fromWebSocket(socket), { dialect, bootstrap: room, ...meter }).bootstrap);
  });
  let open = true;
  const close = async (): Promise<void> => {
    if (!open) return;
    open = false;
    await vats.close();
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
    await new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
    if (given === undefined) await store.close();
  };
  onTestFinished(close);
  const enter = async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await new Promise<void>((open) => socket.once('open', () => open()));
    const connection = captp<Room>(fromWebSocket(socket), { dialect, bootstrap: guest() });
    onTestFinished(() => socket.terminate());
    return { room: connection.bootstrap, connection, socket };
  };
  return { vats, room, enter, account, guests, close };
}

const guest = (): Far<Guest> => driver<Guest>({ hear: () => {} });

/** Far longer than any machine needs, so that a message that never comes fails the test. */
const PATIENCE = 30_000;

async function until(seen: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!(await seen())) {
    if (Date.now() > end) throw new Error('nobody was told');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

for (const dialect of ['hob.1', 'captp'] as const) {
  test(`${dialect}: an actor is told when the connection of a guest closes or is cut, and of no other`, async () => {
    const { room, enter } = await scene(dialect);
    const [ann, bob, cyd] = [await enter(), await enter(), await enter()];
    for (const [name, { room: theirs }] of Object.entries({ ann, bob, cyd }))
      expect(await E(theirs).join(guest() as never, name)).toBe(`hello ${name}`);
    ann.connection.close();
    await until(async () => (await E(room).gone()).length === 1);
    bob.socket.terminate();
    await until(async () => (await E(room).gone()).length === 2);
    expect(await E(room).gone()).toEqual(['ann: disconnected', 'bob: disconnected']);
    expect(await E(cyd.room).gone()).toHaveLength(2);
  });

  test(`${dialect}: who asks after the connection has ended is told at once, also in a handler`, async () => {
    const { room, enter, guests } = await scene(dialect);
    const { room: theirs, connection } = await enter();
    await E(theirs).join(guest() as never, 'first');
    connection.close();
    await until(async () => (await E(room).gone()).length === 1);
    const heard: string[] = [];
    const log = driver<{ add(text: string): void }>({ add: ([text]) => void heard.push(text) });
    await E(room).join(guests[0] as never, 'late');
    await E(room).watch(guests[0] as never, log as never);
    await until(async () => (await E(room).gone()).length === 2 && heard.length === 1);
    expect(await E(room).gone()).toEqual(['first: disconnected', 'late: disconnected']);
    expect(heard).toEqual(['disconnected']);
  });

  test(`${dialect}: a turn that fails has asked nothing`, async () => {
    const { room, enter } = await scene(dialect);
    const { room: theirs, connection } = await enter();
    await expect(E(theirs).fail(guest() as never)).rejects.toThrow();
    await E(theirs).join(guest() as never, 'ann');
    connection.close();
    await until(async () => (await E(room).gone()).length > 0);
    expect(await E(room).gone()).toEqual(['ann: disconnected']);
  });
}

test('after a restart the actor is told that the process was restarted, once', async () => {
  const store = await openStore({ memory: true });
  onTestFinished(() => store.close());
  const first = await scene('hob.1', undefined, store);
  const { room: theirs } = await first.enter();
  await E(theirs).join(guest() as never, 'ann');
  await first.close();
  const second = await scene('hob.1', undefined, store);
  await until(async () => (await E(second.room).gone()).length > 0);
  expect(await E(second.room).gone()).toEqual(['ann: restarted']);
  await second.close();
  const third = await scene('hob.1', undefined, store);
  expect(await E(third.room).gone()).toEqual(['ann: restarted']);
});

test('a peer that asks again and again pays for it with its own meter, and gets it back at the end', async () => {
  const { enter, account, room } = await scene('hob.1', { promises: 20, messages: 1000 });
  const { room: theirs, connection } = await enter();
  // A turn that fails has asked nothing, and pays for nothing.
  for (let n = 0; n < 30; n += 1)
    await expect(E(theirs).fail(guest() as never)).rejects.toMatchObject({ code: 'denied' });
  const asked = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      E(theirs)
        .join(guest() as never, `guest ${n}`)
        .then(
          () => 'ok',
          ({ code }: { code: string }) => code,
        ),
    ),
  );
  expect(new Set(asked)).toEqual(new Set(['ok', 'limit']));
  const joined = asked.filter((code) => code === 'ok').length;
  expect(joined).toBeLessThanOrEqual(20);
  connection.close();
  await until(async () => (await E(room).gone()).length === joined);
  expect(account?.used()).toMatchObject({ messages: 0, promises: 0 });
});

test('an object of this process, a promise and data are refused: no connection can end for them', async () => {
  const { room, vats } = await scene('hob.1');
  await expect(E(room).join(guest() as never, 'local')).rejects.toMatchObject({ code: 'invalid' });
  for (const wrong of [room, Promise.resolve(room), {}, 'text', undefined])
    await expect(vats.vat('other').turn(() => void onSever(wrong as never))).rejects.toMatchObject({ code: 'invalid' });
  expect(await E(room).gone()).toEqual([]);
});

test('thousands that wait are all told, and what happens beside them goes on', async () => {
  const { vats, enter, guests } = await scene('hob.1');
  const { connection } = await enter();
  await until(async () => guests.length === 1);
  let told = 0;
  const other = vats.vat('other');
  const count = 10_000;
  await other.turn(() => {
    for (let n = 0; n < count; n += 1) E.when(onSever(guests[0] as never), () => void (told += 1));
  });
  connection.close();
  await until(async () => told === count);
});

test('the program can wait too, and a forwarder of an object of a peer is one of that peer', async () => {
  const { enter, guests } = await scene('captp');
  const { connection } = await enter();
  await until(async () => guests.length === 1);
  const passed = guest();
  forwardsTo(passed, guests[0] as never);
  const ended = Promise.all([onSever(guests[0] as never), onSever(passed)]);
  connection.close();
  expect((await ended).map(({ code }) => code)).toEqual(['disconnected', 'disconnected']);
});
