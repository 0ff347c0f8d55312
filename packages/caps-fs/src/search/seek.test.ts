import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { code, openDescriptors, SECRET, scratch } from '../../test/scratch.ts';
import { endSpare } from './drivers/thread.ts';

/** A small repository; nothing of `outside` may ever be named or shown. */
async function repository(limits: Readonly<Record<string, number>> = {}) {
  // A busy machine gets its time.
  const s = await scratch({ maxSearchMs: 60_000, ...limits });
  const files: Record<string, string> = {
    'README.md': 'about needle\nneedle again, needle twice\n',
    'src/a.ts': 'const a = 1;\n// the Needle\n',
    'src/deep/b.ts': 'needle',
    'src/deep/.hidden/c.ts': 'needle\n',
    'build/out.js': 'needle\n',
    '.gitignore': 'build/\n*.log\n',
    'src/.gitignore': '!wanted.log\n',
    'src/wanted.log': 'needle\n',
    'src/other.log': 'needle\n',
    '.git/config': 'needle\n',
    empty: '',
  };
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(s.at(name.split('/').slice(0, -1).join('/') || '.'), { recursive: true });
    fs.writeFileSync(s.at(name), text);
  }
  fs.writeFileSync(s.at('binary'), Buffer.from('\0needle\n'));
  fs.symlinkSync(s.outside('.'), s.at('out'));
  fs.symlinkSync('../README.md', s.at('src/link'));
  fs.symlinkSync('deep', s.at('src/to-deep'));
  return s;
}

test('glob names what is there, sorted, relative to the cap; links are named and not entered', async () => {
  await using s = await repository();
  expect(await s.cap.glob('**/*.ts')).toEqual(['src/a.ts', 'src/deep/b.ts']);
  expect(await s.cap.glob('src/*')).toEqual([
    'src/a.ts',
    'src/deep',
    'src/link',
    'src/other.log',
    'src/to-deep',
    'src/wanted.log',
  ]);
  expect(await s.cap.glob('{src,build}/**/*.{js,ts}')).toEqual(['build/out.js', 'src/a.ts', 'src/deep/b.ts']);
  expect(await s.cap.glob('**/.hidden/*')).toEqual(['src/deep/.hidden/c.ts']);
  expect(await s.cap.glob('src/*/')).toEqual(['src/deep']);
  expect(await s.cap.glob('out/*')).toEqual([]);
  expect(await s.cap.glob('none/**')).toEqual([]);
  expect(await (await s.cap.subdir('src')).glob('**/b.ts')).toEqual(['deep/b.ts']);
  for (const [bad, why] of [
    ['', 'PATH_INVALID'],
    ['/etc/*', 'PATH_ABSOLUTE'],
    ['../*', 'PATH_ESCAPES'],
    ['a/../b', 'PATH_ESCAPES'],
    ['a\0', 'PATH_INVALID'],
    ['\ud800', 'invalid'],
    ['{a,b}'.repeat(7), 'invalid'],
    [7, 'invalid'],
  ] as const) {
    expect([bad, await code(s.cap.glob(bad as string))]).toEqual([bad, why]);
  }
});

test('a large tree is looked at in a thread, and says the same', async () => {
  await using s = await repository({ maxList: 2_000 });
  await endSpare();
  const before = openDescriptors();
  for (let d = 0; d < 30; d++) {
    fs.mkdirSync(s.at(`many/${d}`), { recursive: true });
    for (let f = 0; f < 30; f++) fs.writeFileSync(s.at(`many/${d}/${f}.txt`), `${d * 30 + f}\n`);
  }
  const found = await s.cap.glob('many/**/*.txt');
  expect(found.length).toBe(900);
  expect(new Set(found).size).toBe(900);
  expect(await s.cap.glob('**/29/7.txt')).toEqual(['many/29/7.txt']);
  expect(await s.cap.search('899')).toEqual([{ path: 'many/29/29.txt', line: 1, column: 1, text: '899' }]);
  await endSpare();
  expect(openDescriptors()).toBe(before);
});

