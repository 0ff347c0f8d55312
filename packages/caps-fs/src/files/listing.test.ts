import fs from 'node:fs';
import { expect, test } from 'vitest';
import { code, scratch } from '../../test/scratch.ts';

test('names are bare, sorted by code point, and only such as can be used', async () => {
  await using s = await scratch();
  const names = [
    'Z',
    'a',
    '__proto__',
    'constructor',
    '\uffee',
    '\u{1f600}',
    '\ufffd',
    '\u{1f600}a',
    'e\u0301',
    '\u00e9',
    '\ufb01',
  ];
  for (const name of names) fs.writeFileSync(s.at(name), name);
  fs.writeFileSync(Buffer.concat([Buffer.from(s.at('')), Buffer.from('/'), Buffer.from([0xff])]), '');
  fs.writeFileSync(s.at('.~caps-0123456789abcdef'), '');
  fs.writeFileSync(s.at('.~caps-of-somebody-else'), '');
  const sorted = [...names, '.~caps-of-somebody-else'].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect(await s.cap.list()).toEqual(sorted);
  expect((await s.cap.entries()).map(({ name }) => name)).toEqual(sorted);
  for (const name of names) expect(await s.cap.readText(name)).toBe(name);
});

test('pages of entries together are the directory, each of them once', async () => {
  await using s = await scratch({ maxList: 50 });
  fs.mkdirSync(s.at('d'));
  for (let i = 0; i < 100; i++) fs.writeFileSync(s.at(`d/${i}`), 'x'.repeat(i));
  expect(await code(s.cap.list('d'))).toBe('FS_LIMIT');
  const got: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await s.cap.entries('d', after === undefined ? { limit: 7 } : { after, limit: 7 });
    for (const { name, size, kind } of page) {
      expect([kind, size]).toEqual(['file', Number(name)]);
      got.push(name);
    }
    after = page.at(-1)?.name;
    if (page.length < 7) break;
    fs.rmSync(s.at(`d/${got[0]}`), { force: true });
  }
  expect(got).toEqual(Array.from({ length: 100 }, (_, i) => String(i)).sort());
  expect(await s.cap.entries('d', { after: 'zzz' })).toEqual([]);
  expect(await code(s.cap.entries('d', { limit: 0 }))).toBe('invalid');
  expect(await code(s.cap.entries('d', { limit: 10_001 }))).toBe('FS_LIMIT');
});

test('stat tells kind, size, time and version, of a link itself, and nothing of the host', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('d'));
  fs.writeFileSync(s.at('f'), 'four');
  fs.symlinkSync('d', s.at('l'));
  fs.utimesSync(s.at('f'), 1_000.5, 1_000.5);
  const stat = await s.cap.stat('f');
  expect(Object.keys(stat).sort()).toEqual(['kind', 'mtime', 'size', 'version']);
  expect([stat.kind, stat.size, stat.mtime]).toEqual(['file', 4, 1_000_500]);
  expect((await s.cap.stat('l')).kind).toBe('link');
  expect((await s.cap.stat('l/')).kind).toBe('dir');
  expect((await s.cap.stat('.')).kind).toBe('dir');
  expect(await code(s.cap.stat('f/'))).toBe('NOT_A_DIRECTORY');
  expect(await code(s.cap.stat('f/x'))).toBe('NOT_A_DIRECTORY');
  const ino = String(fs.statSync(s.at('f')).ino);
  expect(stat.version).toMatch(/^[\w-]{22}$/);
  expect(stat.version).not.toContain(ino);
  fs.appendFileSync(s.at('f'), '!');
  expect((await s.cap.stat('f')).version).not.toBe(stat.version);
});
