import fs from 'node:fs';
import { expect, test } from 'vitest';
import { code, scratch } from '../../test/scratch.ts';

test('mkdir makes one directory; recursive makes what is missing and is content with what is there', async () => {
  await using s = await scratch();
  expect(await code(s.cap.mkdir('a/b'))).toBe('NOT_FOUND');
  await s.cap.mkdir('a/');
  expect(await code(s.cap.mkdir('a'))).toBe('EXISTS');
  expect(await code(s.cap.mkdir('.'))).toBe('EXISTS');
  const deep = Array.from({ length: 60 }, (_, i) => `d${i}`).join('/');
  await s.cap.mkdir(`a/${deep}`, { recursive: true });
  await s.cap.mkdir(`a/${deep}/`, { recursive: true });
  await Promise.all(Array.from({ length: 8 }, () => s.cap.mkdir('x/y/z', { recursive: true })));
  await s.cap.write('f', '');
  expect(await code(s.cap.mkdir('f/g', { recursive: true }))).toBe('NOT_A_DIRECTORY');
  expect(await code(s.cap.mkdir('f', { recursive: true }))).toBe('NOT_A_DIRECTORY');
  fs.symlinkSync('x/y', s.at('l'));
  await s.cap.mkdir('l/made', { recursive: true });
  expect(fs.existsSync(s.at('x/y/made'))).toBe(true);
});

test('remove takes a file, a link itself, an empty directory, and a full one only when told', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('d/e'), { recursive: true });
  fs.writeFileSync(s.at('d/e/f'), '');
  fs.symlinkSync(s.outside('.'), s.at('d/out'));
  fs.symlinkSync('d', s.at('l'));
  expect(await code(s.cap.remove('d'))).toBe('NOT_EMPTY');
  expect(await code(s.cap.remove('l/', { recursive: true }))).toBe('NOT_A_DIRECTORY');
  expect(await code(s.cap.remove('.', { recursive: true }))).toBe('NOT_PERMITTED');
  expect(await code(s.cap.remove('none', { recursive: true }))).toBe('NOT_FOUND');
  await s.cap.remove('l', { recursive: true });
  expect(fs.existsSync(s.at('d/e/f'))).toBe(true);
  await s.cap.remove('d', { recursive: true });
  expect(fs.readdirSync(s.at('.'))).toEqual([]);
  expect(fs.readdirSync(s.outside('.'))).toEqual(['secret']);
});

test('a recursive removal takes names that are not UTF-8, and stops at its limits', async () => {
  await using s = await scratch({ maxEntries: 20, maxDepth: 4 });
  fs.mkdirSync(s.at('d'));
  fs.writeFileSync(Buffer.concat([Buffer.from(s.at('d/')), Buffer.from([0xff, 0xfe])]), '');
  fs.mkdirSync(Buffer.concat([Buffer.from(s.at('d/')), Buffer.from([0x64, 0xff])]));
  expect(await s.cap.list('d')).toEqual([]);
  await s.cap.remove('d', { recursive: true });
  fs.mkdirSync(s.at('a/b/c/d/e'), { recursive: true });
  expect(await code(s.cap.remove('a', { recursive: true }))).toBe('FS_LIMIT');
  fs.mkdirSync(s.at('wide'));
  for (let i = 0; i < 30; i++) fs.writeFileSync(s.at(`wide/${i}`), '');
  expect(await code(s.cap.remove('wide', { recursive: true }))).toBe('FS_LIMIT');
});

test('rename moves files, links and directories, and never over something', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('d/e'), { recursive: true });
  fs.writeFileSync(s.at('f'), 'f');
  fs.writeFileSync(s.at('g'), 'g');
  fs.symlinkSync('nowhere', s.at('l'));
  for (const to of ['g', 'f', 'd', 'l', 'd/e/'])
    expect([to, await code(s.cap.rename('f', to))]).toEqual([to, to.endsWith('/') ? 'NOT_A_DIRECTORY' : 'EXISTS']);
  expect(await code(s.cap.rename('d', 'd/e'))).toBe('EXISTS');
  expect(await code(s.cap.rename('d', 'd/e/inside'))).toBe('PATH_INVALID');
  expect(await code(s.cap.rename('.', 'x'))).toBe('NOT_PERMITTED');
  expect(await code(s.cap.rename('f/', 'x'))).toBe('NOT_A_DIRECTORY');
  expect(await code(s.cap.rename('none', 'x'))).toBe('NOT_FOUND');
  await s.cap.rename('f', 'd/e/f');
  await s.cap.rename('l', 'd/l');
  await s.cap.rename('d/', 'moved/');
  expect(fs.readFileSync(s.at('moved/e/f'), 'utf8')).toBe('f');
  expect(fs.readlinkSync(s.at('moved/l'))).toBe('nowhere');
  expect(fs.readdirSync(s.at('.')).sort()).toEqual(['g', 'moved']);
});

