/** Faces for callers from outside: what the door does before and after a face knows one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type HttpFaces, type OutsideFace, openHost } from '../index.ts';

interface Served {
  readonly at: string;
  readonly secret: string;
  readonly faults: readonly unknown[];
}

async function served(faces: HttpFaces): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'hob-face-'));
  const faults: unknown[] = [];
  const host = await openHost({ stateDir: folder, observe: ({ error }) => void faults.push(error) });
  onTestFinished(async () => {
    await host.close();
    rmSync(folder, { recursive: true });
  });
  await host.ensureGranter('alice');
  const { secret } = await host.openSession({ name: 's', granters: ['alice'] });
  const { url } = await host.serve({}, faces);
  return { at: url.replace('ws:', 'http:'), secret, faults };
}

/** Knows whoever says a name. */
const byName: OutsideFace['know'] = async (headers) => headers.get('authorization')?.replace('Name ', '') || undefined;

test('a stranger is refused before any of its body is read, and a caller that is known is answered by its name', async () => {
  const seen: string[] = [];
  const face: OutsideFace = {
    know: async (headers) => {
      seen.push(`know ${headers.get('authorization')} ${headers.get('cookie')}`);
      return await byName(headers);
    },
    async answer(request, caller) {
      const { headers } = request;
      seen.push(`answer ${caller} ${headers.get('authorization')} ${headers.get('x-more')} ${await request.text()}`);
      return new Response('yes', { status: 201 });
    },
  };
  const { at, secret } = await served({ '/out': face });
  const ask = (headers: Readonly<Record<string, string>>, body = 'b'): Promise<Response> => fetch(`${at}/out`, { method: 'POST', headers, body }); // biome-ignore format: one line
  const stranger = await ask({}, 'x'.repeat(1 << 20));
  expect([stranger.status, await stranger.json()]).toMatchObject([401, { code: 'denied' }]);
  const known = await ask({ authorization: 'Name ezra', cookie: 'c=1', 'x-more': 'm' });
  expect([known.status, await known.text()]).toEqual([201, 'yes']);
  expect(seen).toEqual(['know null null', 'know Name ezra null', 'answer ezra null m b']);
  // The checks of the door come first.
  const elsewhere = await ask({ authorization: 'Name ezra', origin: 'https://evil.example' });
  expect([elsewhere.status, seen.length]).toEqual([403, 3]);
  // A secret of a session is nothing to this face.
  expect((await ask({ authorization: `Bearer ${secret}` })).status).toBe(201);
  expect(seen.at(-1)).toMatch(/^answer Bearer /);
});

test('each caller has so many requests at once, and one that has too many keeps no other out', async () => {
  const open: PromiseWithResolvers<Response>[] = [];
  const waiting = async (count: number): Promise<void> => {
    while (open.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const face: OutsideFace = {
    know: byName,
    answer: async () => {
      const answer = Promise.withResolvers<Response>();
      open.push(answer);
      return await answer.promise;
    },
  };
  const { at } = await served({ '/out': face });
  const ask = (name: string): Promise<number> =>
    fetch(`${at}/out`, { headers: { authorization: `Name ${name}` } }).then(({ status }) => status);
  const first = Array.from({ length: 32 }, () => ask('ezra'));
  await waiting(32);
  expect(await ask('ezra')).toBe(429);
  const other = ask('allegro');
  await waiting(33);
  for (const { resolve } of open) resolve(new Response('done'));
  expect(new Set(await Promise.all([...first, other]))).toEqual(new Set([200]));
  const again = ask('ezra');
  await waiting(34);
  open.at(-1)?.resolve(new Response('done'));
  expect(await again).toBe(200);
});

test('strangers who might have a proof keep no caller out, and of each so many bytes are read', async () => {
  const open: PromiseWithResolvers<void>[] = [];
  let read = 0;
  const face: OutsideFace = {
    proofInBody: 1000,
    know: async (headers) => (headers.has('proof') ? 'somebody' : undefined),
    async answer(request) {
      read += 1;
      if ((await request.text()) === 'the proof') return new Response('yes');
      const wait = Promise.withResolvers<void>();
      open.push(wait);
      await wait.promise;
      return new Response('no', { status: 401 });
    },
  };
  const { at } = await served({ '/out': face });
  const ask = async (body: string, headers: Readonly<Record<string, string>> = { proof: 'x' }): Promise<number> =>
    (await fetch(`${at}/out`, { method: 'POST', headers, body })).status;
  // More than a known caller may have at once.
  const strangers = Array.from({ length: 40 }, () => ask('no proof'));
  while (open.length < 40) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await ask('the proof')).toBe(200);
  expect([await ask('x'.repeat(1001)), await ask('the proof', {}), read]).toEqual([413, 401, 41]);
  for (const { resolve } of open) resolve();
  expect(new Set(await Promise.all(strangers))).toEqual(new Set([401]));
});

test('the connections of strangers who might have a proof are closed before too many of them are open', async () => {
  const never = Promise.withResolvers<Response>();
  let asked = 0;
  const face: OutsideFace = {
    proofInBody: 1000,
    know: async () => 'somebody',
    answer: async () => {
      asked += 1;
      return await never.promise;
    },
  };
  const { at } = await served({ '/out': face });
  const ends = Array.from({ length: 600 }, () => fetch(`${at}/out`, { method: 'POST', body: 'x' }).then(() => 'answered', () => 'cut')); // biome-ignore format: one line
  let cut = 0;
  for (const end of ends) void end.then((how) => void (cut += how === 'cut' ? 1 : 0));
  while (asked < 600) await new Promise((resolve) => setTimeout(resolve, 10));
  while (cut < 600 - 512) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(cut).toBe(600 - 512);
  never.resolve(new Response('done'));
  await Promise.all(ends);
});

test('a face that fails ends one request with an answer, and the door goes on', async () => {
  const broken = async (): Promise<never> => {
    throw new Error('a secret text');
  };
  const { at, secret, faults } = await served({
    '/own': broken,
    '/out': { know: byName, answer: broken },
    '/unknown': { know: broken, answer: broken },
  });
  const ask = async (path: string, authorization: string): Promise<unknown> => {
    const answer = await fetch(`${at}${path}`, { method: 'POST', headers: { authorization }, body: '{}' });
    return [answer.status, (await answer.text()).includes('secret text')];
  };
  expect(await ask('/own', `Bearer ${secret}`)).toEqual([500, false]);
  expect(await ask('/out', 'Name ezra')).toEqual([500, false]);
  expect(await ask('/unknown', 'Name ezra')).toEqual([503, false]);
  expect(await ask('/own', `Bearer ${secret}`)).toEqual([500, false]);
  expect(faults.length).toBeGreaterThanOrEqual(3);
});

test('a face is a function, or it knows its callers and answers them', async () => {
  for (const face of [
    {},
    { know: byName },
    { answer: byName },
    { know: byName, answer: byName, proofInBody: -1 },
    'text',
    undefined,
  ])
    await expect(served({ '/out': face as never })).rejects.toMatchObject({ code: 'invalid' });
});