test('a thread that has returned a result is there for the next task, one that was ended is not', async () => {
  // A busy machine gets its time.
  await using s = await scratch({ maxSearchMs: 60_000 });
  for (let f = 0; f < 600; f++) fs.writeFileSync(s.at(`${f}`), `${f}`);
  const threads = (): number => fs.readdirSync('/proc/self/task').length;
  await endSpare();
  const before = threads();
  expect((await s.cap.glob('*')).length).toBe(600);
  const kept = threads();
  expect(kept).toBeGreaterThan(before);
  // The same one: its own terms and tasks go with each message, nothing of the last is left.
  expect(await (await s.cap.except(['7*'])).glob('7?')).toEqual([]);
  expect(await s.cap.search('599')).toEqual([{ path: '599', line: 1, column: 1, text: '599' }]);
  expect(await s.cap.glob('59?')).toEqual(Array.from({ length: 10 }, (_, i) => `59${i}`));
  expect(threads()).toBe(kept);
  // Closed in the middle: nobody gets that thread again.
  const cap = await s.cap.readOnly();
  const asked = code(cap.search({ pattern: '((a?b?){50}){10}c' }));
  await cap.close();
  expect(await asked).toBe('CLOSED');
  expect((await s.cap.glob('*')).length).toBe(600);
  await endSpare();
  expect(threads()).toBe(before);
});

test('search returns each line that has the text, with what is ignored left out', async () => {
  await using s = await repository();
  expect(await s.cap.search('needle')).toEqual([
    { path: 'README.md', line: 1, column: 7, text: 'about needle' },
    { path: 'README.md', line: 2, column: 1, text: 'needle again, needle twice' },
    { path: 'src/deep/.hidden/c.ts', line: 1, column: 1, text: 'needle' },
    { path: 'src/deep/b.ts', line: 1, column: 1, text: 'needle' },
    { path: 'src/wanted.log', line: 1, column: 1, text: 'needle' },
  ]);
  const at = async (...asked: Parameters<typeof s.cap.search>) =>
    (await s.cap.search(...asked)).map(({ path, line }) => `${path}:${line}`);
  expect(await at({ pattern: '(?i)the n\\w+$' })).toEqual(['src/a.ts:2']);
  expect(await at({ pattern: '^needle' }, { path: 'README.md' })).toEqual(['README.md:2']);
  expect(await at('needle', { path: 'src' })).toEqual([
    'src/deep/.hidden/c.ts:1',
    'src/deep/b.ts:1',
    'src/wanted.log:1',
  ]);
  expect(await at('needle', { path: 'src', glob: '*.ts' })).toEqual(['src/deep/.hidden/c.ts:1', 'src/deep/b.ts:1']);
  expect(await at('needle', { path: 'src', glob: 'deep/*.ts' })).toEqual(['src/deep/b.ts:1']);
  expect(await at('needle', { limit: 2 })).toEqual(['README.md:1', 'README.md:2']);
  // Asked for by name, what is ignored is looked at.
  expect(await at('needle', { path: 'build' })).toEqual(['build/out.js:1']);
  expect(await at('needle', { path: 'src/other.log' })).toEqual(['src/other.log:1']);
  expect(await at('needle', { path: 'src/link' })).toEqual(['src/link:1', 'src/link:2']);
  expect(await at('Needle', { path: '.' })).toEqual(['src/a.ts:2']);
  expect(await at({ pattern: 'x*' }, { path: 'empty' })).toEqual([]);
});

test('lines and columns are those of a person’s editor, long lines are cut, no text is code', async () => {
  await using s = await scratch();
  await s.cap.write('f', `\u00fc\u{1f600} $& .*\r\n\n${'x'.repeat(3_000)}end\n`);
  expect(await s.cap.search('$& .*')).toEqual([{ path: 'f', line: 1, column: 5, text: '\u00fc\u{1f600} $& .*' }]);
  expect(await s.cap.search({ pattern: '\\$& \\.\\*' })).toEqual([
    { path: 'f', line: 1, column: 5, text: '\u00fc\u{1f600} $& .*' },
  ]);
  const [hit] = await s.cap.search('end');
  expect([hit?.line, hit?.column, hit?.text.length]).toEqual([3, 3_001, 2_000]);
  const [same] = await s.cap.search({ pattern: 'end$' });
  expect(same).toEqual(hit);
  await s.cap.write('bytes', new Uint8Array([0x61, 0xff, 0x62, 0x0a]));
  expect(await s.cap.search('b', { path: 'bytes' })).toEqual([{ path: 'bytes', line: 1, column: 3, text: 'a\ufffdb' }]);
});

