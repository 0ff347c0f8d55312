/** `hob console`: the link to the page, and the way on which a browser gets it. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Granter } from '@hob/host';
import { connect, E } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { hobHome } from '../../test/hob.ts';
import { opener, openFile, writeWay } from './drivers/open-page.ts';

const test = requires('linux');

test('hob console makes a link to a page that is served, and its code enters once as the owner', async () => {
  const hob = hobHome();
  await hob.serve();
  const piped = await hob.run('console');
  expect(piped).toMatchObject({ code: 1, out: '' });
  expect(piped.err).toContain('--json');
  const { link } = await hob.json<{ link: string }>('console');
  const url = new URL(link);
  expect([url.hostname, url.pathname]).toEqual(['localhost', '/console']);
  const page = await fetch(`${url.origin}/console`, { headers: { connection: 'close' } });
  expect([page.status, (await page.text()).includes('"console/console.js"')]).toEqual([200, true]);
  const secret = url.hash.slice('#k='.length);
  const entered = await connect<Granter>(`ws://127.0.0.1:${url.port}`, { secret });
  expect(await E(entered.bootstrap).inbox()).toEqual([]);
  entered.close();
  await entered.closed;
  await expect(connect<Granter>(`ws://127.0.0.1:${url.port}`, { secret })).rejects.toThrow();
});

test('a browser gets the link from a file of its owner alone, and never from a command line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-way-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const code of ['one', 'two']) {
    const path = writeWay(folder, `http://localhost:1/console#k=${code}`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toContain(`#k=${code}`);
    expect(path).not.toContain(code);
  }
  expect(opener('linux', {})).toBe(undefined);
  expect(opener('linux', { WAYLAND_DISPLAY: 'wayland-0' })).toBe('xdg-open');
  expect(await openFile('true', join(folder, 'console.html'))).toBe(true);
  expect(await openFile('no-such-program', join(folder, 'console.html'))).toBe(false);
});
