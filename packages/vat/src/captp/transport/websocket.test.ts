/** Sockets as duplexes. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { dial, fromWebSocket, largestFrame } from './websocket.ts';

let server: Server;
let sockets: WebSocketServer;
let url: string;
beforeEach(async () => {
  server = createServer();
  sockets = new WebSocketServer({ server, maxPayload: largestFrame, perMessageDeflate: false });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const socket of sockets.clients) socket.terminate();
  sockets.close();
  await new Promise<void>((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
});

type Duplex = ReturnType<typeof fromWebSocket>;
const accepted = (): Promise<WebSocket> => new Promise((resolve) => sockets.once('connection', resolve));
async function both(): Promise<[Duplex, WebSocket]> {
  const socket = accepted();
  const duplex = await dial(url, { secret: 'secret', dialect: 'captp' });
  return [duplex, await socket];
}
/** Both ends of a connection, as sockets and as duplexes. `got` are the frames that the accepting end receives. */
async function pair(options?: { readonly pingMs: number }) {
  const socket = accepted();
  const dialled = new WebSocket(url);
  const [peer] = await Promise.all([socket, new Promise((open) => dialled.once('open', open))]);
  const [here, there] = [fromWebSocket(peer, options), fromWebSocket(dialled)];
  const got: unknown[] = [];
  here.onFrame((each) => got.push(each));
  return { peer, dialled, here, there, got };
}
const closed = (duplex: Duplex): Promise<{ code: number; reason: string }> =>
  new Promise((resolve) => duplex.onClose(resolve));
const frame = (duplex: Duplex): Promise<string | Uint8Array> => new Promise((resolve) => duplex.onFrame(resolve));

