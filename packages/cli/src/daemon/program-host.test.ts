/** `hob host`, for a program that brings its own tools. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LocalGranter, RemoteTools, ToolHost } from '@hob/host';
import { connect, driver, E, type Far } from '@hob/vat';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { hobHome } from '../../test/hob.ts';

const test = requires('linux');

const tools = driver<RemoteTools>({ call: async () => 'done', cancel: () => undefined, withdrawn: () => new Promise<never>(() => {}) }); // biome-ignore format: one line

test('hob host ends with its standard input, and the state has what the program did', async () => {
  const hob = hobHome();
  const state = join(hob.folder, 'tools');
  for (const again of [false, true]) {
    const host = hob.start('host', '--state', state, '--json');
    await host.shows(/}\n/);
    const { granter, pid } = JSON.parse(host.out) as { readonly granter: string; readonly pid: number };
    expect(pid).toBe(host.child.pid);
    const { bootstrap, closed } = await connect<LocalGranter>(granter, { secret: 'none' });
    const daemon = E(bootstrap).daemon() as unknown as Far<{ tools(): ToolHost }>;
    const own = E(daemon).tools() as unknown as Far<ToolHost>;
    await E(own).offer('mail', tools as never, { methods: ['send'] });
    expect(await E(own).openSession('agent')).toMatchObject({ again });
    const second = await hob.line('host', '--state', state);
    expect([second.code, second.err]).toEqual([1, expect.stringContaining('serves this state already')]);
    host.child.stdin?.end();
    expect(await host.ended).toBe(0);
    await closed;
  }
});

requires('linux', 'prlimit')(
  'hob host ends when its store is gone, so the program that started it learns of that',
  async () => {
    const hob = hobHome();
    const host = hob.start('host', '--state', join(hob.folder, 'tools'), '--json');
    await host.shows(/}\n/);
    const { granter, pid } = JSON.parse(host.out) as { readonly granter: string; readonly pid: number };
    const { bootstrap, closed } = await connect<LocalGranter>(granter, { secret: 'none' });
    const daemon = E(bootstrap).daemon() as unknown as Far<{ tools(): ToolHost }>;
    const own = E(daemon).tools() as unknown as Far<ToolHost>;
    // No file of this process can grow any more.
    await promisify(execFile)('prlimit', ['--pid', String(pid), '--fsize=0:0']);
    await expect(E(own).openSession('agent')).rejects.toThrow();
    expect(await host.ended).toBe(1);
    expect(host.err).toMatch(/the store is gone, so this process ends/);
    await closed;
  },
);

test('hob serve has it too, for the user of the socket, and never in place of an offer of the manifest', async () => {
  const hob = hobHome();
  await hob.serve();
  const { bootstrap, close, closed } = await connect<LocalGranter>(`ws+unix:${join(hob.folder, 'home/.local/state/hob/state/granter/socket')}:/`, { secret: 'none' }); // biome-ignore format: one line
  const daemon = E(bootstrap).daemon() as unknown as Far<{ tools(): ToolHost; served(): { readonly offers: Readonly<Record<string, string>> } }>; // biome-ignore format: one line
  const own = E(daemon).tools() as unknown as Far<ToolHost>;
  const [taken] = Object.values((await E(daemon).served()).offers);
  await expect(E(own).offer(taken as string, tools as never, { methods: ['send'] })).rejects.toMatchObject({ code: 'invalid' }); // biome-ignore format: one line
  await E(own).offer('mail', tools as never, { methods: ['send'] });
  expect(await E(own).openSession('agent')).toMatchObject({ again: false });
  close();
  await closed;
});
