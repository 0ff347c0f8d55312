/** Webhooks, against a real receiver that is slow, hostile or away. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openWebhook, type Webhook, webhookKey, webhookUrl } from './webhook.ts';

const key = new Uint8Array(randomBytes(32));

interface Post {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly url: string;
}

/** A receiver that answers as told. */
async function receiver(
  answer: (response: ServerResponse, count: number) => void,
): Promise<{ readonly url: URL; readonly posts: Post[]; until(count: number): Promise<void> }> {
  const posts: Post[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      posts.push({ headers: request.headers, body, url: request.url ?? '' });
      answer(response, posts.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: webhookUrl(`http://127.0.0.1:${port}/hob?token=INTIMATE`),
    posts,
    async until(count) {
      while (posts.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}

function opened(
  url: URL,
  said: string[],
  over: { readonly retryMs?: readonly number[]; readonly attemptMs?: number } = {},
): Webhook {
  const webhook = openWebhook({ url, key, say: (line) => said.push(line), retryMs: [1, 1], ...over });
  onTestFinished(() => webhook.close());
  return webhook;
}

/** As `packages/cli/README.md` tells receivers to do it. */
function verify(secret: Uint8Array, { headers, body }: Post): boolean {
  const [id, time, sign] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name]),
  );
  const wanted = createHmac('sha256', secret).update(`${id}.${time}.${body}`).digest();
  const given = Buffer.from(sign?.replace(/^v1,/, '') ?? '', 'base64');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

test('a notice arrives once, signed over its id, its time and its body: a receiver sees any change', async () => {
  const to = await receiver((response) => response.end());
  opened(to.url, []).post({ type: 'request', request: 'R1' });
  await to.until(1);
  const [post] = to.posts as [Post];
  expect(JSON.parse(post.body)).toEqual({ type: 'request', request: 'R1' });
  expect(verify(key, post)).toBe(true);
  expect(verify(new Uint8Array(32), post)).toBe(false);
  expect(verify(key, { ...post, body: post.body.replace('R1', 'R2') })).toBe(false);
  for (const name of ['webhook-id', 'webhook-timestamp']) expect(verify(key, { ...post, headers: { ...post.headers, [name]: '1' } })).toBe(false); // biome-ignore format: one line
});

test('a try that fails is repeated with the same id, and no more often than told; the log has no more than the host', async () => {
  const said: string[] = [];
  const to = await receiver((response) => response.writeHead(500).end());
  opened(to.url, said).post({ n: 1 });
  await to.until(3);
  while (said.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(to.posts.length).toBe(3);
  expect(new Set(to.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(said).toEqual([
    expect.stringMatching(/fails \(HTTP 500\)/),
    expect.stringMatching(/not delivered to 127\.0\.0\.1:\d+: HTTP 500, after 3 tries$/),
  ]);
  expect(said.join()).not.toMatch(/INTIMATE|whsec|\/hob/);
});

test('a redirect is not followed: the place that it names gets nothing', async () => {
  const other = await receiver((response) => response.end());
  const to = await receiver((response) => response.writeHead(307, { location: other.url.href }).end());
  const said: string[] = [];
  opened(to.url, said).post({ n: 1 });
  await to.until(3);
  while (said.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  expect([other.posts.length, said.at(-1)]).toEqual([0, expect.stringMatching(/HTTP 307/)]);
});

test('a receiver that never answers holds nothing: posting and closing return at once, and what waits is bounded', async () => {
  const said: string[] = [];
  const to = await receiver(() => {});
  const webhook = opened(to.url, said, { attemptMs: 3_600_000 });
  for (let n = 0; n < 150; n += 1) webhook.post({ n });
  expect(said.filter((line) => /too many notices wait/.test(line)).length).toBe(50);
  await to.until(1);
  webhook.close();
  webhook.post({ n: 'late' });
  const { length } = said;
  const last = await receiver((response) => response.end());
  opened(last.url, []).post({});
  await last.until(1);
  expect([said.length, to.posts.some(({ body }) => body.includes('late'))]).toEqual([length, false]);
});

test('a try that takes too long is given up and repeated', async () => {
  const to = await receiver((response, count) => {
    if (count > 1) response.end();
  });
  opened(to.url, [], { attemptMs: 50 }).post({ n: 1 });
  await to.until(2);
});

test('the URL goes by https or stays on this machine, without a user name; a weak key is refused', () => {
  for (const good of ['https://hooks.example.org/x', 'http://127.0.0.1:8080/', 'http://[::1]/', 'http://localhost:1/x'])
    expect(webhookUrl(good).href).toBe(good);
  for (const bad of [
    'http://example.org/',
    'http://10.0.0.1/',
    'http://127.0.0.1.example.org/',
    'ftp://localhost/',
    'file:///etc/passwd',
    'https://user:pass@example.org/',
    'x',
    'http://localhost.example.org/',
  ])
    expect(() => webhookUrl(bad), bad).toThrow(/--webhook takes/);
  expect(webhookUrl('http://2130706433/').hostname).toBe('127.0.0.1');
  expect(webhookKey(`whsec_${Buffer.from(key).toString('base64')}\n`)).toEqual(key);
  for (const bad of ['', 'secret', 'whsec_', 'whsec_YWJj', `whsec_${'A'.repeat(200)}`]) expect(() => webhookKey(bad), bad).toThrow(/whsec_ and 24 to 64 bytes/); // biome-ignore format: one line
});