test('the first frames, sent before who dialled has heard that it is open, are not lost', async () => {
  sockets.once('connection', (socket: WebSocket) => {
    socket.send('first');
    socket.send('second');
  });
  const duplex = await dial(url, { secret: 'secret', dialect: 'captp' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  const got: unknown[] = [];
  duplex.onFrame((each) => got.push(each));
  expect(got).toEqual(['first', 'second']);
  duplex.close(1000, '');
  await closed(duplex);
});

test('frames to another machine are masked; frames to this machine are sent as they are', async () => {
  const text = 'what a model wrote';
  const sent = async (to: string): Promise<Buffer> => {
    const socket = accepted();
    const duplex = await dial(to, { secret: 'secret', dialect: 'captp' });
    const raw = (await socket) as unknown as { readonly _socket: NodeJS.EventEmitter };
    // Before ws, which takes the mask off where the bytes are.
    const bytes = new Promise<Buffer>((resolve) =>
      raw._socket.prependOnceListener('data', (seen: Buffer) => resolve(Buffer.from(seen))),
    );
    duplex.send(text);
    const seen = await bytes;
    duplex.close(1000, '');
    await closed(duplex);
    return seen;
  };
  // A name may be anybody's.
  const away = await sent(url.replace('127.0.0.1', 'localhost'));
  expect(away[1]).toBe(0x80 | text.length);
  const mask = away.subarray(2, 6);
  expect(mask.equals(Buffer.alloc(4))).toBe(false);
  expect(away.includes(text)).toBe(false);
  expect(away.subarray(6).map((byte, i) => byte ^ (mask[i % 4] ?? 0))).toEqual(Buffer.from(text));
  const here = await sent(url);
  expect([here[1], here.subarray(2, 6), here.subarray(6).toString()]).toEqual([
    0x80 | text.length,
    Buffer.alloc(4),
    text,
  ]);
});

test('bytes and the frame behind them leave in one piece, and nothing waits for more', async () => {
  const socket = accepted();
  const dialled = new WebSocket(url);
  const [served] = await Promise.all([socket, new Promise((open) => dialled.once('open', open))]);
  const stream = (served as unknown as { _socket: Writable & { _writev(chunks: unknown[], done: () => void): void } })
    ._socket;
  const pieces: number[] = [];
  const real = stream._writev;
  stream._writev = (chunks, done) => {
    pieces.push(chunks.length);
    real.call(stream, chunks, done);
  };
  const duplex = fromWebSocket(served);
  const got: unknown[] = [];
  const all = new Promise<void>((resolve) => {
    dialled.on('message', (data: Buffer, binary) => {
      got.push(binary ? data.length : data.toString());
      if (got.length === 5) resolve();
    });
  });
  duplex.send(new Uint8Array(3));
  duplex.send(new Uint8Array(4));
  duplex.send('names them');
  await Promise.resolve();
  // The head of each frame, and its content.
  expect(pieces).toEqual([6]);
  duplex.send('alone');
  expect(pieces).toEqual([6, 2]);
  duplex.send(new Uint8Array(5));
  await all;
  expect(got).toEqual([3, 4, 'names them', 'alone', 5]);
  dialled.terminate();
});

test('text and bytes arrive as what they were, in order', async () => {
  const [duplex, socket] = await both();
  const text = frame(duplex);
  socket.send('ünïcødé');
  expect(await text).toBe('ünïcødé');
  const bytes = frame(duplex);
  socket.send(Buffer.from([1, 2, 255]));
  expect(await bytes).toEqual(new Uint8Array([1, 2, 255]));
  duplex.close(1000, 'done');
  await closed(duplex);
});

test('refusals slow a peer for two seconds at a time, then it is read in order; a dialled socket is not slowed', async () => {
  const { peer, dialled, here, there, got } = await pair();
  const began = performance.now();
  // These add up to far more than the longest pause.
  for (let i = 0; i < 100_000; i += 1) here.slow?.(1);
  there.slow?.(100_000);
  expect([peer.isPaused, dialled.isPaused]).toEqual([true, false]);
  there.send('first');
  there.send('second');
  await expect.poll(() => got, { timeout: 20_000 }).toEqual(['first', 'second']);
  // The clock of timers is a little coarser than this one.
  expect(performance.now() - began).toBeGreaterThan(200);
  // A close by a peer that is slowed is still seen.
  const over = closed(here);
  here.slow?.(100);
  there.close(1000, 'done');
  expect(await over).toEqual({ code: 1000, reason: 'done' });
});

test('a held peer is read again, in order, once there is room; a dialled socket is not held', async () => {
  const { peer, dialled, here, there, got } = await pair();
  let full = true;
  const asked: boolean[] = [];
  here.hold?.(() => {
    asked.push(full);
    return full;
  });
  there.hold?.(() => true);
  expect([peer.isPaused, dialled.isPaused]).toEqual([true, false]);
  there.send('first');
  there.send('second');
  await expect.poll(() => asked.length, { timeout: 20_000 }).toBeGreaterThan(5);
  expect(got).toEqual([]);
  full = false;
  await expect.poll(() => got, { timeout: 20_000 }).toEqual(['first', 'second']);
  // A pause for refusals continues when there is room.
  full = true;
  here.hold?.(() => full);
  here.slow?.(100);
  const began = performance.now();
  full = false;
  there.send('third');
  await expect.poll(() => got.at(-1), { timeout: 20_000 }).toBe('third');
  expect(performance.now() - began).toBeGreaterThan(80);
  // A hold ends after two seconds even if there is no room, so the last frame and the close of the peer are read. The
  // peer waits for the answer to its close.
  const over = closed(here);
  const answered = new Promise((resolve) => dialled.once('close', resolve));
  here.hold?.(() => true);
  there.send('last');
  there.close(1000, 'done');
  expect(await over).toEqual({ code: 1000, reason: 'done' });
  expect([got.at(-1), await answered]).toEqual(['last', 1000]);
});

test('a peer that is refused again and again in a pause is read again after two seconds all the same', async () => {
  const { here, there } = await pair();
  const got: unknown[] = [];
  here.onFrame((each) => got.push(each));
  here.slow?.(100);
  there.send('first');
  // Each refusal adds 100 ms to the pause, and the next one comes after 10 ms.
  while (got.length === 0) {
    here.slow?.(100);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(got).toEqual(['first']);
  const over = closed(here);
  there.close(1000, 'done');
  await over;
});

test('a slowed peer does not count as gone, even if the interval of pings is short', async () => {
  const { here, there, got: seen } = await pair({ pingMs: 20 });
  here.onClose((why) => seen.push(why));
  here.slow?.(500);
  there.send('here');
  await expect.poll(() => seen, { timeout: 20_000 }).toEqual(['here']);
  const over = closed(here);
  there.close(1000, 'done');
  await over;
});

test('a frame over the limit closes with 1009 before it is in memory', async () => {
  const [duplex, socket] = await both();
  const over = closed(duplex);
  const told = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.send('x'.repeat(largestFrame + 1));
  expect((await over).code).not.toBe(1000);
  expect(await told).toBe(1009);
});

test('a close says its code and reason to both sides, whatever the reason’s letters and length', async () => {
  for (const reason of ['a newer connection took its place', 'ü'.repeat(200), 'x'.repeat(5000), '\u2028\n']) {
    const [duplex, socket] = await both();
    const told = new Promise<[number, string]>((resolve) =>
      socket.once('close', (code: number, why: Buffer) => resolve([code, why.toString()])),
    );
    duplex.close(4401, reason);
    expect(await closed(duplex)).toEqual({ code: 4401, reason });
    const [code, why] = await told;
    expect(code).toBe(4401);
    expect(Buffer.byteLength(why)).toBeLessThanOrEqual(123);
  }
});

test('a peer that never answers a close is cut', async () => {
  const [duplex, socket] = await both();
  socket.pause();
  duplex.close(1000, 'done');
  expect((await closed(duplex)).code).toBe(1000);
});

test('a listener that is added after the end is called at once, and a frame that is sent then goes nowhere', async () => {
  const [duplex, socket] = await both();
  socket.terminate();
  await closed(duplex);
  expect((await closed(duplex)).code).toBe(1006);
  duplex.send('nobody hears it');
  duplex.close(1000, 'again');
});

test('bytes that are no frame end the connection and nothing else', async () => {
  const [duplex, socket] = await both();
  const over = closed(duplex);
  (socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(Buffer.from([0xff, 0xff, 0xff]));
  expect((await over).code).toBeGreaterThan(1000);
  const [again] = await both();
  again.close(1000, '');
  await closed(again);
});

test('an error in a listener ends neither the process nor another connection', { timeout: 20_000 }, async () => {
  const [one, oneSocket] = await both();
  const [two, twoSocket] = await both();
  const injected = [new Error('a fault at a frame'), new Error('a fault at the close')];
  const faults: unknown[] = [];
  one.onFault?.((error) => faults.push(error));
  one.onFrame(() => {
    throw injected[0];
  });
  const over = new Promise<void>((done) =>
    one.onClose(() => {
      done();
      throw injected[1];
    }),
  );
  oneSocket.send('a frame');
  oneSocket.close();
  await over;
  await new Promise((resolve) => setImmediate(resolve));
  expect(faults).toEqual(injected);
  twoSocket.send('another frame');
  expect(await frame(two)).toBe('another frame');
  two.close(1000, '');
  await closed(two);
});

test('only a WebSocket is taken', () => {
  expect(() => fromWebSocket({ send: () => {}, on: () => {} })).toThrowError(/not a WebSocket/);
});

test('a peer that is there but does not answer is noticed, with 4408; one that answers is not', async () => {
  const socket = accepted();
  const client = new WebSocket(url, ['captp']);
  const honest = fromWebSocket(await socket, { pingMs: 10 });
  const asked = new Promise<void>((resolve) =>
    client.on('ping', () => void (asks += 1) === undefined && asks > 5 && resolve()),
  );
  let asks = 0;
  await asked;
  const over = closed(honest);
  // Half open: what arrives is taken by nobody.
  client.pause();
  expect(await over).toEqual({ code: 4408, reason: 'the peer does not answer: it, or the way to it, is gone' });
  client.terminate();
});

test('a peer that pings and pings, and does not read the answers, is closed', async () => {
  const socket = accepted();
  const client = new WebSocket(url, ['captp']);
  const theirs = await socket;
  const host = fromWebSocket(theirs);
  if (client.readyState !== WebSocket.OPEN) await new Promise((open) => client.once('open', open));
  const over = closed(host);
  client.pause();
  // Unread bytes fill the system's own buffers first.
  for (let i = 0; i < 64 && host.buffered < 1 << 20; i += 1) {
    host.send(new Uint8Array(1 << 20));
    await new Promise((next) => setImmediate(next));
  }
  expect(host.buffered).toBeGreaterThan(1 << 19);
  let pings = 0;
  const heard = new Promise<{ code: number; reason: string }>((resolve) =>
    theirs.on('ping', () => {
      pings += 1;
      if (pings === 11_000) resolve({ code: 0, reason: 'each ping was answered' });
    }),
  );
  for (let i = 0; i < 11_000; i += 1) client.ping();
  expect(await Promise.race([over, heard])).toEqual({
    code: 4400,
    reason: 'the peer does not read what it asked for',
  });
  client.terminate();
  theirs.terminate();
});

test('a browser’s WebSocket carries the same frames, and close codes', async () => {
  const socket = accepted();
  const browser = fromWebSocket(new globalThis.WebSocket(url, ['captp']) as object);
  const host = fromWebSocket(await socket);
  const both = Promise.all([frame(browser), frame(host)]);
  host.send('to the page');
  await new Promise((resolve) => setTimeout(resolve, 20));
  browser.send(new Uint8Array([1, 2]));
  expect(await both).toEqual(['to the page', new Uint8Array([1, 2])]);
  const ends = Promise.all([closed(browser), closed(host)]);
  host.close(4401, 'a newer one');
  expect(await ends).toEqual([
    { code: 4401, reason: 'a newer one' },
    { code: 4401, reason: 'a newer one' },
  ]);
});

test('an error in a listener of a browser’s WebSocket ends neither the page nor another connection', async () => {
  const open = async (): Promise<readonly [Duplex, Duplex]> => {
    const socket = accepted();
    const browser = fromWebSocket(new globalThis.WebSocket(url, ['captp']) as object);
    return [browser, fromWebSocket(await socket)];
  };
  const [[one, oneHost], [two, twoHost]] = [await open(), await open()];
  const injected = [new Error('a fault at a frame'), new Error('a fault at the close')];
  const faults: unknown[] = [];
  one.onFault?.((error) => faults.push(error));
  one.onFrame(() => {
    throw injected[0];
  });
  const over = new Promise<void>((done) =>
    one.onClose(() => {
      done();
      throw injected[1];
    }),
  );
  oneHost.send('a frame');
  oneHost.close(1000, '');
  await over;
  await new Promise((resolve) => setImmediate(resolve));
  expect(faults).toEqual(injected);
  twoHost.send('another frame');
  expect(await frame(two)).toBe('another frame');
  twoHost.close(1000, '');
  await closed(two);
});

test('frames sent while a browser still connects count as buffered, and leave in their order once it is open', async () => {
  const connection = accepted();
  const browser = fromWebSocket(new globalThis.WebSocket(url, ['captp']) as object);
  browser.send('first');
  browser.send(new Uint8Array([2]));
  expect(browser.buffered).toBe('first'.length + 1);
  const host = fromWebSocket(await connection);
  const got: unknown[] = [];
  const both = new Promise<void>((done) => host.onFrame((each) => got.push(each) === 2 && done()));
  await both;
  expect(got).toEqual(['first', new Uint8Array([2])]);
  browser.close(1000, '');
  await closed(host);
});
