/** The door, over real sockets: what a stranger, a web page and a bearer get. */
import { connect } from '@hob/vat';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { knock } from '../../../../../test/knock.ts';
import { shout, type TestHost, testHost } from '../../../test/test-host.ts';
import { placeOf } from '../where.ts';
import { listen } from './listener.ts';

let home: TestHost;
beforeEach(async () => {
  home = await testHost();
});
afterEach(() => home.close());

const upgrade = (path: string, headers: Readonly<Record<string, string>>): string =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: ${new URL(home.url).host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n');
const status = async (bytes: string): Promise<string> =>
  /^HTTP\/1\.1 (\d+)/.exec((await shout(home.url, bytes, /\r\n\r\n/)).text)?.[1] ?? 'nothing';

test('a wrong secret gets 401, a web page 403, a re-bound name 403, plain HTTP 426', async () => {
  expect(await knock(home.url, { secret: 'hob1_wrong' })).toBe('HTTP 401');
  expect(await knock(home.url, { secret: home.session.secret, origin: 'http://evil.example' })).toBe('HTTP 403');
  expect(await knock(home.url, { secret: home.session.secret, host: 'evil.example' })).toBe('HTTP 403');
  expect(await knock(home.url, { secret: home.session.secret })).toBe('open');
  for (const method of ['GET', 'POST', 'PUT'])
    expect(await status(`${method} /?secret=x HTTP/1.1\r\nHost: x\r\n\r\n`)).toBe('426');
});

test('a secret in a browser’s subprotocol is accepted, and no answer echoes it', async () => {
  const { secret } = home.session;
  const { text } = await shout(
    home.url,
    upgrade('/', { 'Sec-WebSocket-Protocol': `hob.secret.${secret}, captp` }),
    /\r\n\r\n/,
  );
  expect(text).toMatch(/^HTTP\/1\.1 101/);
  expect(text).toMatch(/sec-websocket-protocol: captp\r\n/i);
  expect(text).not.toContain(secret);
  // Offered alone, still nothing of it comes back.
  const alone = await shout(home.url, upgrade('/', { 'Sec-WebSocket-Protocol': `hob.secret.${secret}` }), /\r\n\r\n/);
  expect(alone.text).not.toContain(secret);
});

test('a secret in the URL is not accepted, and no answer repeats it', async () => {
  const { secret } = home.session;
  for (const path of [
    `/?secret=${secret}`,
    `/${secret}`,
    `/?access_token=${secret}&authorization=Bearer%20${secret}`,
  ]) {
    const { text } = await shout(home.url, upgrade(path, {}));
    expect(text).toMatch(/^HTTP\/1\.1 401/);
    expect(text).not.toContain(secret);
  }
  const user = home.url.replace('ws://', `ws://${secret}:${secret}@`);
  expect(await knock(user, { secret: 'hob1_wrong' })).toBe('HTTP 401');
});

test('a refused peer is disconnected, also if it keeps its half of the connection open', async () => {
  for (const headers of [{}, { Authorization: 'Bearer no' }, { Origin: 'http://evil.example' }]) {
    const { text, closed } = await shout(home.url, upgrade('/', headers as Record<string, string>));
    expect(text).toMatch(/^HTTP\/1\.1 40[13]/);
    expect(closed).toBe(true);
  }
});

test('300 refused strangers that keep their connections open take no slot from the bearer of a secret', async () => {
  const held = await Promise.all(
    Array.from({ length: 300 }, () => shout(home.url, upgrade('/', { Authorization: 'Bearer no' }))),
  );
  expect(held.filter(({ closed }) => closed)).toHaveLength(300);
  expect(await knock(home.url, { secret: home.session.secret })).toBe('open');
});

test('a request whose headers never end is closed within seconds, and others connect meanwhile', async () => {
  const slow = shout(home.url, `GET / HTTP/1.1\r\nHost: ${new URL(home.url).host}\r\nX-Slow: `);
  const silent = shout(home.url, '');
  expect(await knock(home.url, { secret: home.session.secret })).toBe('open');
  expect((await slow).closed).toBe(true);
  expect((await silent).closed).toBe(true);
});

test.each([
  ['bytes that are no HTTP', 'junk\r\n\r\n', '400'],
  ['a header of a megabyte', `GET / HTTP/1.1\r\nX: ${'x'.repeat(1 << 20)}\r\n\r\n`, '431|nothing'],
  ['a tunnel', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n', 'nothing'],
])('%s', async (_name, bytes, expected) => {
  expect(await status(bytes)).toMatch(new RegExp(`^(${expected})$`));
  expect(await knock(home.url, { secret: home.session.secret })).toBe('open');
});

test('an upgrade to another protocol is refused, also with a valid secret', async () => {
  const bytes = upgrade('/', { Authorization: `Bearer ${home.session.secret}` }).replace('websocket', 'h2c');
  expect(await status(bytes)).toMatch(/^4\d\d$/);
  const old = upgrade('/', { Authorization: `Bearer ${home.session.secret}` }).replace('Version: 13', 'Version: 7');
  expect(await status(old)).toMatch(/^4\d\d$/);
});

test('a newer connection of a session closes the older one with 4401', async () => {
  const older = await home.enter(home.session.secret);
  await home.enter(home.session.secret);
  expect(await older.closed).toEqual({ code: 4401, reason: 'a newer connection of this session took its place' });
  while (home.host.connections().length > 1) await new Promise((resolve) => setTimeout(resolve, 5));
});

test('junk and an oversized frame are closed with a reason, and the next one is served', async () => {
  const { secret } = home.session;
  expect(await knock(home.url, { secret, frame: 'junk' })).toBe('closed 4400 a frame is not JSON');
  expect(await knock(home.url, { secret, frame: 'x'.repeat(2 << 20) })).toMatch(/^closed 1009/);
  const after = await home.enter(secret);
  expect(after.bootstrap).toBeDefined();
});

test('the port is bound to loopback only', async () => {
  const { networkInterfaces } = await import('node:os');
  const other = Object.values(networkInterfaces()).flat().find((each) => each?.family === 'IPv4' && !each.internal); // biome-ignore format: one line
  if (other === undefined) return;
  const url = home.url.replace('127.0.0.1', other.address);
  await expect(connect(url, { secret: home.session.secret })).rejects.toMatchObject({ code: 'disconnected' });
});

test('closing ends every socket and frees the port', async () => {
  const socket = new WebSocket(home.url, ['captp'], { headers: { authorization: `Bearer ${home.session.secret}` } });
  await new Promise((resolve) => socket.once('open', resolve));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await home.host.close();
  expect(await closed).toBe(1001);
  await expect(connect(home.url, { secret: 'hob1_any' })).rejects.toMatchObject({ code: 'disconnected' });
});

test('an internal error of the listener ends the connection that it concerns, is logged, and leaves all others alone', async () => {
  const faults: unknown[] = [];
  const broken = new Error('a fault behind the door');
  let at: 'find' | 'welcome' | 'place' | 'ask' | undefined;
  const failing = <T>(where: typeof at, otherwise: T): T => {
    if (at === where) throw broken;
    return otherwise;
  };
  const door = await listen<string>(placeOf(), {
    find: async () => 'somebody',
    slot: () => failing('place', { ok: true, release: () => {} }),
    slotForCall: async () => failing('place', { ok: true, release: () => {} }),
    welcome: (_who, duplex) => {
      failing('welcome', undefined);
      duplex.close(1000, 'welcome');
    },
    callObject: async () => failing('ask', { status: 200, body: '{}' }),
    fault: (error) => void faults.push(error),
  });
  onTestFinished(() => door.close());
  const { url } = door;
  const enter = (): Promise<number> =>
    new Promise((closed) => {
      const socket = new WebSocket(url, ['hob.1'], { headers: { authorization: 'Bearer any' } });
      socket.on('error', () => {});
      socket.on('close', closed);
    });
  // An error that nobody catches would end the host, and leave the connection as it is.
  const { promise: unheard, resolve: heard } = Promise.withResolvers<unknown>();
  process.on('unhandledRejection', heard);
  onTestFinished(() => void process.off('unhandledRejection', heard));
  for (at of ['welcome', 'place'] as const) {
    expect(await Promise.race([enter(), unheard])).toBe(1006);
    expect(faults.splice(0)).toEqual([broken]);
  }
  at = undefined;
  expect(await enter()).toBe(1000);
});