test('search and glob follow no link, enter no other place, and never name what is excepted', async () => {
  await using s = await repository();
  fs.writeFileSync(s.at('.env'), 'needle');
  fs.writeFileSync(s.at('src/deep/.ENV'), 'needle');
  fs.symlinkSync('.env', s.at('alias'));
  fs.writeFileSync(s.at('.~caps-0123456789abcdef'), 'needle');
  const cap = await s.cap.except(['.env', 'deep']);
  const paths = [...new Set((await cap.search('needle')).map(({ path }) => path))];
  expect(paths).toEqual(['README.md', 'src/wanted.log']);
  expect(await cap.glob('**/*env*')).toEqual([]);
  expect(await cap.glob('{.env,alias,src/deep/**,.*}')).toEqual(['.git', '.gitignore', 'alias']);
  for (const path of ['.env', 'alias', 'src/deep', 'src/to-deep', '.Env']) {
    expect([path, await code(cap.search('needle', { path }))]).toEqual([path, 'NOT_PERMITTED']);
  }
  expect(await code(s.cap.search(SECRET, { path: 'out' }))).toBe('RESOLVED_OUTSIDE');
  expect(await s.cap.search(SECRET.slice(0, 20))).toEqual([]);
  // A rule file that the holder may not see has no say for it.
  const blind = await s.cap.except(['.gitignore']);
  expect((await blind.search('needle', { path: 'build' })).length).toBe(1);
  expect((await blind.search('needle', { glob: '*.log' })).length).toBe(2);
});

test('malformed terms are refused before anything is opened, and the error names the limit', async () => {
  await using s = await repository({ maxHits: 3, maxSearchBytes: 40, maxEntries: 600, maxDepth: 2 });
  for (const bad of [
    '',
    'x'.repeat(5_000),
    '\ud800',
    7,
    null,
    {},
    { pattern: '' },
    { pattern: '(' },
    { pattern: '(a)\\1' },
    { pattern: '(?=a)' },
    { pattern: 'x'.repeat(1_001) },
  ]) {
    expect([bad, await code(s.cap.search(bad as string))]).toEqual([bad, 'invalid']);
  }
  expect(await code(s.cap.search('x', { limit: 4 }))).toBe('FS_LIMIT');
  expect(await code(s.cap.search('x', { limit: 0 }))).toBe('invalid');
  expect(await code(s.cap.search('x', { path: 'none' }))).toBe('NOT_FOUND');
  expect(await code(s.cap.search('x', { path: '../x' }))).toBe('PATH_ESCAPES');
  expect(await code(s.cap.search('x', { glob: '../*' }))).toBe('PATH_ESCAPES');
  await expect(s.cap.search('no such text')).rejects.toThrow(/^limit reached: maxSearchBytes 40/);
  await expect(s.cap.glob('**/.hidden/*')).rejects.toThrow(/^limit reached: maxDepth 2/);
  for (let i = 0; i < 600; i++) fs.writeFileSync(s.at(`f${i}`), '');
  await expect(s.cap.glob('*')).rejects.toThrow(/^limit reached: maxEntries 600/);
});

test('a pattern that never ends elsewhere ends here, and one search holds up nobody', async () => {
  await using s = await scratch();
  await s.cap.write('f', `${'a'.repeat(100_000)}b\n`.repeat(8));
  await s.cap.write('g', 'other');
  const searched = s.cap.search({ pattern: '(a+)+$' });
  let reads = 0;
  let over = false;
  void searched.then(() => (over = true));
  while (!over) {
    await s.cap.read('g');
    reads += 1;
  }
  expect(await searched).toEqual([]);
  expect(reads).toBeGreaterThan(5);
});

