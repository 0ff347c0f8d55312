/**
 * A source is told when the peer that read it is gone, whichever side offers it and however the connection
 * ends.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { HobPeer } from '../../test/hob-peer.ts';
import { forwardsTo } from '../forwarder.ts';
import {
  type ByteSink,
  type ByteSource,
  defineProcedure,
  driver,
  E,
  type Far,
  iterate,
  openVats,
  promise,
} from '../index.ts';
import { type Connected, captp, type DialectName } from './captp.ts';
import type { Duplex } from './session/duplex.ts';
import { memoryPair } from './transport/memory-pair.ts';
import { fromWebSocket } from './transport/websocket.ts';

function source(parts = 10) {
  let returned = 0;
  let left = parts;
  const stream = driver<ByteSource>({
    next: () => {
      left -= 1;
      return Promise.resolve(left < 0 ? undefined : new Uint8Array(8).fill(left));
    },
    return: () => {
      returned += 1;
      return Promise.resolve();
    },
  });
  return { stream, returned: () => returned };
}
interface Desk {
  give(): ByteSource;
  inRecord(): { stream: ByteSource };
  /** Reads one part of the caller's, and keeps the rest for later. */
  take(stream: Far<ByteSource>): Promise<unknown>;
}
const desk = (given: unknown) =>
  driver<Desk>({
    give: () => given as ByteSource,
    inRecord: () => ({ stream: given as ByteSource }),
    take: ([stream]) => E(stream as Far<ByteSource>).next(),
  });
interface Ends {
  readonly host: Connected<object>;
  readonly client: Connected<Desk>;
}
function meet(given: unknown, dialect: DialectName = 'hob.1', [a, b]: readonly [Duplex, Duplex] = memoryPair()): Ends {
  const made = { host: captp<object>(a, { dialect, bootstrap: desk(given) }), client: captp<Desk>(b, { dialect }) };
  onTestFinished(async () => {
    made.client.close();
    await Promise.all([made.client.closed, made.host.closed]);
  });
  return made;
}
async function over({ host, client }: Ends): Promise<void> {
  await Promise.all([host.closed, client.closed]);
  await quiet();
}
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

const dialects: readonly DialectName[] = ['hob.1', 'captp'];
const ways: readonly (readonly [string, (ends: Ends) => void])[] = [
  ['the reader closes', ({ client }) => client.close()],
  ['the side that offers it closes', ({ host }) => host.close('the host is going', 1001)],
];
for (const dialect of dialects)
  for (const [way, tear] of ways) {
    test(`${dialect}: ${way}: what the host offers is returned once, begun or not`, async () => {
      const [begun, unread] = [source(), source()];
      const ends = meet(begun.stream, dialect);
      const other = meet(unread.stream, dialect);
      const stream = await E(ends.client.bootstrap).give();
      expect(await E(stream).next()).toEqual(new Uint8Array(8).fill(9));
      await E(other.client.bootstrap).inRecord();
      tear(ends);
      tear(other);
      await over(ends);
      await over(other);
      expect([begun.returned(), unread.returned()]).toEqual([1, 1]);
    });

    test(`${dialect}: ${way}: what the client offers is returned once`, async () => {
      const { stream, returned } = source();
      const ends = meet(undefined, dialect);
      expect(await E(ends.client.bootstrap).take(stream)).toEqual(new Uint8Array(8).fill(9));
      tear({ host: ends.client as never, client: ends.host as never });
      await over(ends);
      expect(returned()).toBe(1);
    });
  }

async function sockets(pingMs: number): Promise<{ duplexes: readonly [Duplex, Duplex]; raw: readonly WebSocket[] }> {
  const server = createServer();
  const accepts = new WebSocketServer({ server });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const accepted = new Promise<WebSocket>((resolve) => accepts.once('connection', resolve));
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, ['hob.1']);
  const duplex = fromWebSocket(client, { pingMs });
  const raw = [await accepted, client] as const;
  if (client.readyState !== WebSocket.OPEN) await new Promise((resolve) => client.once('open', resolve));
  onTestFinished(async () => {
    for (const socket of raw) socket.terminate();
    accepts.close();
    await new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  });
  return { duplexes: [fromWebSocket(raw[0], { pingMs }), duplex], raw };
}
test.each<[string, number, (raw: readonly WebSocket[]) => void]>([
  ['its socket is torn', 10_000, ([, client]) => client?.terminate()],
  ['it breaks the rules and is thrown out', 10_000, ([, client]) => client?.send('junk')],
  ['it is there and says nothing any more', 15, (both) => both.forEach((socket) => void socket.pause())],
])('a reader vanishes: %s. Both sides’ sources are told, once', async (_name, pingMs, tear) => {
  const { duplexes, raw } = await sockets(pingMs);
  const [theirs, ours] = [source(), source()];
  const ends = meet(theirs.stream, 'hob.1', duplexes);
  const stream = await E(ends.client.bootstrap).give();
  await E(stream).next();
  await E(ends.client.bootstrap).take(ours.stream);
  const pulling = E(stream).next();
  tear(raw);
  await pulling.catch(() => {});
  await over(ends);
  expect([theirs.returned(), ours.returned()]).toEqual([1, 1]);
});

