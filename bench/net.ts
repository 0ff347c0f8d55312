/**
 * The http cap beside bare undici, against one server in another process.
 *
 * Promise: both sides read the whole answer, over connections that stay open. Ours resolves the name, judges its
 * addresses, resolves the path and checks the headers; with a secret it also looks for it in every byte.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type HttpCap, type HttpOptions, makeHttpCap, makeSecret } from '@hob/caps-net';
import { Pool } from 'undici';
import type { Suite } from './measure.ts';

const child = fork(join(import.meta.dirname, 'net-server.ts'));
const [port] = (await once(child, 'message')) as [number];
const origin = `http://127.0.0.1:${port}`;
const bare = new Pool(origin, { allowH2: false });
const options: HttpOptions = { origin, addresses: ['127.0.0.1'], limits: { totalMs: 3_600_000, answerBytes: 2 ** 30 } };
const cap = makeHttpCap(options);
const secret = makeSecret(() => 'ghp_0123456789abcdefghijklmnopqrstuvwxyz');
const injected = makeHttpCap({ ...options, inject: { secret, header: 'authorization' } });

async function throughCap(from: HttpCap, path: string): Promise<void> {
  const { body } = await from.get(path);
  for (let part = await body.next(); part !== undefined; part = await body.next());
}
async function throughUndici(path: string): Promise<void> {
  const { body } = await bare.request({ method: 'GET', path });
  for await (const _part of body);
}
const times = (act: () => Promise<void>) => async (n: number) => {
  for (let at = 0; at < n; at += 1) await act();
};
const goal = (most: number) => ({
  text: `<= ${most} x bare undici`,
  met: ({ ratio }: { readonly ratio: number }) => ratio <= most,
});

export const suite: Suite = {
  name: 'net',
  cases: [
    { name: 'GET of 1 KB', n: 200, ours: times(() => throughCap(cap, '/small')), peer: times(() => throughUndici('/small')), goal: goal(1.3) }, // biome-ignore format: one line
    { name: 'GET of 1 KB with a secret', n: 200, ours: times(() => throughCap(injected, '/small')), peer: times(() => throughUndici('/small')) }, // biome-ignore format: one line
    { name: 'stream of 64 MB', n: 1, ours: times(() => throughCap(cap, '/large')), peer: times(() => throughUndici('/large')), goal: goal(1.15) }, // biome-ignore format: one line
    { name: 'stream of 64 MB with a secret', n: 1, ours: times(() => throughCap(injected, '/large')), peer: times(() => throughUndici('/large')) }, // biome-ignore format: one line
  ],
  close: async () => {
    await Promise.all([cap[Symbol.asyncDispose](), injected[Symbol.asyncDispose](), bare.destroy()]);
    child.disconnect();
  },
};
