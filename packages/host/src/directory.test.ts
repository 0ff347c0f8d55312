/** A directory that was granted, and the end of the grant. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type ByteSink, type ByteSource, type FsCap, openFsCap } from '@hob/caps-fs';
import { type Revoker, revocable } from '@hob/revocable';
import { driverOf, E, type Far, openVats } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';

const descriptors = (): number => fs.readdirSync('/proc/self/fd').length;

test('when a grant is revoked, what came out of it is closed: descriptors, streams, and what they had begun', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hob-directory-'));
  const vats = await openVats();
  const cap = await openFsCap(folder);
  onTestFinished(async () => {
    await vats.close();
    await cap.close();
    fs.rmSync(folder, { recursive: true });
  });
  await cap.mkdir('d');
  await cap.write('d/f', 'content');
  const directory = driverOf<FsCap>(cap);
  const before = descriptors();
  const granted = await vats.vat('a').turn(() => revocable(directory, { for: 60_000 }) as never);
  const { cap: held, revoker } = granted as { cap: Far<FsCap>; revoker: Far<Revoker> };
  const sub = (await E(held).subdir('d')) as unknown as Far<FsCap>;
  const narrower = (await E(sub).readOnly()) as unknown as Far<FsCap>;
  const source = (await E(narrower).openRead('f')) as unknown as Far<ByteSource>;
  const sink = (await E(sub).openWrite('g')) as unknown as Far<ByteSink>;
  await E(sink).write(new Uint8Array([1]));
  expect(await E(source).next(3)).toEqual(new Uint8Array(Buffer.from('con')));
  // What the holder closes by itself is no longer waited for.
  await E((await E(held).subdir('d')) as unknown as Far<FsCap>).close();
  expect(descriptors()).toBeGreaterThan(before);

  await E(revoker).revoke();
  // By then, not some time later.
  expect(descriptors()).toBe(before);
  for (const used of [E(source).next(), E(sink).close(), E(narrower).list(), E(held).list()])
    await expect(used).rejects.toMatchObject({ code: 'revoked' });
  expect(fs.readdirSync(path.join(folder, 'd'))).toEqual(['f']);
  // The host's own cap is not the grant's.
  expect(await cap.list('d')).toEqual(['f']);
});