test('a source that has ended, and one that its reader has returned, are told nothing more', async () => {
  const [ended, left, leaving] = [source(2), source(), source()];
  const all = [ended, left, leaving].map(({ stream }) => meet(stream));
  const [atEnd, early, now] = (await Promise.all(all.map(({ client }) => E(client.bootstrap).give()))) as [
    Far<ByteSource>,
    Far<ByteSource>,
    Far<ByteSource>,
  ];
  for await (const _ of iterate(atEnd)) void _;
  for await (const _ of iterate(early)) break;
  // It says so, and is gone before it hears that this was done.
  E.sendOnly(now).return();
  for (const ends of all) {
    ends.client.close();
    await over(ends);
  }
  expect([ended.returned(), left.returned(), leaving.returned()]).toEqual([0, 1, 1]);
});

test('a stream that two peers read goes on for the one that is still there', async () => {
  const { stream, returned } = source();
  const [first, second] = [meet(stream), meet(stream)];
  await E(await E(first.client.bootstrap).give()).next();
  const kept = await E(second.client.bootstrap).give();
  first.client.close();
  await over(first);
  expect(returned()).toBe(0);
  expect(await E(kept).next()).toEqual(new Uint8Array(8).fill(8));
  second.client.close();
  await over(second);
  expect(returned()).toBe(1);
});

test('a stream that is opened for a peer which is gone by then is returned', async () => {
  const all = [0, 1].map(() => {
    const opened = promise<unknown>();
    return { ...source(), opened, ends: meet(opened.promise) };
  });
  const [reading, returning] = all.map(({ ends }) => E(ends.client.bootstrap).give());
  // Calls on it are under way, too; of the second one the return of it.
  const refused = Promise.allSettled([reading, E(reading as never as Far<ByteSource>).next()]);
  const refusedToo = Promise.allSettled([returning, E(returning as never as Far<ByteSource>).return()]);
  await quiet();
  for (const { ends } of all) {
    ends.client.close();
    await over(ends);
  }
  await Promise.all([refused, refusedToo]);
  for (const { opened, stream } of all) opened.resolver.resolve(stream);
  await quiet();
  expect(all.map(({ returned }) => returned())).toEqual([1, 1]);
});

test('a forwarder, whose methods nobody sees, passes it on once it was read; and a spent budget does not keep a file open', async () => {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  const Through = defineProcedure<ByteSource, [inner: Far<ByteSource>]>(
    'Through',
    (_bcom, inner) => (method, args) =>
      (E(inner) as never as Record<string, (...all: readonly unknown[]) => unknown>)[method]?.(...args),
  );
  const { stream, returned } = source();
  const forwarder = await vats.vat('a').spawn(Through(stream));
  const [a, b] = memoryPair();
  const meter = vats.meter('spent', { messages: 1 });
  const host = captp<object>(a, { bootstrap: desk(forwarder), meter });
  const peer = new HobPeer(b);
  peer.say(['deliver', 0, 'give', [], 1]);
  await peer.answer(1);
  peer.say(['deliver', [1], 'next', [], 2]);
  expect(await peer.answer(2)).toContain('"bytes"');
  // The attacker spends what it has, and goes.
  meter.used();
  (meter as unknown as { charge(budget: string, amount: number): void }).charge('messages', 1);
  peer.leave();
  await host.closed;
  await quiet();
  expect(returned()).toBe(1);
});

