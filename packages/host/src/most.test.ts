/** The limits of a whole host. The attacker is a session that spawns children, and one that opens connections. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, E } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { knock } from '../../../test/knock.ts';
import { type Host, openHost, type SessionFace } from './index.ts';

async function host(
  most: { readonly sessions?: number; readonly connections?: number },
  stateDir = folder(),
): Promise<Host> {
  const opened = await openHost({ stateDir, most });
  onTestFinished(() => opened.close());
  return opened;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'hob-most-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );

test('no session is opened beyond the limit of its host, whoever asks; a session that ends makes room', async () => {
  const one = await host({ sessions: 3 });
  const { granter } = await one.addGranter('ann');
  const first = await one.openSession({ name: 'first', granters: ['ann'] });
  const { url } = await one.serve();
  const entered = await connect<SessionFace>(url, { secret: first.secret });
  onTestFinished(() => entered.close());
  const spawn = (name: string): Promise<string> =>
    code(E(entered.bootstrap).spawnChild({ name, caps: {} }) as Promise<unknown>);
  expect([await spawn('a'), await spawn('b'), await spawn('c')]).toEqual(['ok', 'ok', 'limit']);
  expect(await code(one.openSession({ name: 'second' }))).toBe('limit');
  expect(await code(one.startSession({ name: 'third', purpose: 'p', granter: 'ann', grants: [] } as never))).toBe(
    'limit',
  );
  // Sessions that are open already still work.
  expect((await one.ensureSession({ name: 'first', granters: ['ann'] })).id).toBe(first.id);
  expect(await E(granter).sessions()).toHaveLength(3);
  await first.end();
  await expect.poll(() => code(one.openSession({ name: `after-${Math.random()}`.replace('.', '-') }))).toBe('ok');
});

test('the limit is set at each start of the host: the next start may have another one, or none', async () => {
  const path = folder();
  const one = await openHost({ stateDir: path, most: { sessions: 1 } });
  await one.openSession({ name: 'a' });
  expect(await code(one.openSession({ name: 'b' }))).toBe('limit');
  await one.close();
  const two = await openHost({ stateDir: path });
  for (const name of ['b', 'c']) await two.openSession({ name });
  await two.close();
  const three = await host({ sessions: 2 }, path);
  // The host has more sessions than its limit now. None of them is ended.
  expect([(await three.sessions()).length, await code(three.openSession({ name: 'd' }))]).toEqual([3, 'limit']);
});

test('sessions get no more connections than the limit of their host, and granters still enter', async () => {
  const one = await host({ connections: 2 });
  const { secret } = await one.addGranter('ann');
  const { url } = await one.serve();
  const sessions = await Promise.all(['a', 'b', 'c'].map((name) => one.openSession({ name, granters: ['ann'] })));
  const [a, b] = await Promise.all(sessions.slice(0, 2).map((each) => connect(url, { secret: each.secret })));
  expect(await knock(url, { secret: sessions[2]?.secret ?? '' })).toBe('HTTP 503');
  const ann = await connect(url, { secret });
  a?.close();
  await a?.closed;
  await expect.poll(() => knock(url, { secret: sessions[2]?.secret ?? '' })).toBe('open');
  for (const each of [b, ann]) each?.close();
});

test('a limit that is not a whole number in its range is refused when the host is opened', async () => {
  for (const most of [{ sessions: 0 }, { sessions: 1.5 }, { connections: 0 }, { connections: 1e6 }, { calls: 1 }, 5])
    expect(await code(openHost({ stateDir: folder(), most: most as never })), JSON.stringify(most)).toBe('invalid');
});
