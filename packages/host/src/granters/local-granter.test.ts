/** A granter's socket: no secret, a folder of its own, and acts that the ledger tells apart. */
import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { connect, E, type Far } from '@hob/vat';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { code, lines, type TestHost, testHost } from '../../test/test-host.ts';
import type { Granter, LocalGranter } from '../index.ts';

let home: TestHost;
beforeEach(async () => {
  home = await testHost();
  mkdirSync(join(home.folder, 'socket'), { mode: 0o700 });
});
afterEach(() => home.close());
const path = (...names: readonly string[]): string => join(home.folder, 'socket', ...names, 's');
const serve = (daemon?: object): Promise<{ readonly url: string }> =>
  home.host.serveGranter({ path: path(), granter: 'owner', surface: 'socket', ...(daemon === undefined ? {} : { daemon }) }); // biome-ignore format: one line

test('over its socket a granter acts without a secret, and the ledger names that surface', async () => {
  await home.host.offer('bell', { ring: async () => 'ding' });
  const { url } = await serve({ hello: async () => 'from the daemon' });
  const { bootstrap, close, closed } = await connect<LocalGranter>(url, { secret: 'none' });
  const owner = E(bootstrap).granter() as unknown as Far<Granter>;
  const { id } = (await E(owner).grant(home.session.id, 'bell', 'bell', { uses: 1 })) as { readonly id: string };
  await E(owner).revoke({ grant: id });
  expect(await lines(home.host, 'grant')).toMatchObject([{ by: 'owner', surface: 'socket' }]);
  expect(await lines(home.host, 'revoke')).toMatchObject([{ by: 'owner', surface: 'socket' }]);
  const daemon = E(bootstrap).daemon() as unknown as Far<{ hello(): string }>;
  expect(await E(daemon).hello()).toBe('from the daemon');
  close();
  await closed;
});

test('a session finds its host by the note, which never names the socket of a granter', async () => {
  await serve();
  const { readAddress } = await import('../drivers/state-dir.ts');
  expect(readAddress(join(home.folder, 'state'))?.url).toBe(home.url);
});

test('a folder that others may open, or a link to one, is refused', async () => {
  chmodSync(join(home.folder, 'socket'), 0o750);
  expect(await code(serve())).toBe('invalid');
  chmodSync(join(home.folder, 'socket'), 0o700);
  symlinkSync(join(home.folder, 'socket'), join(home.folder, 'link'));
  const at = { path: join(home.folder, 'link', 's'), granter: 'owner', surface: 'socket' };
  expect(await code(home.host.serveGranter(at))).toBe('invalid');
  expect(await code(home.host.serveGranter({ ...at, path: path(), granter: 'nobody' }))).toBe('no-such-object');
});

test('without a path it is in the state, in a folder of its own that no other user may open', async () => {
  const folder = join(home.folder, 'state', 'granter');
  // As an older version, or a careless copy, could have left it.
  mkdirSync(folder, { mode: 0o755 });
  const { url, close } = await home.host.serveGranter({ granter: 'owner' });
  expect(url).toBe(`ws+unix:${join(folder, 'socket')}:/`);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const { bootstrap, close: leave, closed } = await connect<LocalGranter>(url, { secret: 'none' });
  const owner = E(bootstrap).granter() as unknown as Far<Granter>;
  await home.host.offer('bell', { ring: async () => 'ding' });
  await E(owner).grant(home.session.id, 'bell', 'bell', { uses: 1 });
  expect(await lines(home.host, 'grant')).toMatchObject([{ by: 'owner', surface: 'socket' }]);
  // A program of its own has nothing beside the granter, and no message reaches another object in its place.
  await expect(E(bootstrap).daemon()).rejects.toMatchObject({ code: 'no-such-object' });
  leave();
  await closed;
  await close();
});

test('a link in the place of that folder is refused, and what it leads to keeps its mode', async () => {
  const [folder, elsewhere] = [join(home.folder, 'state', 'granter'), join(home.folder, 'elsewhere')];
  mkdirSync(elsewhere, { mode: 0o755 });
  rmSync(folder, { recursive: true, force: true });
  symlinkSync(elsewhere, folder);
  expect(await code(home.host.serveGranter({ granter: 'owner' }))).toBe('invalid');
  expect(statSync(elsewhere).mode & 0o777).toBe(0o755);
});
