/** A secret that the host puts in. The attacker is the session, with a server that echoes. */
import zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { bodyOf, codeOf, leadingTo, web } from '../../test/web.ts';
import { BLANK } from '../secret/blank.ts';
import { makeSecret } from '../secret/secret.ts';
import { openHttpCap } from './cap.ts';
import type { HttpCap, HttpOptions } from './http-cap.ts';

const VALUE = 'tok/en+With"9 chars';
const loopback = leadingTo('127.0.0.1');
const capAt = (port: number, inject: HttpOptions['inject'], more: Partial<HttpOptions> = {}): HttpCap & AsyncDisposable =>
  openHttpCap({ origin: `http://api.example:${port}`, addresses: ['127.0.0.1'], ...(inject && { inject }), ...more }, loopback); // biome-ignore format: one line

test('a secret is sent, and is blanked from an answer that echoes it in any listed way, in parts and compressed', async () => {
  const got: string[] = [];
  const ways: Record<string, (value: string) => Buffer> = {
    raw: (value) => Buffer.from(value),
    json: (value) => Buffer.from(JSON.stringify({ value })),
    url: (value) => Buffer.from(encodeURIComponent(value)),
    base64: (value) => Buffer.from(Buffer.from(`x${value}y`).toString('base64')),
    hex: (value) => Buffer.from(Buffer.from(value).toString('hex')),
    utf16: (value) => Buffer.from(value, 'utf16le'),
    gzip: (value) => zlib.gzipSync(value),
  };
  await using at = await web((request, response) => {
    const value = (request.headers.authorization ?? '').replace('Bearer ', '');
    got.push(value);
    const way = (request.url ?? '/').slice(1);
    const bytes = (ways[way] as (value: string) => Buffer)(value);
    if (way === 'gzip') response.setHeader('content-encoding', 'gzip');
    response.setHeader('x-echo', `a ${value} b`);
    response.setHeader('set-cookie', 'session=abc');
    // One byte at a time.
    for (const byte of bytes) response.write(Buffer.from([byte]));
    response.end();
  });
  const secret = makeSecret(() => VALUE);
  await using cap = capAt(at.port, { secret, header: 'authorization' });
  for (const way of Object.keys(ways)) {
    const { body, headers } = await cap.get(`/${way}`);
    const text = await bodyOf(body);
    expect([way, text.includes(BLANK), /tok|746f6b|dG9r|t\0o\0k/.test(text)]).toEqual([way, true, false]);
    expect([headers['x-echo'], headers['set-cookie']]).toEqual([`a ${BLANK} b`, undefined]);
  }
  expect(new Set(got)).toEqual(new Set([VALUE]));
});

test('a server that names what was made by the secret names nothing', async () => {
  const secret = makeSecret(() => 'p4ssword-value');
  await using at = await web((request, response) => {
    response.writeHead(201, { location: request.url === '/plain' ? '/made/1' : '/made/p4ssword-value' }).end();
  });
  await using cap = capAt(at.port, { secret, header: 'authorization' }, { methods: ['POST'] });
  const made = async (path: string): Promise<unknown> => (await cap.fetchText(path, { method: 'POST' })).made;
  expect([await made('/plain'), await made('/secret')]).toEqual(['/made/1', undefined]);
});

test('after a rotation the new value is sent and both are blanked, without a new grant', async () => {
  let value = 'first-token-value';
  let before = '';
  await using at = await web((request, response) => {
    const now = request.headers['x-key'] as string;
    response.end(`${before} ${now}`);
    before = now;
  });
  await using cap = capAt(at.port, { secret: makeSecret(() => value), header: 'X-Key', format: 'raw' });
  expect((await cap.getText('/')).text).toBe(` ${BLANK}`);
  value = 'second-token-value';
  expect((await cap.getText('/')).text).toBe(`${BLANK} ${BLANK}`);
  expect(before).toBe('second-token-value');
});

test('basic, and a parameter of the query that no holder and no redirect replaces', async () => {
  await using at = await web((request, response) => {
    if (request.url?.startsWith('/go')) return void response.writeHead(302, { location: '/end?key=forged&a=b' }).end();
    response.end(`${request.headers.authorization ?? ''} ${request.url}`);
  });
  const secret = makeSecret(() => 'p4ssword-value');
  await using basic = capAt(at.port, { secret, format: 'basic', user: 'bot' });
  expect((await basic.getText('/')).text).toMatch(/^Basic [A-Za-z0-9+/=]*⟦secret⟧[A-Za-z0-9+/=]* \/$/);
  await using query = capAt(at.port, { secret, query: 'key' });
  expect((await query.getText('/x?key=mine&%6bey=mine&q=1')).text).toBe(` /x?q=1&key=${BLANK}`);
  const { text, path } = await query.getText('/go');
  expect([text, path]).toEqual([` /end?a=b&key=${BLANK}`, '/end?key=forged&a=b']);
  expect(at.seen.at(-1)).toBe('GET /end?a=b&key=p4ssword-value');
});

test('a holder can neither set the header of the secret, nor ask for pieces of an answer', async () => {
  await using at = await web((_request, response) => response.end());
  const secret = makeSecret(() => VALUE);
  await using cap = capAt(at.port, { secret, header: 'x-key' });
  for (const name of ['x-key', 'X-Key', 'range', 'if-range', 'authorization'])
    expect([name, await codeOf(() => cap.get('/', { headers: { [name]: 'bytes=0-3' } }))]).toEqual([name, 'E_HEADER']);
  expect(await codeOf(() => capAt(at.port, { secret, header: 'x-key' }, { headers: ['x-key'] }))).toBe('E_HEADER');
  expect(at.seen).toEqual([]);
  await using plain = capAt(at.port, undefined);
  expect(await codeOf(() => plain.getText('/', { headers: { range: 'bytes=0-3' } }))).toBe('ok');
});

test('a secret that is missing, or that a header cannot carry, sends nothing; and none goes over plain http to a stranger', async () => {
  await using at = await web((_request, response) => response.end());
  let value: string | undefined;
  await using cap = capAt(at.port, { secret: makeSecret(() => value), header: 'x-key' });
  for (value of [undefined, 'short', 'line\r\nbreak: yes', 'smörgåsbord-x'])
    expect([value, await codeOf(() => cap.get('/'))]).toEqual([value, 'E_SECRET']);
  expect(at.seen).toEqual([]);
  const bare = { origin: 'http://api.example', inject: { secret: makeSecret(() => VALUE), header: 'x-key' } };
  expect(await codeOf(() => openHttpCap(bare, loopback))).toBe('invalid');
  expect(await codeOf(() => openHttpCap({ ...bare, inject: { secret: VALUE as never, header: 'x-key' } }, loopback))).toBe('invalid'); // biome-ignore format: one line
});

test('no error has the secret, an address or a path of the machine', async () => {
  const secret = makeSecret(() => VALUE);
  const errors: string[] = [];
  for (const resolved of [['127.0.0.1'], ['10.1.2.3'], []]) {
    await using cap = openHttpCap({ origin: 'http://api.example:1', addresses: ['127.0.0.1'], inject: { secret, header: 'x-key' } }, leadingTo(...resolved)); // biome-ignore format: one line
    for (const path of ['/', '/..', `/${'x'.repeat(9_000)}`])
      await cap.get(path).catch((error: Error) => errors.push(`${error.message} ${JSON.stringify(error)}`));
  }
  expect(errors).toHaveLength(9);
  for (const text of errors) expect(text).not.toMatch(/tok\/en|127\.0|10\.1|\/proc|node:|ECONN/);
});
