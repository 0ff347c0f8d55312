/** The http cap against real servers on loopback: what it sends, what it gives, and its limits. */
import { createHash } from 'node:crypto';
import { connect, createServer } from 'node:net';
import zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { bodyOf, codeOf, leadingTo, type Web, web } from '../../test/web.ts';
import { openHttpCap } from './cap.ts';
import type { HttpCap, HttpOptions } from './http-cap.ts';

const loopback = leadingTo('127.0.0.1');
const capAt = (at: { readonly port: number }, options: Partial<HttpOptions> = {}): HttpCap & AsyncDisposable =>
  openHttpCap({ origin: `http://api.example:${at.port}`, addresses: ['127.0.0.1'], ...options }, loopback);
/** Replies with the request that came in. */
const echo = (): Promise<Web> =>
  web((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method, url, headers } = request;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(parts).toString() }));
    });
  });
const asked = async (cap: HttpCap, ...args: Parameters<HttpCap['fetch']>) =>
  JSON.parse((await cap.fetchText(...args)).text) as { method: string; url: string; headers: Record<string, string>; body: string }; // biome-ignore format: one line

test('a request has the granted host, and what the holder gave', async () => {
  await using at = await echo();
  await using cap = capAt(at, { prefix: '/v1', methods: ['GET', 'POST'], headers: ['X-Api-Version'], set: { 'user-agent': 'hob' } }); // biome-ignore format: one line
  const { method, url, headers, body } = await asked(cap, 'items?a=1', {
    method: 'POST',
    headers: { 'x-api-version': '2', 'Content-Type': 'text/plain' },
    body: 'grüße',
  });
  expect([method, url, body]).toEqual(['POST', '/v1/items?a=1', 'grüße']);
  expect(headers).toMatchObject({ host: `api.example:${at.port}`, 'x-api-version': '2', 'content-type': 'text/plain', 'user-agent': 'hob', 'content-length': '7' }); // biome-ignore format: one line
  const answer = await cap.get('/v1/');
  expect([answer.status, answer.headers['content-type'], answer.path]).toEqual([200, 'application/json', '/v1/']);
  expect(JSON.parse(await bodyOf(answer.body))).toMatchObject({ method: 'GET', url: '/v1/' });
  expect(await cap.describe()).toMatchObject({ origin: `http://api.example:${at.port}`, prefix: '/v1', methods: ['GET', 'POST'] }); // biome-ignore format: one line
});

test('an attenuated cap reaches less, and cannot be widened', async () => {
  await using at = await echo();
  await using cap = capAt(at, { prefix: '/repos', methods: ['GET', 'POST'] });
  const app = await cap.subpath('acme/app');
  const reader = await app.readOnly();
  expect((await asked(app, 'x', { method: 'POST' })).url).toBe('/repos/acme/app/x');
  expect(await codeOf(() => app.get('/repos/acme/other'))).toBe('E_PATH');
  expect(await codeOf(() => app.subpath('/repos/acme'))).toBe('E_PATH');
  expect(await codeOf(() => app.subpath('../other'))).toBe('E_PATH');
  expect(await codeOf(() => app.subpath('x?y'))).toBe('E_PATH');
  expect(await codeOf(() => reader.fetch('x', { method: 'POST' }))).toBe('E_METHOD');
  expect((await reader.getText('x')).status).toBe(200);
  const again = await (await reader.subpath('deeper')).readOnly();
  expect(await again.describe()).toMatchObject({ prefix: '/repos/acme/app/deeper', methods: ['GET'] });
  expect(at.seen).toEqual(['POST /repos/acme/app/x', 'GET /repos/acme/app/x']);
});

test('methods and headers that decide about the request are refused, and nothing is sent', async () => {
  await using at = await echo();
  await using cap = capAt(at, { methods: ['GET', 'POST'] });
  for (const method of ['DELETE', 'get', 'CONNECT', 'TRACE', 'PRI', 'GET ', 'POST\r\nX: y', '', 7, null])
    expect([method, await codeOf(() => cap.fetch('/', { method: method as string }))]).toEqual([method, 'E_METHOD']);
  const names = [
    ...[
      'host',
      'Host',
      'content-length',
      'transfer-encoding',
      'connection',
      'upgrade',
      'cookie',
      'authorization',
      'te',
    ],
    ...[
      'x-http-method-override',
      'x-original-url',
      'x-rewrite-url',
      'x-forwarded-for',
      'forwarded',
      'expect',
      'x-other',
    ],
    ...['', 'a b', 'a:b', 'a\r\nx', 'proxy-authorization', 'sec-fetch-mode', 'accept-encoding'],
  ];
  for (const name of names)
    expect([name, await codeOf(() => cap.get('/', { headers: { [name]: 'x' } }))]).toEqual([name, 'E_HEADER']);
  for (const value of ['a\r\nx: y', 'a\nb', 'a\0b', 'ü', '\u010a', '嘊嘍x: y', 'a\x7f'])
    expect([value, await codeOf(() => cap.get('/', { headers: { accept: value } }))]).toEqual([value, 'E_HEADER']);
  expect(await codeOf(() => cap.get('/', { headers: { accept: 'a', Accept: 'b' } }))).toBe('E_HEADER');
  expect(await codeOf(() => cap.get('/', { headers: { accept: 'a'.repeat(20_000) } }))).toBe('limit');
  expect(await codeOf(() => cap.get('/', { method: 'POST' } as object))).toBe('invalid');
  expect(await codeOf(() => cap.fetch('/', { body: 'x' }))).toBe('invalid');
  expect(await codeOf(() => cap.fetch('/', { method: 'POST', body: 'x'.repeat(2 ** 20 + 1) }))).toBe('limit');
  expect(at.seen).toEqual([]);
  for (const name of ['host', 'x-original-url', 'cookie', 'x-http-method-override', 'transfer-encoding', 'a b']) {
    expect(await codeOf(() => capAt(at, { headers: [name] }))).toBe('E_HEADER');
    expect(await codeOf(() => capAt(at, { set: { [name]: 'x' } }))).toBe('E_HEADER');
  }
  expect(await codeOf(() => capAt(at, { set: { 'x-a': 'b\r\nc: d' } }))).toBe('E_HEADER');
});

