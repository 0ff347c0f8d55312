/** One door for several hosts: who gets to which, and what the end of one leaves. */
import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect as dialTcp } from 'node:net';
import { join } from 'node:path';
import { connect, E, type Far } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { certificate } from '../../../../../test/certificate.ts';
import { knock } from '../../../../../test/knock.ts';
import { type Bell, enter, frontDoor, hostAt } from '../../../test/fronts.ts';
import { code, scratch, shout } from '../../../test/test-host.ts';
import { type HttpFaces, openFrontDoor, type SessionFace } from '../../index.ts';

const text = (body: string) => ({ type: 'text/html; charset=utf-8', body: new TextEncoder().encode(body) });

interface Reply {
  readonly status: number;
  readonly body: string;
}

/** One request over HTTP, by any path and with any headers. */
function ask(base: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Reply> {
  const { hostname, port } = new URL(base);
  return new Promise((done, failed) => {
    request(
      { host: hostname.replace(/^\[|\]$/g, ''), port, path, method: body === undefined ? 'GET' : 'POST', headers },
      async (response) => {
        let said = '';
        for await (const part of response) said += part;
        done({ status: response.statusCode ?? 0, body: said });
      },
    )
      .on('error', failed)
      .end(body);
  });
}

test('a front door shows a renewed certificate to new connections, and open ones go on; a wrong pair changes nothing', async () => {
  const [old, renewed] = [certificate(), certificate()];
  const front = await frontDoor({}, { host: '127.0.0.1', port: 0, tls: old, names: ['localhost'] });
  const { session } = await hostAt(front, 'acme');
  const enters = async (ca: string) => {
    const connection = await connect<SessionFace>(`${front.url}/acme/beside`, {
      secret: session.secret,
      ca,
      patienceMs: 0,
    });
    onTestFinished(async () => {
      connection.close();
      await connection.closed;
    });
    const bell = (await E(connection.bootstrap).cap('bell')) as unknown as Far<Bell>;
    return () => E(bell).ring();
  };
  const first = await enters(old.cert);
  for (const tls of [
    { ...old, key: renewed.key },
    { cert: 'none', key: 'none' },
  ])
    expect(() => front.renew(tls)).toThrow(/^the certificate or the key is not PEM, or they do not belong together$/);
  expect(await (await enters(old.cert))()).toBe('acme ding');
  front.renew(renewed);
  expect(await (await enters(renewed.cert))()).toBe('acme ding');
  expect(await code(enters(old.cert))).toBe('disconnected');
  expect(await first()).toBe('acme ding');
  const plain = await frontDoor();
  expect(() => plain.renew(renewed)).toThrow(/no TLS/);
});

test('two hosts at one door: each secret opens its own host and no other', async () => {
  const front = await frontDoor();
  const [a, b] = [await hostAt(front, 'a'), await hostAt(front, 'b')];
  expect([a.url, b.url]).toEqual([`${front.url}/a`, `${front.url}/b`]);
  expect(await E((await enter(a.url, a.session.secret)).bell).ring()).toBe('a ding');
  expect(await E((await enter(b.url, b.session.secret)).bell).ring()).toBe('b ding');
  expect(await knock(a.url, { secret: b.session.secret })).toBe('HTTP 401');
  expect(await knock(b.url, { secret: a.session.secret })).toBe('HTTP 401');
  // Beside the other programs of its session.
  expect(await E((await enter(`${a.url}/beside`, a.session.secret)).bell).ring()).toBe('a ding');
  expect(a.host.connections()).toHaveLength(2);
  expect(b.host.connections()).toHaveLength(1);
});

test('no path with the name of one host leads to another', async () => {
  const front = await frontDoor();
  const [a, b] = [await hostAt(front, 'a'), await hostAt(front, 'b')];
  const status = async (path: string, secret: string): Promise<string> => {
    const { text: said } = await shout(
      front.url,
      `GET ${path} HTTP/1.1\r\nHost: ${new URL(front.url).host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
      /\r\n\r\n/,
    );
    return /^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? 'nothing';
  };
  for (const path of ['/a/../b', '/a/%2e%2e/b', '/a//b', '/a?/b', '/a/b']) {
    expect([path, await status(path, b.session.secret)]).toEqual([path, '401']);
    expect([path, await status(path, a.session.secret)]).toEqual([path, '101']);
  }
  for (const path of ['//b', '/./b', '/%62', '/B', '/', `http://${new URL(front.url).host}/b`, '/b%2f', '/b;x'])
    expect([path, await status(path, b.session.secret)]).toEqual([path, '404']);
});

test('a name that nobody has gets a 404 that says nothing else; a wrong name of the machine gets 403 first', async () => {
  const front = await frontDoor();
  const a = await hostAt(front, 'a');
  expect(await ask(front.url, '/nobody')).toEqual({ status: 404, body: 'not found\n' });
  expect(await ask(front.url, '/')).toEqual({ status: 404, body: 'not found\n' });
  expect(await ask(front.url, '/nobody/object/x', {}, '{}')).toEqual({ status: 404, body: 'not found\n' });
  expect(await knock(`${front.url}/nobody`, { secret: a.session.secret })).toBe('HTTP 404');
  await expect(connect(`${front.url}/nobody`, { secret: a.session.secret })).rejects.toThrow(/check the last part of the address/); // biome-ignore format: one line
  for (const [name, secret] of [
    ['a', a.session.secret],
    ['nobody', 'hob1_x'],
  ] as const) {
    // biome-ignore format: one line
    expect(await knock(`${front.url}/${name}`, { secret, host: 'evil.example' })).toBe('HTTP 403');
    expect(await knock(`${front.url}/${name}`, { secret, origin: 'http://evil.example' })).toBe('HTTP 403');
    expect((await ask(front.url, `/${name}`, { host: 'evil.example' })).status).toBe(403);
  }
});

test('objects, faces and pages of a host are below its name, and are no part of another host', async () => {
  const front = await frontDoor();
  const face: HttpFaces = { '/mcp': async (given, { id }) => new Response(`${id} ${new URL(given.url).pathname}`) };
  const a = await hostAt(front, 'a', face, { '/console': text('page a') });
  await hostAt(front, 'b', {}, { '/console': text('page b') });
  expect(await ask(front.url, '/a/console')).toEqual({ status: 200, body: 'page a' });
  expect(await ask(front.url, '/b/console')).toEqual({ status: 200, body: 'page b' });
  expect((await ask(front.url, '/console')).status).toBe(404);
  const authorization = `Bearer ${a.session.secret}`;
  expect(await ask(front.url, '/a/mcp', { authorization })).toEqual({ status: 200, body: `${a.session.id} /mcp` });
  expect((await ask(front.url, '/b/mcp', { authorization })).status).toBe(426);
  const url = await a.session.publish('bell');
  const call = '{"method":"ring","args":["dong"]}';
  expect(await ask(front.url, `/a${url}`, { authorization }, call)).toEqual({ status: 200, body: '{"value":"a dong"}\n' }); // biome-ignore format: one line
  expect((await ask(front.url, `/b${url}`, { authorization }, call)).status).toBe(401);
  // A browser may take either address of localhost.
  const { port } = new URL(front.url);
  expect((await ask(`http://[::1]:${port}`, '/b/console', { host: `localhost:${port}` })).body).toBe('page b');
});

test('the end of one host ends its connections, and no other; its name is free again', async () => {
  const front = await frontDoor();
  const [a, b] = [await hostAt(front, 'a'), await hostAt(front, 'b')];
  const [atA, atB] = [await enter(a.url, a.session.secret), await enter(b.url, b.session.secret)];
  // A request that is under way ends too.
  const { hostname, port } = new URL(front.url);
  const waiting = dialTcp(Number(port), hostname);
  onTestFinished(() => void waiting.destroy());
  const over = new Promise<void>((closed) => void waiting.once('close', () => closed()));
  waiting.on('error', () => {});
  waiting.write(`POST /a/object/x HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${a.session.secret}\r\nContent-Length: 9\r\n\r\n`); // biome-ignore format: one line
  await ask(front.url, '/a');
  await a.close();
  await a.close();
  expect((await atA.closed).code).toBe(1006);
  await over;
  expect(await E(atB.bell).ring()).toBe('b ding');
  expect(await knock(a.url, { secret: a.session.secret })).toBe('HTTP 404');
  const again = await a.host.serve({ front, name: 'a' });
  expect(await E((await enter(again.url, a.session.secret)).bell).ring()).toBe('a ding');
  await a.host.close();
  expect(await E(atB.bell).ring()).toBe('b ding');
});

test('the end of the door ends the connections of all its hosts, which go on', async () => {
  const front = await openFrontDoor();
  const a = await hostAt(front, 'a');
  const atA = await enter(a.url, a.session.secret);
  await front.close();
  expect((await atA.closed).code).toBe(1006);
  expect(await code(connect(a.url, { secret: a.session.secret }))).toBe('disconnected');
  expect(await code(a.host.serve({ front, name: 'a' }))).toBe('unavailable');
  const own = await a.host.serve();
  expect(await E((await enter(own.url, a.session.secret)).bell).ring()).toBe('a ding');
  await front.close();
});

test('a name is taken once, and only a door of openFrontDoor is one', async () => {
  const front = await frontDoor();
  const a = await hostAt(front, 'a');
  const refused = (options: unknown): Promise<string> => code(a.host.serve(options as never));
  expect(await refused({ front, name: 'a' })).toBe('invalid');
  for (const name of ['B', '', 'b/c', undefined]) expect(await refused({ front, name })).toBe('invalid');
  expect(await refused({ front: { url: front.url, take() {}, async close() {} }, name: 'b' })).toBe('invalid');
  expect(await refused({ front, name: 'b', port: 1 })).toBe('invalid');
  expect(await code(openFrontDoor({}, { elsewere: () => undefined } as never))).toBe('invalid');
  expect(await code(openFrontDoor({ host: '0.0.0.0' } as never))).toBe('invalid');
});

test('a door for several hosts on a Unix socket, and with TLS', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'socket');
  const local = await frontDoor({}, { path });
  const a = await hostAt(local, 'a');
  expect(a.url).toBe(`ws+unix:${path}:/a`);
  expect(await E((await enter(a.url, a.session.secret)).bell).ring()).toBe('a ding');
  const tls = certificate();
  const away = await frontDoor({}, { host: '127.0.0.1', tls, names: ['localhost'] });
  const b = await hostAt(away, 'b');
  expect(b.url).toMatch(/^wss:\/\/localhost:\d+\/b$/);
  expect(await E((await enter(b.url, b.session.secret, tls.cert)).bell).ring()).toBe('b ding');
});

test('strangers who flood one host keep nobody out of another, and an error of one host is its own', async () => {
  const front = await frontDoor();
  const faults: unknown[] = [];
  const broken = new Error('a fault of this face');
  const face: HttpFaces = { '/out': { know: async () => 'x', answer: () => Promise.reject(broken) } };
  const a = await hostAt(front, 'a', face, {}, (error) => faults.push(error));
  const b = await hostAt(front, 'b');
  const atB = await enter(b.url, b.session.secret);
  const strangers = Array.from({ length: 700 }, () => new WebSocket(a.url, ['hob.1'], { headers: { authorization: 'Bearer no' } })); // biome-ignore format: one line
  const gone = strangers.map((each) => new Promise<void>((done) => each.on('error', () => {}).once('close', () => done()))); // biome-ignore format: one line
  expect(await E((await enter(b.url, b.session.secret)).bell).ring()).toBe('b ding');
  await Promise.all(gone);
  expect((await ask(front.url, '/a/out')).status).toBe(500);
  expect(faults).toEqual([broken]);
  await atB.closed;
});
