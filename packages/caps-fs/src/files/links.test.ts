/** Links that a holder makes or reads stay beneath, and tell nothing of the host. */
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { code, scratch } from '../../test/scratch.ts';

test('a link is made and read where it stays beneath, and followed like any other', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('a/b'), { recursive: true });
  fs.writeFileSync(s.at('f'), 'content');
  await s.cap.symlink('../../f', 'a/b/l');
  expect(fs.readlinkSync(s.at('a/b/l'))).toBe('../../f');
  expect([await s.cap.readlink('a/b/l'), await s.cap.readText('a/b/l')]).toEqual(['../../f', 'content']);
  expect([(await s.cap.stat('a/b/l')).kind, (await s.cap.stat('a/b/l', { follow: true })).kind]).toEqual([
    'link',
    'file',
  ]);
  await s.cap.symlink('not-there-yet', 'dangling');
  expect(await code(s.cap.stat('dangling', { follow: true }))).toBe('NOT_FOUND');
  expect(await code(s.cap.symlink('f', 'a/b/l'))).toBe('EXISTS');
  expect(await code(s.cap.readlink('f'))).toBe('invalid');
  expect(await code(s.cap.readlink('none'))).toBe('NOT_FOUND');
  expect(await code((await s.cap.readOnly()).symlink('f', 'm'))).toBe('READ_ONLY');
});

test('a link that leads out is neither made nor told, counted from where it really is', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('a/b'), { recursive: true });
  fs.symlinkSync('../..', s.at('a/b/up'));
  const cap = await s.cap.except(['.env']);
  for (const [text, path] of [
    ['/etc/passwd', 'l'],
    ['..', 'l'],
    ['a/../../x', 'l'],
    ['../../../x', 'a/b/l'],
    // Written as deep as three directories, it would lie at the top.
    ['../x', 'a/b/up/l'],
  ] as const)
    expect([text, await code(cap.symlink(text, path))]).toEqual([text, 'RESOLVED_OUTSIDE']);
  expect(await code(cap.symlink('.env', 'l'))).toBe('NOT_PERMITTED');
  expect(await code(cap.symlink('', 'l'))).toBe('PATH_INVALID');
  expect(await code(cap.symlink('a\0b', 'l'))).toBe('PATH_INVALID');
  expect(await code(cap.symlink('a', 'l/'))).toBe('PATH_INVALID');
  expect(fs.readdirSync(s.at('.'))).toEqual(['a']);
  fs.symlinkSync(s.outside('secret'), s.at('out'));
  fs.symlinkSync('../outside', s.at('beside'));
  fs.symlinkSync('.env', s.at('hidden'));
  expect(await code(cap.readlink('out'))).toBe('RESOLVED_OUTSIDE');
  expect(await code(cap.readlink('beside'))).toBe('RESOLVED_OUTSIDE');
  expect(await code(cap.readlink('hidden'))).toBe('NOT_PERMITTED');
  // A cap for a directory below counts from there.
  const below = await s.cap.subdir('a');
  expect(await code(below.symlink('../b', 'l'))).toBe('RESOLVED_OUTSIDE');
});