test('redirects inside the grant are followed, with the method that HTTP says', async () => {
  await using at = await web((request, response) => {
    const to = /^\/v1\/to\/(\d+)/.exec(request.url ?? '')?.[1];
    if (to === undefined) return void response.end(`${request.method} ${request.headers['content-length'] ?? 'none'}`);
    response.writeHead(Number(to), { location: '../done?x=1' }).end('x'.repeat(100_000));
  });
  await using cap = capAt(at, { prefix: '/v1', methods: ['GET', 'POST', 'PUT'] });
  const post = { method: 'POST', body: 'abc' };
  for (const [status, method, said] of [
    [301, 'POST', 'GET none'],
    [302, 'POST', 'GET none'],
    [303, 'PUT', 'GET none'],
    [307, 'POST', 'POST 3'],
    [308, 'PUT', 'PUT 3'],
  ] as const) {
    // biome-ignore format: one line
    const { text, path } = await cap.fetchText(`to/${status}`, { ...post, method });
    expect([status, text, path]).toEqual([status, said, '/v1/done?x=1']);
  }
  await using writer = capAt(at, { prefix: '/v1', methods: ['POST'] });
  expect(await codeOf(() => writer.fetch('to/303', post))).toBe('E_REDIRECT');
});

test('redirects end', async () => {
  await using at = await web((request, response) => response.writeHead(302, { location: `${request.url}x` }).end());
  await using cap = capAt(at, { limits: { redirects: 3 } });
  expect(await codeOf(() => cap.get('/'))).toBe('E_REDIRECT');
  expect(at.seen).toHaveLength(4);
});

test('a compressed answer is decoded, and a bomb ends at the limit', async () => {
  const encoders = {
    gzip: zlib.gzipSync,
    deflate: zlib.deflateSync,
    br: zlib.brotliCompressSync,
    zstd: zlib.zstdCompressSync,
  };
  const big = Buffer.alloc(32 * 1024 * 1024, 'a');
  await using at = await web((request, response) => {
    const [, name = '', what] = (request.url ?? '').split('/');
    const encode = encoders[name as keyof typeof encoders];
    response.setHeader('content-encoding', name);
    if (what === 'broken') return void response.end('no such thing');
    response.end(encode === undefined ? 'x' : encode(what === 'bomb' ? big : Buffer.from('plain text')));
  });
  await using cap = capAt(at, { limits: { answerBytes: 1024 * 1024 } });
  for (const name of Object.keys(encoders)) {
    const { text, headers } = await cap.getText(`/${name}/small`);
    expect([name, text, headers['content-encoding']]).toEqual([name, 'plain text', undefined]);
    let bytes = 0;
    const { body } = await cap.get(`/${name}/bomb`);
    const end = await codeOf(async () => {
      for (let part = await body.next(); part !== undefined; part = await body.next()) bytes += part.length;
    });
    expect([name, end, bytes <= 1024 * 1024]).toEqual([name, 'limit', true]);
    expect([name, await codeOf(() => cap.getText(`/${name}/broken`))]).toEqual([name, 'E_ENCODING']);
  }
  expect(await codeOf(() => cap.get('/compress/x'))).toBe('E_ENCODING');
  expect(await codeOf(() => cap.get('/gzip, gzip/x'))).toBe('E_ENCODING');
});

