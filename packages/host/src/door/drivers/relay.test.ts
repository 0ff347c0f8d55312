/** Hosts of another machine, reached by the door of this one. */
import { request } from 'node:http';
import { connect as dialTcp, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { type CapError, connect, E } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { certificate } from '../../../../../test/certificate.ts';
import { knock } from '../../../../../test/knock.ts';
import { enter, type TwoMachines, twoMachines } from '../../../test/fronts.ts';
import { shout } from '../../../test/test-host.ts';
import type { HttpFaces } from '../../index.ts';

const text = (body: string) => ({ type: 'text/html; charset=utf-8', body: new TextEncoder().encode(body) });

interface Reply {
  readonly status: number;
  readonly body: string;
}

function ask(url: string, headers: Record<string, string> = {}, body?: string): Promise<Reply> {
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((done, failed) => {
    request(url.replace('ws:', 'http:'), { method, headers }, (response) => {
      let said = '';
      response.setEncoding('utf8').on('data', (part) => {
        said += part;
      });
      response.on('error', failed).on('end', () => done({ status: response.statusCode ?? 0, body: said }));
    })
      .on('error', failed)
      .end(body);
  });
}

/** Until it is true. */
async function until(test: () => boolean): Promise<void> {
  while (!test()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A bare connection to the near door. */
function dial({ near }: TwoMachines): Socket {
  const socket = dialTcp(Number(new URL(near.url).port), '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

const headOf = ({ near }: TwoMachines, path: string, headers: Readonly<Record<string, string>>): string =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: ${new URL(near.url).host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n');
const upgrading = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' }; // biome-ignore format: one line

test('a session of a host on another machine is entered by this door, and its calls keep their order', async () => {
  const at = await twoMachines();
  const entered = await enter(at.url, at.there.session.secret);
  // Sent before the bell has arrived: the calls are pipelined on an answer that is not here.
  const rung = await Promise.all(Array.from({ length: 500 }, (_, n) => E(entered.bell).ring(String(n))));
  expect(rung).toEqual(Array.from({ length: 500 }, (_, n) => `there ${n}`));
  const long = 'é'.repeat(200_000);
  expect(await E(entered.bell).ring(long)).toBe(`there ${long}`);
  expect(at.there.host.connections()).toHaveLength(1);
  expect(at.here.host.connections()).toHaveLength(0);
  expect(at.faults).toEqual([]);
});

test('objects, faces, pages and refusals of another machine come as they are', async () => {
  const face: HttpFaces = {
    '/mcp': async (given, { id }) => new Response(`${id} ${await given.text()} ${given.headers.get('x-more')}`, { status: 201, headers: { 'x-said': 'yes' } }), // biome-ignore format: one line
  };
  const at = await twoMachines(face, { '/console': text('the page') });
  const { session } = at.there;
  const authorization = `Bearer ${session.secret}`;
  expect(await ask(`${at.url}/console`)).toEqual({ status: 200, body: 'the page' });
  expect(await ask(`${at.url}/mcp`, { authorization, 'x-more': 'm' }, 'words')).toEqual({ status: 201, body: `${session.id} words m` }); // biome-ignore format: one line
  const object = await session.publish('bell');
  const call = '{"method":"ring","args":["dong"]}';
  expect(await ask(at.url + object, { authorization }, call)).toEqual({
    status: 200,
    body: '{"value":"there dong"}\n',
  });
  expect((await ask(at.url + object, { authorization: 'Bearer no' }, call)).status).toBe(401);
  expect((await ask(at.url)).status).toBe(426);
  expect(await knock(at.url, { secret: 'hob1_wrong' })).toBe('HTTP 401');
  expect(await knock(at.url, { secret: at.here.session.secret })).toBe('HTTP 401');
  await until(() => at.links.size === 0);
});

test('Host and Origin are checked at the door that the caller comes to, and nothing is relayed twice', async () => {
  const at = await twoMachines();
  const { secret } = at.there.session;
  expect(await knock(at.url, { secret, host: 'evil.example' })).toBe('HTTP 403');
  expect(await knock(at.url, { secret, origin: 'http://evil.example' })).toBe('HTTP 403');
  expect((await ask(at.url, { host: 'evil.example' })).status).toBe(403);
  expect(at.asked).toEqual([]);
  expect(at.links.size).toBe(0);
  // The page of this door is no page of the other one, whose door takes the word of this one.
  expect(await knock(at.url, { secret, origin: new URL(at.near.url.replace('ws:', 'http:')).origin })).toBe('open');
  // The far machine does not serve `gone` now. Its door does not ask where it is, and a caller tries again.
  expect(await knock(at.url.replace('there', 'gone'), { secret })).toBe('HTTP 503');
  expect((await ask(at.url.replace('there', 'gone'))).status).toBe(503);
  expect(new Set(at.asked)).toEqual(new Set(['near there', 'near gone']));
});

test('a machine that cannot be reached is 503, with a remedy and nothing of this machine', async () => {
  const at = await twoMachines();
  const url = at.url.replace('there', 'broken');
  const { status, body } = await ask(url);
  expect([status, JSON.parse(body)]).toEqual([503, { code: 'unavailable', message: expect.stringMatching(/cannot be reached now: try again/) }]); // biome-ignore format: one line
  expect(await knock(url, { secret: 'hob1_any' })).toBe('HTTP 503');
  const { text: said } = await shout(at.near.url, headOf(at, '/broken', upgrading));
  expect(said).toMatch(/cannot be reached now: try again/);
  expect(body + said).not.toMatch(/secret|path of/);
  const error: CapError = await connect(url, { secret: 'hob1_any', patienceMs: 0 }).catch((failed) => failed);
  expect(error.code).toBe('unavailable');
  expect(at.faults).toEqual([]);
});

test('a machine that is lost while it answers ends the connections that it served, and no other', async () => {
  const [begun, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const at = await twoMachines({
    // Says one part, and nothing more.
    '/mcp': async () => new Response(new ReadableStream({ start: (out) => out.enqueue(new TextEncoder().encode('a')) })), // biome-ignore format: one line
    '/out': {
      know: async () => 'x',
      answer: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    },
  });
  const [away, own] = [await enter(at.url, at.there.session.secret), await enter(at.here.url, at.here.session.secret)];
  const authorization = `Bearer ${at.there.session.secret}`;
  const streams = new Promise<string>((resolve) => {
    request(`${at.url.replace('ws:', 'http:')}/mcp`, { headers: { authorization } }, (response) => {
      response.on('data', () => begun.resolve());
      response.on('error', () => resolve('cut')).on('end', () => resolve('whole'));
    }).end();
  });
  const waits = ask(`${at.url}/out`, {}, '{}');
  await Promise.all([begun.promise, asked.promise]);
  const ringing = E(away.bell).ring().catch(({ code }: CapError) => code); // biome-ignore format: one line
  for (const link of at.links) link.resetAndDestroy();
  expect(['disconnected', 'there ding']).toContain(await ringing);
  expect((await away.closed).code).toBe(1006);
  expect(await streams).toBe('cut');
  // It may have done what was asked, so nobody is told to try again.
  const { status, body } = await waits;
  expect([status, JSON.parse(body).code]).toEqual([502, 'unknown-outcome']);
  expect(await E(own.bell).ring()).toBe('here ding');
  expect(await E((await enter(at.url, at.there.session.secret)).bell).ring()).toBe('there ding');
});

test('each end of a relay ends the other one, in good order', async () => {
  const at = await twoMachines();
  const one = await enter(at.url, at.there.session.secret);
  one.close();
  await one.closed;
  await until(() => at.links.size === 0 && at.there.host.connections().length === 0);
  // The reason of the far host arrives.
  const two = await enter(at.url, at.there.session.secret);
  await at.there.session.end();
  expect(await two.closed).toMatchObject({ code: 4403 });
  await until(() => at.links.size === 0);
  // A caller that goes without a word.
  const bare = dial(at);
  bare.write(headOf(at, '/there/object/x', { Authorization: 'Bearer no', 'Content-Length': '5' }));
  await until(() => at.asked.length === 3);
  bare.destroy();
  await until(() => at.links.size === 0);
});

test('the end of the near door ends what it relays', async () => {
  const at = await twoMachines();
  const away = await enter(at.url, at.there.session.secret);
  await at.near.close();
  expect((await away.closed).code).toBe(1006);
  await until(() => at.there.host.connections().length === 0 && at.links.size === 0);
});

test('a caller that does not read holds back the host, and not the memory of the door between', async () => {
  const chunk = new Uint8Array(1 << 16);
  let given = 0;
  const at = await twoMachines({
    '/mcp': async () => new Response(new ReadableStream({
      pull(out) {
        given += chunk.length;
        out.enqueue(chunk);
      },
    })),
  }); // biome-ignore format: one line
  const reader = dial(at);
  reader.write(headOf(at, '/there/mcp', { Authorization: `Bearer ${at.there.session.secret}` }));
  await new Promise((resolve) => reader.once('readable', resolve));
  let before = -1;
  while (given !== before) {
    before = given;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  // The buffers of the kernel for two connections, and of the streams.
  expect(given).toBeLessThan(64 << 20);
  reader.resume();
  await until(() => given > before + (8 << 20));
});

test('a body over the limit is refused by the host that serves it, and the door goes on', async () => {
  const at = await twoMachines({ '/mcp': async (given) => new Response(await given.text()) });
  const authorization = `Bearer ${at.there.session.secret}`;
  const large = await ask(`${at.url}/mcp`, { authorization }, 'x'.repeat(2 << 20));
  expect([large.status, JSON.parse(large.body).error.data]).toEqual([413, { code: 'limit' }]);
  const object = await at.there.session.publish('bell');
  const call = await ask(at.url + object, { authorization }, JSON.stringify({ method: 'ring', args: ['x'.repeat(300_000)] })).catch(() => undefined); // biome-ignore format: one line
  expect([400, undefined]).toContain(call?.status);
  // Chunks of no known length, and a body that never ends.
  const endless = dial(at).resume();
  const ended = new Promise((resolve) => endless.once('close', resolve));
  endless.write(headOf(at, '/there/mcp', { Authorization: authorization, 'Content-Length': '100' }).replace('GET', 'POST')); // biome-ignore format: one line
  const parts = dial(at);
  parts.write(`${headOf(at, '/there/mcp', { Authorization: authorization, 'Transfer-Encoding': 'chunked' }).replace('GET', 'POST')}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`); // biome-ignore format: one line
  let said = '';
  parts.on('data', (part) => {
    said += part;
  });
  await new Promise((resolve) => parts.once('close', resolve));
  expect(said).toMatch(/^HTTP\/1\.1 200 [\s\S]*abcde/);
  await ended;
  await until(() => at.links.size === 0);
});

test('150 sessions that enter at once by another door are all let in', async () => {
  const at = await twoMachines();
  const sessions = await Promise.all(
    Array.from({ length: 150 }, (_, n) => at.there.host.openSession({ name: `s${n}` })),
  );
  const entered = await Promise.all(sessions.map(({ secret }) => enter(at.url, secret)));
  expect(await Promise.all(entered.map(({ bootstrap }) => E(bootstrap).caps()))).toEqual(sessions.map(() => []));
});

test('one socket has one relay: a second request in it ends it', async () => {
  const at = await twoMachines({ '/out': { know: () => new Promise(() => {}), answer: async () => new Response() } });
  const greedy = dial(at).resume();
  const closed = new Promise((resolve) => greedy.once('close', resolve));
  const head = headOf(at, '/there/out', {});
  greedy.write(head);
  await until(() => at.links.size === 1);
  greedy.write(head.repeat(50));
  await closed;
  await until(() => at.links.size === 0);
});

test('strangers who flood a host of another machine hold few relays, and keep no session out', async () => {
  // They are never known, and never refused.
  const at = await twoMachines({ '/out': { know: () => new Promise(() => {}), answer: async () => new Response() } });
  const head = headOf(at, '/there/out', {});
  const strangers = Array.from({ length: 600 }, () => dial(at));
  for (const stranger of strangers) stranger.write(head);
  await until(() => strangers.filter((each) => each.closed).length >= 88);
  const away = await enter(at.url, at.there.session.secret);
  expect(await E(away.bell).ring()).toBe('there ding');
  expect(await E((await enter(at.here.url, at.here.session.secret)).bell).ring()).toBe('here ding');
  // A session that is known is no stranger: the next strangers do not close it.
  const more = Array.from({ length: 600 }, () => dial(at));
  for (const stranger of more) stranger.write(head);
  await until(() => [...strangers, ...more].filter((each) => each.closed).length >= 688);
  expect(await E(away.bell).ring()).toBe('there ding');
  await until(() => at.links.size <= 520);
});

test('a request over HTTP whose caller is known is no stranger at the door between', async () => {
  let answer = (): void => {};
  const at = await twoMachines({
    '/mcp': () => new Promise((done) => { answer = () => done(new Response('late')); }), // biome-ignore format: one line
    '/out': { know: () => new Promise(() => {}), answer: async () => new Response() },
  });
  const waits = ask(`${at.url}/mcp`, { authorization: `Bearer ${at.there.session.secret}` });
  await until(() => at.links.size === 1);
  const strangers = Array.from({ length: 620 }, () => dial(at));
  for (const stranger of strangers) stranger.write(headOf(at, '/there/out', {}));
  await until(() => strangers.filter((each) => each.closed).length >= 100);
  answer();
  expect(await waits).toEqual({ status: 200, body: 'late' });
});

test('frames that come with the request for a WebSocket arrive, and pings go both ways', async () => {
  const at = await twoMachines();
  const socket = new WebSocket(at.url, ['hob.1'], { headers: { authorization: `Bearer ${at.there.session.secret}` } });
  await new Promise((resolve) => socket.once('open', resolve));
  const pong = new Promise<string>((resolve) => socket.once('pong', (data) => resolve(String(data))));
  socket.ping('word');
  expect(await pong).toBe('word');
  socket.terminate();
  // A whole frame in the packet of the request: an unmasked one is a violation, and the far host says so.
  const early = dial(at);
  let said = Buffer.alloc(0);
  early.on('data', (part: Buffer) => {
    said = Buffer.concat([said, part]);
  });
  const head = headOf(at, '/there', { ...upgrading, Authorization: `Bearer ${at.there.session.secret}` });
  early.write(Buffer.concat([Buffer.from(head), Buffer.from([0x89, 0x80, 1, 2, 3, 4])]));
  await until(() => said.indexOf(Buffer.from([0x8a, 0x00])) > 0);
  expect(said.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
});

test('a door with TLS relays, and serves what another door with TLS has relayed', async () => {
  const [near, far] = [certificate(), certificate()];
  const place = { host: '127.0.0.1', names: ['localhost'] };
  const at = await twoMachines({}, {}, { ...place, tls: near }, { ...place, tls: far });
  const entered = await enter(at.url, at.there.session.secret, near.cert);
  expect(await E(entered.bell).ring()).toBe('there ding');
  expect(at.url).toMatch(/^wss:\/\/localhost:\d+\/there$/);
  const silent = at.links.size;
  entered.close();
  await entered.closed;
  await until(() => at.links.size < silent);
});

test('a stream of another door that says nothing, or never ends its request, is closed in time', async () => {
  const at = await twoMachines();
  const pairs = [duplexPair(), duplexPair()] as const;
  const closed = pairs.map(([, far]) => new Promise((resolve) => far.once('close', resolve)));
  for (const [, far] of pairs) at.far.take(far);
  pairs[1][0].write(headOf(at, '/there', { 'X-Slow': 'x' }).slice(0, -4));
  await Promise.all(closed);
});
