/** A chat by signed messages. The attacker posts what it likes, and what it has seen. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deep } from '../../../test/depth.ts';
import { type Scene, scene } from '../test/scene.ts';
import { isSigned, signedHeaders } from './drivers/signed.ts';
import { type WebhookFace, webhookFace, webhookPort } from './index.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');

interface World {
  readonly at: Scene;
  readonly key: Uint8Array;
  readonly face: WebhookFace;
  readonly clock: { now: number };
  /** The bodies that were posted, each with its headers checked. */
  readonly posted: Readonly<Record<string, unknown>>[];
  post(body: object | string, more?: { readonly key?: Uint8Array; readonly id?: string; readonly at?: number; readonly headers?: object }): Promise<unknown>; // biome-ignore format: one line
  sees(count: number): Promise<void>;
}

async function world(): Promise<World> {
  const at = await scene();
  const key = randomBytes(32);
  const clock = { now: NOW };
  const posted: Readonly<Record<string, unknown>>[] = [];
  let ids = 0;
  const port = webhookPort('ops', {
    key,
    newId: () => `out-${++ids}`,
    now: () => clock.now,
    async post(headers, body) {
      expect(isSigned(key, new Headers(headers), body)).toBe(true);
      posted.push(JSON.parse(body));
    },
  });
  const desk = await at.desk(port, 'ann');
  const face = webhookFace({ chats: new Map([['ops', { key, desk }]]), rows: at.rows, now: () => clock.now });
  return {
    ...{ at, key, face, clock, posted },
    async post(body, { key: by = key, id = `in-${++ids}`, at: signedAt = clock.now, headers = {} } = {}) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const all = new Headers({ ...signedHeaders(by, id, signedAt, text), ...headers });
      const caller = await face.know(all);
      if (caller === undefined) return 'unknown';
      const response = await face.answer(new Request('http://localhost/chat', { method: 'POST', headers: all, body: text }), caller); // biome-ignore format: one line
      return response.status === 200 ? ((await response.json()) as { readonly said: string }).said : response.status;
    },
    async sees(count) {
      while (posted.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}

test('a request is posted, signed; a signed answer settles it, and that is posted too', async () => {
  const { at, posted, post, sees } = await world();
  const asked = at.ask({ uses: 5 });
  await sees(1);
  const [shown] = posted;
  expect(shown).toMatchObject({ type: 'request', chat: 'ops', text: expect.stringMatching(/^R1: /), choices: [{ choice: 'once' }, { choice: 'few' }, { choice: 'refuse' }] }); // biome-ignore format: one line
  expect(await post({ chat: 'ops', request: shown?.['request'], sender: 'ann', choice: 'once' })).toBe('R1: approved once, here.'); // biome-ignore format: one line
  expect(await asked).toBe('ok');
  await sees(2);
  expect(posted[1]).toMatchObject({ type: 'settled', request: shown?.['request'], text: expect.stringMatching(/approved once, here$/) }); // biome-ignore format: one line
});

test('an answer is taken once, in its time, by its key, and names its request, its sender and an offered choice', async () => {
  const { at, key, clock, posted, post, sees } = await world();
  const asked = at.ask({ uses: 5 });
  await sees(1);
  const request = posted[0]?.['request'] as string;
  const yes = { chat: 'ops', request, sender: 'ann', choice: 'once' };
  const late = 301_000;
  expect(await post(yes, { key: randomBytes(32) })).toBe(401);
  expect(await post(yes, { at: NOW - late })).toBe('unknown');
  expect(await post(yes, { at: NOW + late })).toBe('unknown');
  expect(await post(yes, { headers: { 'webhook-timestamp': String(NOW / 1000 - 60) } })).toBe(401);
  expect(await post(yes, { headers: { 'webhook-id': 'another' } })).toBe(401);
  expect(await post(yes, { headers: { 'webhook-signature': '' } })).toBe(401);
  expect(await post({ ...yes, chat: 'other' })).toBe(401);
  for (const body of ['', '{', 'null', '[]', JSON.stringify({ ...yes, request: undefined }), JSON.stringify({ ...yes, choice: 7 })]) // biome-ignore format: one line
    expect(await post(body)).toBe(401);
  expect(await post({ ...yes, sender: 'eve' })).toBe('You are not the one who answers this.');
  expect(await post({ ...yes, request: 'oldest' })).toBe('It was answered already, or has ended.');
  expect(await post({ ...yes, choice: 'permanent' })).toBe('That is no answer to it.');
  const no = { ...yes, sender: 'eve' };
  expect(await post(no, { id: 'once' })).toMatch(/^You are not/);
  expect(await post(no, { id: 'once' })).toBe(401);
  clock.now += 290_000;
  expect(await post(no, { id: 'once', at: NOW })).toBe(401);
  // The store has a row for each message that was taken, so a kill makes none of them new.
  expect(await (await import('@hob/vat')).E(at.rows).takenBefore('ops once', 0, clock.now)).toBe(true);
  expect(await post({ ...yes, choice: 'refuse' })).toBe('R1: refused, here.');
  expect(await asked).toBe('denied');
  expect(key.length).toBe(32);
});

test('whatever is changed in a signed message, it is none', () => {
  const key = randomBytes(32);
  const body = JSON.stringify({ chat: 'ops', request: 'q001-abcd', sender: 'ann', choice: 'once' });
  const headers = signedHeaders(key, 'id', NOW, body);
  expect(isSigned(key, new Headers(headers), body)).toBe(true);
  expect(isSigned(key, new Headers({ ...headers, 'webhook-signature': `v1,AAAA v2,x ${headers['webhook-signature']}` }), body)).toBe(true); // biome-ignore format: one line
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 127 }), fc.constantFrom('body', 'webhook-id', 'webhook-timestamp'), (where, by, part) => {
      const text = part === 'body' ? body : (headers[part] ?? '');
      const at = where % text.length;
      const other = text.slice(0, at) + String.fromCharCode(33 + ((text.charCodeAt(at) - 33 + by) % 94)) + text.slice(at + 1);
      if (other === text) return;
      const changed = part === 'body' ? headers : { ...headers, [part]: other };
      expect(isSigned(key, new Headers(changed), part === 'body' ? other : body)).toBe(false);
    }),
    { numRuns: deep ? 20_000 : 500 },
  ); // biome-ignore format: a property
});
