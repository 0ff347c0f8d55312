/** A directory that was granted, and the end of the grant. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type ByteSink, type ByteSource, type FsCap, openFsCap } from '@hob/caps-fs';
import { type Revoker, revocable } from '@hob/revocable';
import { driverOf, E, type Far, openVats } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';

const descriptors = (): number => fs.readdirSync('/proc/self/fd').length;

test('when a grant is revoked, the descriptors and streams that came from it are closed, with their unfinished work', async () => {
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
  // Nobody waits for a cap that the holder closed by itself.
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

test('close by a holder of a grant ends the cap for that holder with all that it made, and nothing that others hold', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hob-directory-'));
  const vats = await openVats();
  const cap = await openFsCap(folder);
  onTestFinished(async () => {
    await vats.close();
    await cap.close();
    fs.rmSync(folder, { recursive: true });
  });
  await cap.mkdir('d/e', { recursive: true });
  await cap.write('d/f', 'content');
  const directory = driverOf<FsCap>(cap);
  const grantOf = async (name: string, object: Far<FsCap>): Promise<Far<FsCap>> => {
    const granted = await vats.vat(name).turn(() => revocable(object, { for: 60_000 }) as never);
    return (granted as { cap: Far<FsCap> }).cap;
  };
  const [attacker, other] = [await grantOf('a', directory), await grantOf('b', directory)];
  const below = async (held: Far<FsCap>): Promise<Far<FsCap>> => (await E(held).subdir('d')) as unknown as Far<FsCap>;
  const [its, others] = [await below(attacker), await below(other)];
  const stream = (await E(attacker).openRead('d/f')) as unknown as Far<ByteSource>;
  // The receiver of a grant cannot end a cap that somebody else made.
  const passedOn = await grantOf('c', others);
  const before = descriptors();

  await E(passedOn).close();
  await expect(E(passedOn).list()).rejects.toMatchObject({ code: 'CLOSED' });
  expect(await E(others).list()).toEqual(['e', 'f']);

  await E(attacker).close();
  await E(attacker).close();
  for (const used of [E(attacker).list(), E(attacker).subdir('d'), E(its).list(), E(stream).next()])
    await expect(used).rejects.toMatchObject({ code: 'CLOSED' });
  expect(descriptors()).toBe(before - 2);
  expect([await E(other).list(), await E(others).list(), await cap.list()]).toEqual([['d'], ['e', 'f'], ['d']]);
  expect(await E(await grantOf('d', directory)).list()).toEqual(['d']);

  // The maker ends what it made, for everybody.
  await E(others).close();
  expect(descriptors()).toBe(before - 3);
  await expect(E(passedOn).list()).rejects.toMatchObject({ code: 'CLOSED' });
  expect(await E(other).list()).toEqual(['d']);
});
