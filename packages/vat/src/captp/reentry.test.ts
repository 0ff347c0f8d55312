/** The end of a connection, as both sides see it, over real sockets. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { HobPeer } from '../../test/hob-peer.ts';
import { driver, E, type Far, promise } from '../index.ts';
import { type Connected, captp } from './captp.ts';
import { fromWebSocket } from './transport/websocket.ts';

interface Meeting {
  /** Gives and takes a reference and a promise, which stay unanswered. */
  meet(mine: { bell: object; later: Promise<unknown> }): { bell: Bell; later: Promise<string> };
  never(): Promise<string>;
  call(): Promise<unknown>;
  make(): Bell;
}
interface Bell {
  ring(): string;
  never(): Promise<string>;
}
const bell = (): Far<Bell> => driver<Bell>({ ring: () => 'ding', never: () => new Promise<never>(() => {}) });

let server: Server;
let sockets: WebSocketServer;
let url: string;
beforeEach(async () => {
  server = createServer();
  sockets = new WebSocketServer({ server });
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

const code = (answer: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(answer).then(
    (value) => `answered ${String(value)}`,
    (error: { code?: string }) => error.code ?? String(error),
  );
/** The state once all jobs that wait now are done. Nobody may still be waiting then. */
async function now(answers: readonly Promise<string>[]): Promise<readonly string[]> {
  const said: string[] = answers.map(() => 'waits');
  for (const [i, answer] of answers.entries()) answer.then((value) => (said[i] = value));
  await new Promise((resolve) => setImmediate(resolve));
  return said;
}

interface Both {
  readonly host: Connected<object>;
  readonly client: Connected<Meeting>;
  readonly sockets: readonly [host: WebSocket, client: WebSocket];
  /** On both sides: what waits for an answer, and what can be asked of references. */
  waiting(): readonly Promise<string>[];
  asking(): readonly Promise<string>[];
}
async function meet(pingMs: number): Promise<Both> {
  const accepted = new Promise<WebSocket>((resolve) => sockets.once('connection', resolve));
  const socket = new WebSocket(url, ['hob.1']);
  const client = captp<Meeting>(fromWebSocket(socket, { pingMs }));
  const hostSocket = await accepted;
  let given: { bell: Far<Bell>; later: Promise<unknown> } | undefined;
  const bootstrap = driver<Meeting>({
    meet: ([mine]) => {
      given = mine as unknown as typeof given;
      return { bell: bell() as unknown as Bell, later: promise<string>().promise };
    },
    never: () => new Promise<never>(() => {}),
    call: () => undefined as never,
    make: () => bell() as unknown as Bell,
  });
  const host = captp<object>(fromWebSocket(hostSocket, { pingMs }), { bootstrap });
  await new Promise((resolve) => (socket.readyState === WebSocket.OPEN ? resolve(0) : socket.once('open', resolve)));
  const taken = (await E(client.bootstrap).meet({ bell: bell(), later: promise().promise })) as unknown as {
    bell: Far<Bell>;
    later: Promise<string>;
  };
  const theirs = given as NonNullable<typeof given>;
  expect(await Promise.all([code(E(taken.bell).ring()), code(E(theirs.bell).ring())])).toEqual([
    'answered ding',
    'answered ding',
  ]);
  return {
    host,
    client,
    sockets: [hostSocket, socket],
    waiting: () => [
      code(E(client.bootstrap).never()),
      code(E(taken.bell).never()),
      code(taken.later),
      code(E(taken.later as unknown as Promise<Bell>).ring()),
      code(E(theirs.bell).never()),
      code(theirs.later),
    ],
    asking: () => [code(E(client.bootstrap).make()), code(E(taken.bell).ring()), code(E(theirs.bell).ring())],
  };
}
const empty = { questions: 0, answers: 0, imports: 0, exports: 0, promises: 0, bytes: 0 };

test.each<[string, (both: Both) => void]>([
  ['the host’s socket is torn', ({ sockets: [host] }) => host.terminate()],
  ['the client’s socket is torn', ({ sockets: [, client] }) => client.terminate()],
  ['the host closes', ({ host }) => host.close('the host is closing', 1001)],
  ['the client closes', ({ client }) => client.close()],
  ['somebody says what is against the rules', ({ sockets: [, client] }) => client.send('junk')],
])('when %s, calls, promises and references break on both sides as it is noticed', async (_name, tear) => {
  const both = await meet(10_000);
  const waiting = both.waiting();
  expect(await now(waiting)).toEqual(waiting.map(() => 'waits'));
  tear(both);
  await Promise.all([both.host.closed, both.client.closed]);
  expect(await now(waiting)).toEqual(waiting.map(() => 'disconnected'));
  expect(await now(both.asking())).toEqual(['disconnected', 'disconnected', 'disconnected']);
  expect([both.host.stats(), both.client.stats()]).toEqual([empty, empty]);
});

test('a way that is gone without a word is noticed with 4408, and breaks everything on both sides', async () => {
  const both = await meet(1_000);
  const waiting = both.waiting();
  // Nothing is read any more, at either end: no answer, no ping, no close.
  for (const socket of both.sockets) socket.pause();
  const ends = await Promise.all([both.host.closed, both.client.closed]);
  // The side that notices first cuts the socket. The other may see that before its own ping fails.
  expect(ends.map((end) => end.code)).toContain(4408);
  for (const { code: why } of ends) expect([4408, 1006]).toContain(why);
  expect(await now(waiting)).toEqual(waiting.map(() => 'disconnected'));
  expect([both.host.stats(), both.client.stats()]).toEqual([empty, empty]);
});

test('a connection cannot name objects of another: it is closed, and the other goes on', async () => {
  const both = await meet(10_000);
  for (let i = 0; i < 5; i += 1) await E(both.client.bootstrap).make();
  for (const say of [
    ['deliver', 1, 'ring', [], 1],
    ['deliver', 3, 'ring', [], 1],
    ['deliver', [7], 'ring', [], 2],
    ['deliver', 0, 'meet', [{ '@': 'yours', n: 2 }], 1],
    ['deliver', 0, 'meet', [{ '@': 'answer', n: 1 }], 2],
  ]) {
    const accepted = new Promise<WebSocket>((resolve) => sockets.once('connection', resolve));
    const socket = new WebSocket(url, ['hob.1']);
    const peer = new HobPeer(fromWebSocket(socket));
    const other = captp(fromWebSocket(await accepted), { bootstrap: bell() });
    await new Promise((resolve) => (socket.readyState === WebSocket.OPEN ? resolve(0) : socket.once('open', resolve)));
    peer.say(say);
    expect(await peer.end(), JSON.stringify(say)).toMatch(/^4400 /);
    await other.closed;
  }
  expect(await Promise.all(both.asking().slice(1))).toEqual(['answered ding', 'answered ding']);
  both.client.close();
  await Promise.all([both.host.closed, both.client.closed]);
});
