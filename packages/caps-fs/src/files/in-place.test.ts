/** Changes of an object where it is: only of what is beneath, under its only name. */
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { code, SECRET, scratch } from '../../test/scratch.ts';
import type { FsCap } from '../index.ts';

const modeOf = (path: string): number => fs.statSync(path).mode & 0o7777;

const changes: Readonly<Record<string, (cap: FsCap, path: string) => Promise<void>>> = {
  chmod: (cap, path) => cap.chmod(path, 0o600),
  setTimes: (cap, path) => cap.setTimes(path, { mtime: 1_000 }),
  truncate: (cap, path) => cap.truncate(path, 0),
  writeAt: (cap, path) => cap.writeAt(path, 0, 'x'),
};

test('mode, times, size and bytes of a file are changed where it is', async () => {
  await using s = await scratch();
  fs.writeFileSync(s.at('f'), 'content', { mode: 0o644 });
  const { ino } = fs.statSync(s.at('f'));
  await s.cap.chmod('f', '+x');
  expect([modeOf(s.at('f')), (await s.cap.stat('f', { mode: true })).mode]).toEqual([0o755, 0o755]);
  await s.cap.chmod('f', '-x');
  expect(modeOf(s.at('f'))).toBe(0o644);
  await s.cap.chmod('f', 0o640);
  await s.cap.chmod('f', '+x');
  expect(modeOf(s.at('f'))).toBe(0o750);
  await s.cap.writeAt('f', 3, 'TEN');
  expect(await s.cap.readText('f')).toBe('conTENt');
  await s.cap.writeAt('f', 9, new Uint8Array([0x21]));
  expect(await s.cap.readText('f')).toBe('conTENt\0\0!');
  await s.cap.truncate('f', 3);
  await s.cap.truncate('f', 5);
  expect(await s.cap.readText('f')).toBe('con\0\0');
  await s.cap.setTimes('f', { mtime: 86_400_000, atime: 1_000 });
  expect((await s.cap.stat('f')).mtime).toBe(86_400_000);
  await s.cap.setTimes('f', { mtime: 7_000 });
  expect([fs.statSync(s.at('f')).atimeMs, fs.statSync(s.at('f')).mtimeMs]).toEqual([1_000, 7_000]);
  expect(fs.statSync(s.at('f')).ino).toBe(ino);
  fs.mkdirSync(s.at('d'));
  fs.chmodSync(s.at('d'), 0o2777);
  await s.cap.chmod('d/', 0o750);
  // The set-id bit of a directory says whose group its files have.
  expect(modeOf(s.at('d'))).toBe(0o2750);
  fs.chmodSync(s.at('f'), 0o4755);
  await s.cap.chmod('f', 0o755);
  expect(modeOf(s.at('f'))).toBe(0o755);
});

test('nothing is changed through a link, under a second name, or where the cap itself is', async () => {
  await using s = await scratch();
  fs.writeFileSync(s.at('f'), 'content');
  fs.symlinkSync('f', s.at('inner'));
  fs.symlinkSync(s.outside('secret'), s.at('out'));
  fs.linkSync(s.outside('secret'), s.at('second'));
  const before = fs.statSync(s.outside('secret'));
  for (const [what, change] of Object.entries(changes)) {
    for (const path of ['inner', 'out', 'second']) {
      expect([what, path, await code(change(s.cap, path))]).toEqual([what, path, 'NOT_A_FILE']);
    }
    expect([what, await code(change(s.cap, '.'))]).toEqual([what, 'NOT_PERMITTED']);
    expect([what, await code(change(s.cap, 'none'))]).toEqual([what, 'NOT_FOUND']);
    expect([what, await code(change(await s.cap.readOnly(), 'f'))]).toEqual([what, 'READ_ONLY']);
    expect([what, await code(change(await s.cap.except(['f']), 'f'))]).toEqual([what, 'NOT_PERMITTED']);
  }
  const after = fs.statSync(s.outside('secret'));
  expect([after.mode, after.mtimeMs, after.size]).toEqual([before.mode, before.mtimeMs, before.size]);
  expect(fs.readFileSync(s.outside('secret'), 'utf8')).toBe(SECRET);
});

test('what grows counts, and malformed arguments are refused', async () => {
  await using s = await scratch({ maxStreamBytes: 1_000 });
  fs.writeFileSync(s.at('f'), '');
  const cap = await s.cap.withQuota({ bytes: 100 });
  expect(await code(cap.truncate('f', 60))).toBe('ok');
  expect(await code(cap.writeAt('f', 0, 'x'.repeat(41)))).toBe('FS_LIMIT');
  expect(await code(cap.writeAt('f', 0, 'x'.repeat(40)))).toBe('ok');
  expect(await code(s.cap.truncate('f', 1_001))).toBe('FS_LIMIT');
  expect(await code(s.cap.writeAt('f', 1_000, 'x'))).toBe('FS_LIMIT');
  for (const mode of [-1, 0o1000, 0o4755, 1.5, '+w', undefined] as never[])
    expect(await code(s.cap.chmod('f', mode))).toBe('invalid');
  expect(await code(s.cap.setTimes('f', { mtime: Number.NaN }))).toBe('invalid');
  expect(await code(s.cap.truncate('f', -1))).toBe('invalid');
  expect(await code(s.cap.writeAt('f', undefined as never, ''))).toBe('invalid');
});