test('one of 16 renames onto one name succeeds, and nothing is lost', async () => {
  await using s = await scratch();
  for (let i = 0; i < 16; i++) fs.writeFileSync(s.at(`f${i}`), `${i}`);
  const codes = await Promise.all(Array.from({ length: 16 }, (_, i) => code(s.cap.rename(`f${i}`, 'one'))));
  expect(codes.filter((c) => c === 'ok').length).toBe(1);
  expect((await s.cap.list()).length).toBe(16);
});

test('mkdir -p of the directory itself is content while there is one', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('d'));
  const held = await s.cap.subdir('d');
  expect(await code(held.mkdir('.', { recursive: true }))).toBe('ok');
  fs.rmdirSync(s.at('d'));
  expect(await code(held.mkdir('.', { recursive: true }))).toBe('NOT_FOUND');
});

test('rename with replace takes the place of a file, a link or an empty directory, and needs remove', async () => {
  await using s = await scratch();
  for (const name of ['f', 'g', 'h']) fs.writeFileSync(s.at(name), name);
  fs.mkdirSync(s.at('d/e'), { recursive: true });
  fs.mkdirSync(s.at('empty'));
  fs.symlinkSync(s.outside('secret'), s.at('l'));
  const replace = { replace: true };
  await s.cap.rename('f', 'g', replace);
  expect(fs.readFileSync(s.at('g'), 'utf8')).toBe('f');
  await s.cap.rename('g', 'l', replace);
  expect([fs.readFileSync(s.at('l'), 'utf8'), fs.existsSync(s.outside('secret'))]).toEqual(['f', true]);
  await s.cap.rename('l', 'new', replace);
  await s.cap.rename('d', 'empty', replace);
  expect(fs.readdirSync(s.at('.')).sort()).toEqual(['empty', 'h', 'new']);
  expect(await code(s.cap.rename('h', 'empty', replace))).toBe('IS_A_DIRECTORY');
  expect(await code(s.cap.rename('empty', 'h', replace))).toBe('NOT_A_DIRECTORY');
  fs.mkdirSync(s.at('other'));
  expect(await code(s.cap.rename('other', 'empty', replace))).toBe('NOT_EMPTY');
  // Two names of one file: afterwards there is one. A name onto itself stays.
  fs.linkSync(s.at('h'), s.at('second'));
  await s.cap.rename('h', 'h', replace);
  await s.cap.rename('h', 'second', replace);
  expect(fs.readdirSync(s.at('.')).sort()).toEqual(['empty', 'new', 'other', 'second']);
  const few = await s.cap.only(['rename']);
  expect(await code(few.rename('new', 'second', replace))).toBe('NOT_PERMITTED');
  expect(await code(few.rename('new', 'free'))).toBe('ok');
});

test('write with parents makes the directories above, and needs mkdir', async () => {
  await using s = await scratch();
  await s.cap.write('a/b/f', 'x', { parents: true });
  await s.cap.write('a/b/f', 'y', { parents: true });
  await s.cap.write('top', 'z', { parents: true });
  expect([fs.readFileSync(s.at('a/b/f'), 'utf8'), fs.readFileSync(s.at('top'), 'utf8')]).toEqual(['y', 'z']);
  expect(await code(s.cap.write('top/f', 'x', { parents: true }))).toBe('NOT_A_DIRECTORY');
  expect(await code(s.cap.write('c/', 'x', { parents: true }))).toBe('IS_A_DIRECTORY');
  const few = await s.cap.only(['write']);
  expect(await code(few.write('c/f', 'x', { parents: true }))).toBe('NOT_PERMITTED');
  const part = await s.cap.except(['hidden']);
  expect(await code(part.write('c/hidden', 'x', { parents: true }))).toBe('NOT_PERMITTED');
  expect(fs.existsSync(s.at('c'))).toBe(false);
});
