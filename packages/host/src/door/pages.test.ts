/** Pages of a door, and the one-time codes with which they enter. */
import { createServer, request } from 'node:http';
import { connect, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { expect, onTestFinished, test } from 'vitest';
import { scene } from '../../test/asking.ts';
import { code, lines, type TestHost, testHost } from '../../test/test-host.ts';
import type { Granter } from '../index.ts';

const text = (body: string, type = 'text/html; charset=utf-8') => ({ type, body: new TextEncoder().encode(body) });

async function withPages(): Promise<TestHost & { readonly at: string }> {
  const own = await testHost();
  onTestFinished(() => own.close());
  const { url } = await own.host.serve({}, {}, { '/console': text('<p>page'), '/console/page.js': text('1', 'text/javascript') }); // biome-ignore format: one line
  return { ...own, at: url.replace('ws://127.0.0.1', 'http://localhost') };
}

/** One request, with any headers. */
function ask(
  url: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }> {
  // biome-ignore format: one line
  return new Promise((done, failed) => {
    request(url, { method, headers: { ...headers, connection: 'close' } }, async (response) => {
      let body = '';
      for await (const part of response) body += part;
      done({ status: response.statusCode ?? 0, headers: response.headers, body });
    })
      .on('error', failed)
      .end();
  });
}

test('a page is served as it is, and its browser may load and frame nothing of another origin', async () => {
  const { at } = await withPages();
  const page = await ask(`${at}/console`);
  expect(page).toMatchObject({ status: 200, body: '<p>page' });
  const policy = String(page.headers['content-security-policy']);
  for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"]) // biome-ignore format: one line
    expect(policy).toContain(rule);
  expect(policy).not.toContain('unsafe');
  expect(page.headers).toMatchObject({ 'x-frame-options': 'DENY', 'cross-origin-resource-policy': 'same-origin', 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }); // biome-ignore format: one line
  expect(await ask(`${at}/console`, {}, 'HEAD')).toMatchObject({ status: 200, body: '' });
});

test('a page is not served to another name, to a page of another origin, or to a changed path', async () => {
  const { at } = await withPages();
  expect((await ask(`${at}/console`, { host: 'evil.example' })).status).toBe(403);
  expect((await ask(`${at}/console/page.js`, { origin: 'http://evil.example' })).status).toBe(403);
  expect((await ask(`${at}/console`, {}, 'POST')).status).toBe(405);
  for (const path of ['/console/', '/Console', '/console%2fpage.js', '/console?x', '/console/page.js/'])
    expect((await ask(at + path)).status).toBe(426);
});

test('a host with pages is the only program at both addresses of localhost', async () => {
  const { at } = await withPages();
  const port = Number(new URL(at).port);
  for (const host of ['127.0.0.1', '[::1]'])
    expect(await ask(`http://${host}:${port}/console`, { host: `localhost:${port}` })).toMatchObject({ status: 200 });
  // A program that has the other address first is not overlooked.
  const own = await testHost();
  onTestFinished(() => own.close());
  const other = createServer();
  await new Promise<void>((done) => void other.listen({ host: '::1', port: 0 }, done));
  onTestFinished(() => void other.close());
  const taken = (other.address() as { port: number }).port;
  expect(await code(own.host.serve({ port: taken }, {}, { '/console': text('') }))).toBe('unavailable');
  await (await own.host.serve({ port: taken })).close();
});

const entering = (url: string, secret: string): Promise<Connected<Granter>> => connect<Granter>(url, { secret });

test('a code enters once as its granter, and the ledger says that the page did it', async () => {
  const { host, url, session } = await withPages();
  await host.offer('notes', { read: async () => 'text' });
  const { code: entry } = await host.entryCode('owner');
  const page = await entering(url, entry);
  onTestFinished(() => page.close());
  await E(page.bootstrap).grant(session.id, 'notes', 'notes', { for: 60_000 });
  expect(await lines(host, 'grant')).toMatchObject([{ by: 'owner', surface: 'console' }]);
  expect(await code(entering(url, entry))).not.toBe('ok');
});

test('a code ends by time, with a newer one of many, and with the secret of its granter; only known granters have one', async () => {
  const { host, url } = await withPages();
  expect(await code(host.entryCode('nobody'))).toBe('no-such-object');
  for (const given of [{ for: 0 }, { for: 600_001 }, { for: Number.NaN }, { until: 5 }])
    expect(await code(host.entryCode('owner', given as never))).toBe('invalid');
  const early = (await host.entryCode('owner')).code;
  for (let n = 0; n < 8; n += 1) await host.entryCode('owner');
  expect(await code(entering(url, early))).not.toBe('ok');
  const earlier = (await host.entryCode('owner')).code;
  await host.renewGranter('owner');
  expect(await code(entering(url, earlier))).not.toBe('ok');
  const short = (await host.entryCode('owner', { for: 1 })).code;
  await new Promise((done) => setTimeout(done, 20));
  expect(await code(entering(url, short))).not.toBe('ok');
});

test('a code opens no object and no session over HTTP, and is used up by the attempt', async () => {
  const { host, at, url } = await withPages();
  const { code: entry } = await host.entryCode('owner');
  expect((await ask(`${at}/object/x`, { authorization: `Bearer ${entry}` }, 'POST')).status).toBe(404);
  expect(await code(entering(url, entry))).not.toBe('ok');
});

test('a granter learns of changes of its own requests, and of no other granter’s', async () => {
  const at = await scene();
  const { granter: other } = await at.host.addGranter('other');
  const before = (await E(at.owner).changed()) as number;
  const others = (await E(other as Far<Granter>).changed()) as number;
  const next = E(at.owner).changed(before) as Promise<number>;
  let told = false;
  const foreign = (E(other as Far<Granter>).changed(others) as Promise<number>).then(() => {
    told = true;
  });
  const asking = at.request({ terms: { for: 60_000 } });
  const filed = await next;
  expect(filed).not.toBe(before);
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: { for: 60_000 } });
  await asking;
  // A change between two questions is told at once.
  expect(await E(at.owner).changed(filed)).not.toBe(filed);
  expect(told).toBe(false);
  expect(await code(E(at.owner).changed('x' as never) as Promise<unknown>)).toBe('invalid');
  foreign.catch(() => {});
});