test('an answer is a stream that its reader paces', async () => {
  let sent = 0;
  await using at = await web((_request, response) => {
    const more = (): void => {
      while (sent < 512) {
        sent += 1;
        if (!response.write(Buffer.alloc(65_536, sent % 256))) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });
  await using cap = capAt(at);
  const { body } = await cap.get('/');
  await body.next(10);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(sent).toBeLessThan(400);
  const hash = createHash('sha256');
  let bytes = 10;
  for (let part = await body.next(100_000); part !== undefined; part = await body.next(100_000)) {
    expect(part.length).toBeLessThanOrEqual(100_000);
    hash.update(part);
    bytes += part.length;
  }
  expect(bytes).toBe(512 * 65_536);
  expect(await body.next()).toBe(undefined);
});

test('text is cut at its limit, and read in the encoding that the server names', async () => {
  await using at = await web((request, response) => {
    if (request.url === '/long') return void response.end('a'.repeat(500_000));
    response.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from('gr\xfc\xdfe', 'latin1'));
  });
  await using cap = capAt(at);
  const long = await cap.getText('/long');
  expect([long.text.length, long.truncated]).toEqual([448 * 1024, true]);
  expect(await cap.getText('/short')).toMatchObject({ text: 'grüße', truncated: false });
});

test('a holder has so many answers open, and each that ends makes room', async () => {
  await using at = await web((_request, response) => void response.write('begun'));
  await using cap = capAt(at, { limits: { concurrent: 2 } });
  const [first] = [await cap.get('/1'), await cap.get('/2')];
  expect(await codeOf(() => cap.get('/3'))).toBe('limit');
  await first?.body.return();
  expect((await cap.get('/4')).status).toBe(200);
});

test('a server that is slow, silent or speaks nonsense ends with a code, and a change may have happened', async () => {
  const nonsense = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      const text = data.toString();
      if (text.includes('/garbage')) socket.end('nonsense\r\n\r\n');
      else if (text.includes('/cut')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc');
      else if (text.includes('/headers')) socket.end(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}\r\n`);
      else if (text.includes('/two'))
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n');
      else if (text.includes('/close')) socket.end();
    });
  });
  await new Promise<void>((resolve) => nonsense.listen(0, '127.0.0.1', resolve));
  const { port } = nonsense.address() as { port: number };
  await using cap = capAt({ port }, { methods: ['GET', 'POST'], limits: { totalMs: 300, idleMs: 600_000 } });
  const post = { method: 'POST', body: 'x' };
  expect(await codeOf(() => cap.get('/garbage'))).toBe('E_PROTOCOL');
  expect(await codeOf(() => cap.getText('/two'))).toBe('E_PROTOCOL');
  expect(await codeOf(() => cap.get('/headers'))).toBe('E_PROTOCOL');
  expect(await codeOf(() => cap.get('/close'))).toBe('E_UNREACHABLE');
  expect(await codeOf(() => cap.getText('/cut'))).toBe('E_UNREACHABLE');
  expect(await codeOf(() => cap.get('/silent'))).toBe('E_TIMEOUT');
  for (const path of ['/garbage', '/close', '/silent', '/headers'])
    expect([path, await codeOf(() => cap.fetch(path, post))]).toEqual([path, 'unknown-outcome']);
  await new Promise((resolve) => nonsense.close(resolve));
  expect(await codeOf(() => cap.fetch('/', post))).toBe('E_UNREACHABLE');
});

test('a closed cap sends nothing, and its open answers end', async () => {
  await using at = await web((_request, response) => void response.write('begun'));
  const cap = capAt(at);
  const reader = await cap.readOnly();
  const { body } = await cap.get('/');
  await body.next();
  await cap[Symbol.asyncDispose]();
  expect(await codeOf(() => body.next())).toBe('unavailable');
  expect(await codeOf(() => cap.get('/'))).toBe('unavailable');
  expect(await codeOf(() => reader.get('/'))).toBe('unavailable');
  expect(at.seen).toHaveLength(1);
});

test('through a proxy the tunnel leads to the judged address, or to the name if the granter says so', async () => {
  const asks: string[] = [];
  await using at = await web((_request, response) => response.end('through'));
  const proxy = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      asks.push(data.toString().split('\r\n')[0] ?? '');
      const through = connect(at.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(through).pipe(socket);
      });
      through.on('error', () => socket.destroy());
      socket.on('close', () => through.destroy());
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
  {
    await using here = capAt(at, { proxy: { origin } });
    expect((await here.getText('/')).text).toBe('through');
    await using there = openHttpCap(
      { origin: `http://api.example:${at.port}`, proxy: { origin, names: 'proxy' } },
      leadingTo(),
    );
    expect((await there.getText('/')).text).toBe('through');
    await using refused = openHttpCap({ origin: `http://api.example:${at.port}`, proxy: { origin } }, loopback);
    expect(await codeOf(() => refused.get('/'))).toBe('E_ADDRESS');
  }
  expect(asks).toEqual([`CONNECT 127.0.0.1:${at.port} HTTP/1.1`, `CONNECT api.example:${at.port} HTTP/1.1`]);
  await new Promise((resolve) => proxy.close(resolve));
  await using gone = capAt(at, { proxy: { origin } });
  expect(await codeOf(() => gone.get('/'))).toBe('E_UNREACHABLE');
});
