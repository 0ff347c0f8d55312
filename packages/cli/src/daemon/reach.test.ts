/** `--url`: a verb reaches a host without its socket, with the secret of a granter and with no other one. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openHost } from '@hob/host';
import { E } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { type HobHome, hobHome, type Ran } from '../../test/hob.ts';

const test = requires('linux');

async function withSecret(hob: HobHome, secret: string, ...args: readonly string[]): Promise<Ran> {
  const running = hob.start(...args);
  running.child.stdin!.end(`${secret}\n`);
  return { code: await running.ended, out: running.out, err: running.err };
}

test('with --url a verb asks for the granter’s secret; a secret of a session, a wrong one and a wrong address are refused', async () => {
  const hob = hobHome();
  const state = join(hob.folder, 'elsewhere');
  mkdirSync(state);
  const host = await openHost({ stateDir: state });
  onTestFinished(async () => {
    await host.close();
    rmSync(state, { recursive: true });
  });
  const { granter, secret } = await host.addGranter('owner');
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  await host.offer('bell', { ring: async () => 'ding' });
  await E(granter).grant(session.id, 'bell', 'bell', { uses: 3 });
  const { url } = await host.serve();
  const at = (...args: readonly string[]): Promise<Ran> => withSecret(hob, secret, ...args, '--url', url);
  expect((await at('list')).out).toMatch(/^G1\tS1\tbell\tlive\t3\t/);
  expect(await at('name', 'G1', 'door-bell')).toMatchObject({ code: 0, out: 'G1 is door-bell\n' });
  expect(await at('revoke', 'door-bell')).toMatchObject({ code: 0, out: 'revoked door-bell\n' });
  expect((await at('ledger', 'verify')).out).toMatch(/^the ledger is whole/);
  expect((await at('ledger', 'export')).out).toMatch(/"k":"revoke".*"surface":"wire"/);
  const refused = async (pattern: RegExp, given: string, ...args: readonly string[]): Promise<void> => {
    const { code, out, err } = await withSecret(hob, given, ...args);
    expect([code === 0, out, err]).toEqual([false, '', expect.stringMatching(pattern)]);
    expect(err).not.toContain(given === '' ? '\0' : given);
  };
  await refused(/this is the secret of a session or a sturdyref/, session.secret, 'list', '--url', url);
  await refused(/^hob: /, `${secret.slice(0, -4)}aaaa`, 'list', '--url', url);
  await refused(/no secret was given/, '', 'list', '--url', url);
  await refused(/--url takes the address that the host prints/, secret, 'list', '--url', 'https://example.org');
  // Verbs that need the state itself have no such option.
  await refused(/unknown option '--url'/, secret, 'ledger', 'retain', '--days', '3', '--url', url);
}, 400_000);

test('a host of its own serves its granter in its state: verbs of a granter work there, and those of hob serve say why not', async () => {
  const hob = hobHome();
  const state = join(hob.folder, 'own');
  mkdirSync(state);
  const host = await openHost({ stateDir: state });
  onTestFinished(async () => {
    await host.close();
    rmSync(state, { recursive: true });
  });
  const { granter, secret } = await host.addGranter('me');
  const session = await host.openSession({ name: 'work', granters: ['me'] });
  await host.offer('bell', { ring: async () => 'ding' });
  await E(granter).grant(session.id, 'bell', 'bell', { uses: 3 });
  await host.serve();
  const own = (...args: readonly string[]): Promise<Ran> => hob.run(...args, '--state', state);
  // Without a socket its address is in the state, and the secret of its granter is asked for.
  expect(await own('list')).toMatchObject({ code: 1, err: expect.stringMatching(/no secret was given/) });
  expect((await withSecret(hob, secret, 'list', '--state', state)).out).toMatch(/^G1\tS1\tbell\tlive\t3\t/);
  expect(await withSecret(hob, `${session.secret}`, 'list', '--state', state)).toMatchObject({ code: 1, out: '' });
  const asks = await withSecret(hob, secret, 'status', '--state', state);
  expect(asks).toMatchObject({ code: 1, err: expect.stringMatching(/^hob: process \d+ has this state.*host\.serveGranter.*--url\n$/) }); // biome-ignore format: one line
  await host.serveGranter({ granter: 'me' });
  expect((await own('list')).out).toMatch(/^G1\tS1\tbell\tlive\t3\t/);
  expect((await own('sessions')).out).toMatch(/^S1\twork\t/);
  for (const args of [['status'], ['backup', join(hob.folder, 'copy')], ['wishes'], ['start']])
    expect(await hob.run(...args, '--state', state, ...(args[0] === 'start' ? ['--', 'true'] : [])), args[0]).toEqual({
      code: 1,
      out: '',
      err: 'hob: the host of this state is a program of its own, and serves no manifest: only hob serve does this\n',
    });
  expect((await own('revoke', 'G1')).out).toBe('revoked G1\n');
}, 400_000);

test('a state is served, verified and shortened with a sentinel in a folder that is named', async () => {
  const hob = hobHome();
  const sentinel = join(hob.folder, 'sentinel');
  const host = hob.start('serve', '--manifest', join(hob.folder, 'config/hob.yaml'), '--sentinel', sentinel);
  await host.shows(/see its requests/);
  expect((await hob.run('ledger')).out).toMatch(/^E1 {2}\S+ {2}genesis/);
  host.child.kill('SIGTERM');
  await host.ended;
  const named = await hob.run('ledger', 'verify', '--sentinel', sentinel);
  expect(named).toMatchObject({ code: 0, out: expect.stringMatching(/^the ledger is whole/) });
  const retained = await hob.run('ledger', 'retain', '--days', '30', '--sentinel', sentinel);
  expect(retained).toMatchObject({ code: 0, out: expect.stringMatching(/^nothing was dropped/) });
  // Without the folder nobody can tell whether the state was put back.
  expect(await hob.run('ledger', 'retain', '--days', '30')).toMatchObject({ code: 1, err: expect.stringMatching(/--sentinel DIR/) }); // biome-ignore format: one line
}, 400_000);
