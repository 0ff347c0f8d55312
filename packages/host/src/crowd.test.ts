/** One agent, and strangers, that want every place at the door: who gets in all the same. */
import { connect as dialTcp, type Socket } from 'node:net';
import { connect, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { code, shout, type TestHost, testHost } from '../test/test-host.ts';
import type { Granter, SessionFace } from './index.ts';

let home: TestHost;
let open: (() => Promise<unknown>)[];
beforeEach(async () => {
  home = await testHost();
  open = [];
  await home.host.offer('bell', { ring: () => 'ding' });
});
afterEach(async () => {
  await Promise.all(open.map((close) => close()));
  await home.close();
});

/** Stays in until the test is over. */
async function enter<T extends object = SessionFace>(secret: string): Promise<Connected<T>> {
  const connection = await connect<T>(home.url, { secret, patienceMs: 0 });
  open.push(async () => {
    connection.close();
    await connection.closed;
  });
  return connection;
}

/** The answer that each of them got. */
const heard = new WeakMap<Socket, string>();

/** Sockets that say `bytes` and then nothing; each is connected when this returns. */
async function crowd(size: number, bytes: string): Promise<readonly Socket[]> {
  const { port } = new URL(home.url);
  const one = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = dialTcp(Number(port), '127.0.0.1', () => {
        socket.write(bytes, 'latin1');
        resolve(socket);
      });
      socket.once('error', reject);
      socket.on('error', () => {});
      socket.on('data', (part) => heard.set(socket, (heard.get(socket) ?? '') + String(part)));
      open.push(
        () => new Promise<void>((closed) => (socket.closed ? closed() : socket.once('close', closed).destroy())),
      );
    });
  return await Promise.all(Array.from({ length: size }, one));
}
const endless = (secret?: string): string =>
  [
    `POST /object/${'a'.repeat(52)} HTTP/1.1`,
    `Host: ${new URL(home.url).host}`,
    ...(secret === undefined ? [] : [`Authorization: Bearer ${secret}`]),
    'Content-Length: 100000',
    '',
    '{',
  ].join('\r\n');
const gone = (sockets: readonly Socket[]): Promise<unknown> =>
  Promise.all(sockets.map((socket) => socket.closed || new Promise((closed) => socket.once('close', closed))));

/** Children of `parent`, by the secrets that they enter with. */
async function children(parent: Connected<SessionFace>, count: number): Promise<readonly string[]> {
  const secrets: string[] = [];
  for (let i = 0; i < count; i += 1)
    secrets.push((await E(parent.bootstrap).spawnChild({ name: `c${i}x`, caps: {} })).secret);
  return secrets;
}

test('an agent with 254 connected children and 256 unfinished requests cannot stop a granter from revoking', async () => {
  const grant = (await E(home.granter).grant(home.session.id, 'bell', 'bell', {})) as { readonly id: string };
  const agent = await enter(home.session.secret);
  const secrets = await children(agent, 254);
  const entered = await Promise.all(secrets.map((secret) => code(enter(secret))));
  expect(entered.filter((said) => said === 'ok')).toHaveLength(7);
  expect(entered.filter((said) => said === 'limit')).toHaveLength(247);
  const known = [undefined, 'hob1_wrong', home.session.secret, ...secrets];
  for (let i = 0; i < 256; i += 32)
    await Promise.all(Array.from({ length: 32 }, (_, j) => crowd(1, endless(known[(i + j) % known.length]))));
  await crowd(256, '');
  await crowd(256, `GET / HTTP/1.1\r\nX-Slow: `);
  // A new connection, as a command makes one; and another session is served as well.
  const granter = await enter<Granter>(home.granterSecret);
  await E(granter.bootstrap).revoke({ grant: grant.id }, 'enough');
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  expect(await E((await enter(other.secret)).bootstrap).caps()).toEqual([]);
  // The agent itself is still in, and what it held is over.
  expect(await code(E(E(agent.bootstrap).cap('bell') as unknown as Far<{ ring(): string }>).ring())).toBe('revoked');
}, 300_000);

