/** A directory that was granted, on its way into a sandbox. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type FsCap, mountable, openFsCap } from '@hob/caps-fs';
import { reveal, revocable } from '@hob/revocable';
import { driverOf, E, type Far, openVats } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';

test('a granted directory can be mounted if its grant can only end, and not if the grant counts uses', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hob-mountable-'));
  const vats = await openVats();
  const cap = await openFsCap(folder);
  onTestFinished(async () => {
    await vats.close();
    await cap.close();
    fs.rmSync(folder, { recursive: true });
  });
  await cap.mkdir('d');
  const dir = driverOf<FsCap>(cap, { name: 'mountable-granted' });
  const { cap: granted, revoker } = await vats.vat('a').turn(() => revocable(dir, { for: 60_000 }) as never);
  const sub = (await E(granted as Far<FsCap>).subdir('d')) as unknown as Far<FsCap>;
  const seen = await reveal(sub);
  const mount = mountable(seen.inner);
  expect([mount.rights, mount.ino]).toEqual(['rw', fs.statSync(path.join(folder, 'd'), { bigint: true }).ino]);
  let revoked = false;
  const revoking = E(revoker as Far<{ revoke(): void }>).revoke().then(() => (revoked = true)); // biome-ignore format: one line
  await new Promise((told) => seen.ended.addEventListener('abort', told));
  expect(revoked).toBe(false);
  mount.release();
  seen.done();
  await revoking;

  const counted = await vats.vat('a').turn(() => revocable(dir, { uses: 3 }).cap as never);
  await expect(reveal(counted as Far<FsCap>)).rejects.toMatchObject({ code: 'denied' });
});
