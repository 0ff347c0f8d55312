/** Bytes that were given away go back to the system once the peer has them, and not before. */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { HobPeer } from '../../../test/hob-peer.ts';
import { closedAfterEachTest, openForEachTest } from '../../../test/opened.ts';
import {
  type ByteSource,
  captp,
  driver,
  E,
  type Far,
  fromWebSocket,
  handOver,
  iterate,
  type Vats,
} from '../../index.ts';
import { type Connected, dialects } from '../captp.ts';
import { memoryPair } from '../transport/memory-pair.ts';
import type { Duplex } from './duplex.ts';

interface Shop {
  get(length: number): Uint8Array;
  echo(value: unknown): unknown;
}
const shop = (): Far<Shop> =>
  driver<Shop>({
    get: ([length]) => handOver(new Uint8Array(length).fill(7)),
    echo: ([value]) => value,
  });

let vats: Vats;
openForEachTest((opened) => ({ vats } = opened));
const open = closedAfterEachTest<Connected<object>>();

/** A transport that still has what it was given until it is told to `write`: the peer gets copies. */
function slow(inner: Duplex) {
  const frames: Uint8Array[] = [];
  const written: (() => void)[] = [];
  const duplex: Duplex = {
    send(frame, told) {
      if (told !== undefined) written.push(told);
      if (typeof frame !== 'string') frames.push(frame);
      inner.send(typeof frame === 'string' ? frame : frame.slice());
    },
    get buffered() {
      return inner.buffered;
    },
    onFrame: (then) => inner.onFrame(then),
    onClose: (then) => inner.onClose(then),
    close: (code, reason) => inner.close(code, reason),
  };
  return {
    duplex,
    lengths: (): number[] => frames.map(({ length }) => length),
    write(): number {
      for (const told of written) told();
      return written.splice(0).length;
    },
  };
}
function served(bootstrap: object = shop()) {
  const [a, b] = memoryPair();
  const transport = slow(a);
  open.push(captp<object>(transport.duplex, { bootstrap }));
  return { peer: new HobPeer(b), ...transport };
}
/** All that was said before this has been heard. */
async function heard(peer: HobPeer, id: number): Promise<void> {
  peer.say(['deliver', 0, 'echo', [0], id]);
  expect(await peer.answer(id)).toBe('0');
}

test('bytes that the transport has not written are not touched, also when the peer is done with them', async () => {
  const { peer, lengths, write } = served();
  peer.say(['deliver', 0, 'get', [100], 1]);
  await peer.answer(1);
  peer.say(['done', 1]);
  await heard(peer, 2);
  expect(lengths()).toEqual([100]);
  expect(write()).toBe(1);
  expect(lengths()).toEqual([0]);
  expect(peer.bytes[0]).toEqual(new Uint8Array(100).fill(7));
});

test('an answer that the peer may still name as an argument is kept for it', async () => {
  const { peer, lengths, write } = served();
  peer.say(['deliver', 0, 'get', [100], 1]);
  await peer.answer(1);
  expect(write()).toBe(1);
  expect(lengths()).toEqual([100]);
  peer.say(['deliver', 0, 'echo', [{ '@': 'answer', n: 1 }], 2]);
  expect(await peer.answer(2)).toBe('{"@":"bytes","at":0,"n":100}');
  expect(peer.bytes[1]).toEqual(new Uint8Array(100).fill(7));
  peer.say(['done', 1]);
  await heard(peer, 3);
  // Its copy is another's.
  expect(lengths()).toEqual([0, 100]);
});

test('of bytes that fill several frames, the last frame counts', async () => {
  const { peer, lengths, write } = served();
  peer.say(['deliver', 0, 'get', [(2 << 20) + 5], 1]);
  await peer.answer(1);
  expect(lengths()).toEqual([1 << 20, 1 << 20, 5]);
  peer.say(['done', 1]);
  await heard(peer, 2);
  expect(write()).toBe(1);
  expect(lengths()).toEqual([0, 0, 0]);
});

test('bytes that others hold, or that were not given away, stay: a used promise and data deliver a copy', async () => {
  const [mine, listed] = [new Uint8Array(100).fill(7), new Uint8Array(100).fill(7)];
  const later = Promise.withResolvers<Uint8Array>();
  const { peer, lengths, write } = served(
    driver<Shop & { mine(): Uint8Array; list(): unknown; later(): Promise<Uint8Array> }>({
      get: ([length]) => handOver(new Uint8Array(length)),
      echo: ([value]) => value,
      mine: () => mine,
      list: () => [handOver(listed)],
      later: () => later.promise,
    }),
  );
  peer.say(['deliver', 0, 'mine', [], 1], ['deliver', 0, 'list', [], 2]);
  await Promise.all([peer.answer(1), peer.answer(2)]);
  // Named before it is there: the answer is a promise from then on, which has the bytes too.
  peer.say(['deliver', 0, 'later', [], 3], ['deliver', 0, 'echo', [{ '@': 'answer', n: 3 }], 4]);
  await heard(peer, 5);
  later.resolve(handOver(new Uint8Array(100).fill(9)));
  await Promise.all([peer.answer(3), peer.answer(4)]);
  peer.say(['done', 1, 2, 3, 4]);
  await heard(peer, 6);
  write();
  expect(lengths()).toEqual([100, 100, 100, 100]);
  expect([...mine, ...listed]).toEqual(Array(200).fill(7));
});

test.each(Object.keys(dialects) as (keyof typeof dialects)[])(
  '%s: every byte of a stream over a socket arrives',
  async (dialect) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
    onTestFinished(() => new Promise((done) => server.close(() => done())));
    await once(server, 'listening');
    const part = 700_000;
    let next = 0;
    const source = driver<ByteSource>({
      next: () => {
        next += 1;
        return Promise.resolve(next > 20 ? undefined : handOver(new Uint8Array(part).fill(next)));
      },
      return: () => Promise.resolve(),
    });
    server.on('connection', (socket) => void open.push(captp(fromWebSocket(socket), { dialect, bootstrap: source })));
    const { port } = server.address() as { readonly port: number };
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    const far = fromWebSocket(socket);
    await once(socket, 'open');
    const peer = captp<ByteSource>(far, { dialect });
    open.push(peer);
    let at = 0;
    for await (const chunk of iterate(peer.bootstrap, { ahead: 4 })) {
      at += 1;
      expect([chunk.length, chunk.every((byte) => byte === at)]).toEqual([part, true]);
    }
    expect(at).toBe(20);
    await E(peer.bootstrap).return();
  },
);
