/** A granter's socket: no secret, a folder of its own, and acts that the ledger tells apart. */
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
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