test('a pattern that is large when it is made ready is made ready where nobody waits', async () => {
  await using s = await scratch({ maxSearchMs: 60 });
  await s.cap.write('f', 'a');
  let here = Number.POSITIVE_INFINITY;
  // Two seconds of making ready it would be here, each time; what else takes as long is a busy machine, and
  // passes.
  for (let i = 0; i < 10 && here > 500; i++) {
    const began = performance.now();
    const asked = [
      code(s.cap.search({ pattern: 'a{1000}'.repeat(140) })),
      code(s.cap.search({ pattern: '\\p{L}'.repeat(160) })),
    ];
    here = performance.now() - began;
    expect(await code(s.cap.read('f'))).toBe('ok');
    expect(await Promise.all(asked)).toEqual(['FS_LIMIT', expect.stringMatching(/^(ok|FS_LIMIT)$/)]);
  }
  expect(here).toBeLessThan(500);
  expect(await code(s.cap.search({ pattern: 'a{2}\\1' }))).toMatch(/^(invalid|FS_LIMIT)$/);
});

test('a search ends with its cap and at the end of its time, and keeps no descriptor', async () => {
  await using s = await scratch({ maxSearchMs: 150 });
  for (let i = 0; i < 30; i++) fs.writeFileSync(s.at(`f${i}`), 'ab'.repeat(2_000_000));
  await endSpare();
  const before = openDescriptors();
  const slow = { pattern: '((a?b?){50}){10}c' };
  await expect(s.cap.search(slow)).rejects.toThrow(/^limit reached: maxSearchMs 150/);
  const cap = await s.cap.readOnly();
  const asked = [cap.search(slow), cap.search(slow), cap.search(slow)].map(code);
  await cap.close();
  for (const answer of await Promise.all(asked)) expect(answer).toBe('CLOSED');
  await endSpare();
  expect(openDescriptors()).toBe(before);
});

test('a search that waits for others’ ends with its cap, and theirs go on', async () => {
  await using s = await scratch({ maxSearchMs: 15_000 });
  for (let i = 0; i < 30; i++) fs.writeFileSync(s.at(`f${i}`), 'ab'.repeat(2_000_000));
  const slow = { pattern: '((a?b?){50}){10}c' };
  const other = await s.cap.readOnly();
  const mine = await s.cap.readOnly();
  let over = 0;
  const theirs = [other.search(slow), other.search(slow)].map(async (asked) => {
    const answer = await code(asked);
    over += 1;
    return answer;
  });
  const waiting = code(mine.search(slow));
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  await mine.close();
  expect([await waiting, over]).toEqual(['CLOSED', 0]);
  // Its place in the line is nobody's: who comes after it is let in.
  const next = code(other.search(slow));
  await other.close();
  expect([...(await Promise.all(theirs)), await next]).toEqual(['CLOSED', 'CLOSED', 'CLOSED']);
  expect((await s.cap.search({ pattern: 'no such' }, { path: 'f0' })).length).toBe(0);
  await endSpare();
});

requires('mkfifo')('a .gitignore that is a FIFO, a link or a directory has no say, and holds up nothing', async () => {
  await using s = await scratch();
  fs.writeFileSync(s.outside('rules'), '*\n');
  for (const [d, make] of Object.entries({
    fifo: (at: string) => execFileSync('mkfifo', [at]),
    link: (at: string) => fs.symlinkSync(s.outside('rules'), at),
    dir: (at: string) => fs.mkdirSync(at),
  })) {
    fs.mkdirSync(s.at(d));
    make(s.at(`${d}/.gitignore`));
    fs.writeFileSync(s.at(`${d}/f`), 'needle');
    fs.mkdirSync(s.at(`${d}/below`));
    fs.writeFileSync(s.at(`${d}/below/f`), 'needle');
    expect((await s.cap.search('needle', { path: d })).length).toBe(2);
    expect((await s.cap.search('needle', { path: `${d}/below` })).length).toBe(1);
  }
});

test('a file that is named and not searched is refused, with the reason; without being named it is left out', async () => {
  await using s = await scratch();
  fs.writeFileSync(s.at('binary'), Buffer.from('\0needle\n'));
  fs.writeFileSync(s.at('large'), 'needle\n'.padEnd(8 * 1024 * 1024 + 1));
  fs.writeFileSync(s.at('text'), 'needle\n');
  for (const query of ['needle', { pattern: 'ne+dle' }]) {
    await expect(s.cap.search(query, { path: 'binary' })).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    await expect(s.cap.search(query, { path: 'large' })).rejects.toMatchObject({
      code: 'FS_LIMIT',
      message: 'limit reached: bytes of a file that is searched 8388608',
    });
    expect((await s.cap.search(query)).map(({ path }) => path)).toEqual(['text']);
  }
});