test('who calls `next` of what is no stream brings nothing about by leaving; a bootstrap is there for the next peer', async () => {
  const called: string[] = [];
  const counter = driver<{ next(): number }>({ next: () => called.push('next') });
  const { stream, returned } = source();
  const ends = meet(counter);
  const given = (await E(ends.client.bootstrap).give()) as unknown as Far<{ next(): number }>;
  expect(await E(given).next()).toBe(1);
  const [a, b] = memoryPair();
  const offered = { host: captp<object>(a, { bootstrap: stream }), client: captp<ByteSource>(b) };
  await E(offered.client.bootstrap).next();
  ends.client.close();
  offered.client.close();
  await over(ends);
  await over(offered as unknown as Ends);
  expect([called, returned()]).toEqual([['next'], 0]);
});

/** A sink that records its calls. With `failing`, its `close` fails. */
function sink(failing = false) {
  const told: string[] = [];
  let closing = (): void => {};
  const stream = driver<ByteSink>({
    write: ([bytes]) => void told.push(`write ${bytes.length}`),
    close: () => {
      told.push('close');
      if (!failing) return undefined;
      return new Promise<void>((_, reject) => {
        closing = () => reject(new Error('the disk is full'));
      });
    },
    abort: () => void told.push('abort'),
  });
  return { stream, told, fail: () => closing() };
}
interface Sinks {
  give(): ByteSink;
}
const through = (method: string, args: readonly unknown[], inner: object): unknown =>
  (E(inner) as unknown as Record<string, (...all: readonly unknown[]) => unknown>)[method]?.(...args);

test.each(dialects)('%s: a sink whose writer vanishes is aborted, once; not one that was closed', async (dialect) => {
  const [begun, unused, closed, aborted] = [sink(), sink(), sink(), sink()];
  const [one, two, three, four] = [begun, unused, closed, aborted].map(({ stream }) => meet(stream, dialect)) as [
    Ends,
    Ends,
    Ends,
    Ends,
  ];
  const given = (ends: Ends): Promise<Far<ByteSink>> =>
    E(ends.client.bootstrap as unknown as Far<Sinks>).give() as unknown as Promise<Far<ByteSink>>;
  await E(await given(one)).write(new Uint8Array(3));
  await given(two);
  const kept = await given(three);
  await E(kept).write(new Uint8Array(1));
  await E(kept).close();
  // It says so, and is gone before it hears that this was done.
  E.sendOnly(await given(four)).abort();
  await quiet();
  for (const ends of [one, two, three, four]) {
    ends.client.close();
    await over(ends);
  }
  expect([begun.told, unused.told, closed.told, aborted.told]).toEqual([
    ['write 3', 'abort'],
    ['abort'],
    ['write 1', 'close'],
    ['abort'],
  ]);
});

test('a sink that could not be closed is aborted when its writer is gone, also where it learns that only then', async () => {
  const { stream, told, fail } = sink(true);
  const ends = meet(stream);
  const given = (await E(ends.client.bootstrap).give()) as unknown as Far<ByteSink>;
  const closing = E(given)
    .close()
    .then(null, (error: { code?: string }) => error.code);
  await quiet();
  ends.client.close();
  await over(ends);
  expect([await closing, told]).toEqual(['disconnected', ['close']]);
  fail();
  await quiet();
  expect(told).toEqual(['close', 'abort']);
});

test('an error behind a forwarder is reported although nobody read it: its maker says what it forwards to', async () => {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  const Through = defineProcedure<object, [inner: object]>(
    'Through',
    (_bcom, inner) => (method, args) => through(method, args, inner),
  );
  const [read, written, other] = [
    source(),
    sink(),
    driver<{ next(): number; abort(): void }>({ next: () => 1, abort: () => {} }),
  ];
  for (const inner of [read.stream, written.stream, other]) {
    let face: object = inner;
    // One of another of another.
    for (let i = 0; i < 3; i += 1) {
      const outer = (await vats.vat('a').spawn(Through(face))) as object;
      forwardsTo(outer, face);
      face = outer;
    }
    const ends = meet(face);
    await E(ends.client.bootstrap).inRecord();
    ends.client.close();
    await over(ends);
  }
  expect([read.returned(), written.told]).toEqual([1, ['abort']]);
});

test('a forwarder that says it forwards to itself is handled without an endless loop', async () => {
  const [a, b] = [driver<{ m(): void }>({ m: () => {} }), driver<{ m(): void }>({ m: () => {} })];
  forwardsTo(a, b);
  forwardsTo(b, a);
  const ends = meet(a);
  await E(ends.client.bootstrap).give();
  ends.client.close();
  await over(ends);
});