test('a session and its descendants share 8 connections, sturdyrefs included, and every slot is freed again', async () => {
  await E(home.granter).grant(home.session.id, 'bell', 'bell', {});
  const { sturdyref } = (await E(home.granter).mint(home.session.id, 'bell', {})) as { readonly sturdyref: string };
  const agent = await enter(home.session.secret);
  const [first = '', second = ''] = await children(agent, 2);
  const child = await enter(first);
  const [below = ''] = await children(child, 1);
  await enter(below);
  const refs = await Promise.all(Array.from({ length: 5 }, () => enter<object>(sturdyref)));
  expect(await code(enter(second))).toBe('limit');
  expect(await code(enter(sturdyref))).toBe('limit');
  const meter = home.host.vats.meter(`session:${home.session.id}`);
  expect(meter.used()['connections']).toBe(8);
  // Another session has places of its own.
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  await enter(other.secret);
  refs[0]?.close();
  await refs[0]?.closed;
  while (meter.used()['connections'] === 8) await new Promise((resolve) => setTimeout(resolve, 5));
  await enter(second);
  for (const close of open.splice(0)) await close();
  while (meter.used()['connections'] !== 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

test('a session that connects again is never refused because of its own old connection', async () => {
  const agent = await enter(home.session.secret);
  for (const secret of await children(agent, 7)) await enter(secret);
  const again: Connected<SessionFace>[] = [];
  // All at once, and without reading: the old ones do not answer their close.
  await crowd(20, upgrade(home.session.secret));
  for (let i = 0; i < 10; i += 1) again.push(await enter(home.session.secret));
  expect(await E((again.at(-1) as Connected<SessionFace>).bootstrap).caps()).toEqual([]);
  expect((await agent.closed).code).toBe(4401);
  expect(home.host.vats.meter(`session:${home.session.id}`).used()['connections']).toBe(8);
});

const upgrade = (secret: string): string =>
  [
    'GET / HTTP/1.1',
    `Host: ${new URL(home.url).host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Authorization: Bearer ${secret}`,
    '',
    '',
  ].join('\r\n');

test('a session that connects again and again and reads nothing has at most two sockets', async () => {
  const sockets = await crowd(50, upgrade(home.session.secret));
  await enter(home.session.secret);
  // Whoever lost its place is cut, although it answers no close.
  while (sockets.filter((socket) => !socket.closed).length > 1) await new Promise((resolve) => setTimeout(resolve, 5));
});

test('a granter whose connections all hang can connect once more: its oldest is closed', async () => {
  const hanging = await crowd(40, upgrade(home.granterSecret));
  const granter = await enter<Granter>(home.granterSecret);
  expect(await E(granter.bootstrap).list()).toEqual([]);
  while (hanging.filter((socket) => !socket.closed).length > 15) await new Promise((resolve) => setTimeout(resolve, 5));
});

test('a request whose headers or body never end is closed, with any secret', async () => {
  const { secret } = home.session;
  const slow = [
    ...(await crowd(3, endless(secret))),
    ...(await crowd(2, endless(home.granterSecret))),
    ...(await crowd(2, endless())),
    ...(await crowd(2, upgrade(secret).slice(0, -2))),
    ...(await crowd(2, '')),
  ];
  await gone(slow);
});

test('if there are more HTTP calls than slots the rest wait, and each is answered', async () => {
  await E(home.granter).grant(home.session.id, 'bell', 'bell', {});
  const url = await home.session.publish('bell');
  const agent = await enter(home.session.secret);
  for (const secret of await children(agent, 6)) await enter(secret);
  const body = '{"method":"ring","args":[]}';
  const head = [
    `POST ${url} HTTP/1.1`,
    `Host: ${new URL(home.url).host}`,
    `Authorization: Bearer ${home.session.secret}`,
  ];
  const call = (): Promise<{ readonly text: string }> =>
    shout(home.url, `${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const said = await Promise.all(Array.from({ length: 12 }, call));
  for (const { text } of said) expect(text).toMatch(/"ding"/);
});

test('silent sockets of strangers are closed, oldest first, as soon as there are too many', async () => {
  const sockets = await crowd(100, '');
  await gone(sockets);
  // A client that made room for another was told nothing. The time of the others was over.
  const told = sockets.map((socket) => heard.get(socket) ?? '');
  expect(told.filter((text) => text === '')).toHaveLength(36);
  expect(told.filter((text) => text.startsWith('HTTP/1.1 408'))).toHaveLength(64);
});
