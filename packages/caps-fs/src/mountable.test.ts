import fs from 'node:fs';
import { driverOf, E, type Far, openVats } from '@hob/vat';
import { expect, test } from 'vitest';
import { code, openDescriptors, scratch } from '../test/scratch.ts';
import { changingMethods as changing, type FsCap, mountable, readingMethods as reading } from './index.ts';

const mounted = async (cap: FsCap | Far<FsCap>): Promise<string> => {
  const got = await code((async () => mountable(cap).release())());
  if (got !== 'ok') return got;
  const mount = mountable(cap);
  mount.release();
  return mount.rights;
};

test('a cap for exactly a directory, read-only or not, hands over the descriptor of that directory', async () => {
  await using s = await scratch();
  await s.cap.mkdir('d');
  const sub = await s.cap.subdir('d');
  const mount = mountable(sub);
  // Whatever stands at its old place now.
  fs.renameSync(s.at('d'), s.at('moved'));
  fs.symlinkSync(s.outside('.'), s.at('d'));
  const real = fs.statSync(s.at('moved'), { bigint: true });
  expect([mount.kind, mount.rights, mount.dev, mount.ino]).toEqual(['dir', 'rw', real.dev, real.ino]);
  expect(fs.readlinkSync(`/proc/self/fd/${mount.fd}`)).toBe(fs.realpathSync(s.at('moved')));
  expect(Object.isFrozen(mount)).toBe(true);
  mount.release();
  expect(await mounted(await sub.readOnly())).toBe('ro');
  expect(await mounted(await sub.only([...reading]))).toBe('ro');
  expect(await mounted(await (await sub.only([...reading, 'only', 'readOnly'])).subdir('.'))).toBe('ro');
  expect(await mounted(await sub.only([...reading, ...changing]))).toBe('rw');
  fs.rmdirSync(s.at('moved'));
  expect(await mounted(sub)).toBe('NOT_FOUND');
});

test('terms that a mount cannot enforce are refused, however they are wrapped: except, quotas, a choice of operations', async () => {
  await using s = await scratch();
  const narrowed = [
    await s.cap.except(['.git']),
    await s.cap.withQuota({ bytes: 10 }),
    await s.cap.withQuota({}),
    await s.cap.only(['read']),
    await s.cap.only([...reading, 'write']),
    // A program in a mount could do what the missing method does.
    ...(await Promise.all(
      [...reading, ...changing].map((missing) =>
        s.cap.only([...reading, ...changing].filter((method) => method !== missing)),
      ),
    )),
  ];
  for (const cap of narrowed) {
    for (const wrapped of [cap, await cap.readOnly().catch(() => cap), await cap.subdir('.').catch(() => cap)]) {
      expect(await mounted(wrapped)).toBe('NOT_PERMITTED');
      expect(await mounted(driverOf(wrapped))).toBe('NOT_PERMITTED');
    }
  }
});

test('a reference to it is as good, also one that came out of a call; what looks like a cap is not', async () => {
  await using s = await scratch();
  await s.cap.mkdir('d');
  const far = driverOf<FsCap>(s.cap, { name: 'mountable-test' });
  expect(await mounted(far)).toBe('rw');
  const below = (await E(far).subdir('d')) as unknown as Far<FsCap>;
  expect(await mounted(below)).toBe('rw');
  for (const no of [{ ...s.cap }, Object.create(s.cap as object), driverOf({ read: () => 1 }), {}])
    expect(await mounted(no as FsCap)).toBe('invalid');
  // There is no message for it, and in a turn nobody can.
  expect(await code((E(far) as unknown as { mountable(): Promise<unknown> }).mountable())).toBe('no-such-method');
  const vats = await openVats();
  expect(await code(vats.vat('a').turn(() => void mountable(far)))).toBe('not-callable');
  await vats.close();
});

test('closing the cap tells the program that mounted it, and waits until it releases the mount', async () => {
  await using s = await scratch();
  const before = openDescriptors();
  const sub = await s.cap.subdir('.');
  const mount = mountable(await sub.readOnly());
  expect(mount.ended.aborted).toBe(false);
  let over = false;
  const closed = sub.close().then(() => (over = true)); // biome-ignore format: one line
  expect(mount.ended.aborted).toBe(true);
  await s.cap.list();
  expect(over).toBe(false);
  expect(fs.fstatSync(mount.fd).isDirectory()).toBe(true);
  mount.release();
  mount.release();
  await closed;
  expect(openDescriptors()).toBe(before);
  expect(await mounted(sub)).toBe('CLOSED');
});
