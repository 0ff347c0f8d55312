import fs from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { code, scratch } from '../../test/scratch.ts';
import { chooseBackend } from '../drivers/backend.ts';
import { openWith } from '../open.ts';

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

test('names that a holder does not see do not count towards maxList', async () => {
  await using s = await scratch({ maxList: 10 });
  for (let i = 0; i < 10; i++) fs.writeFileSync(s.at(`shown${i}`), '');
  for (let i = 0; i < 50; i++) fs.writeFileSync(s.at(`.~caps-${i.toString(16).padStart(16, '0')}`), '');
  expect((await s.cap.list()).length).toBe(10);
  for (let i = 0; i < 50; i++) fs.writeFileSync(s.at(`hidden${i}`), '');
  const cap = await s.cap.except(['hidden*']);
  expect((await cap.list()).length).toBe(10);
  expect(await code(s.cap.list())).toBe('FS_LIMIT');
  fs.writeFileSync(s.at('shown10'), '');
  expect(await code(cap.list())).toBe('FS_LIMIT');
});

test('a directory that does not change is read once for all its pages, and again as soon as it has changed', async () => {
  await using s = await scratch();
  const names = Array.from({ length: 3_000 }, (_, i) => `n${10_000 + i}`);
  for (const name of names) fs.writeFileSync(s.at(name), '');
  const kernel = chooseBackend();
  let reads = 0;
  let ahead = 0;
  const cap = openWith(
    {
      ...kernel,
      now: () => kernel.now() + ahead,
      names(dir, max) {
        reads += 1;
        return kernel.names(dir, max);
      },
    },
    s.at('.'),
  );
  onTestFinished(() => cap.close());
  const paged = async (between: () => void): Promise<string[]> => {
    const got: string[] = [];
    for (let page = await cap.entries('.', { limit: 500 }); page.length > 0; ) {
      got.push(...page.map(({ name }) => name));
      between();
      page = await cap.entries('.', { limit: 500, after: got.at(-1) ?? '' });
    }
    return got;
  };
  // The names were made long ago: the clock of this cap is a minute ahead.
  ahead = 60_000;
  expect(await paged(() => {})).toEqual(names);
  // The page after the last one reads again.
  expect(reads).toBe(2);
  // Whatever is made between two pages is shown, if it comes after them.
  expect(await paged(() => fs.writeFileSync(s.at('z'), ''))).toEqual([...names, 'z']);
  // A change just now could have the stamp of the next one, so nothing is kept.
  ahead = -60_000;
  reads = 0;
  fs.writeFileSync(s.at('zz'), '');
  await cap.entries('.', { limit: 500 });
  await cap.entries('.', { limit: 500, after: 'n10500' });
  expect(reads).toBe(2);
});

test('names kept for one holder are filtered for another', async () => {
  await using s = await scratch();
  for (let i = 0; i < 1_500; i++) fs.writeFileSync(s.at(`${i % 2 === 0 ? 'shown' : 'hidden'}${i}`), '');
  const cap = openWith({ ...chooseBackend(), now: () => Date.now() + 60_000 }, s.at('.'));
  onTestFinished(() => cap.close());
  await cap.entries('.', { limit: 10 });
  const part = await cap.except(['hidden*']);
  const names = (await part.entries('.', { limit: 10_000 })).map(({ name }) => name);
  expect(names.length).toBe(750);
  expect(names.every((name) => name.startsWith('shown'))).toBe(true);
});
