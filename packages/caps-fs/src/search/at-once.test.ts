/**
 * A glob or a search made where it is asked: what the thread would have said, or nothing, and never much
 * work.
 */
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { code, scratch } from '../../test/scratch.ts';
import type { Kernel } from '../base/kernel.ts';
import { chooseBackend } from '../drivers/backend.ts';
import { globAtOnce, searchAtOnce } from './at-once.ts';
import type { SearchScope } from './descent.ts';
import { type Query, search } from './scan.ts';

const literally = (literal: string, more: Partial<Query> = {}): Query => ({
  literal,
  pattern: undefined,
  glob: undefined,
  limit: 1_000,
  maxBytes: 1 << 28,
  from: [],
  above: [],
  file: false,
  ...more,
});

/** A ground over `root`, and how many entries and bytes were looked at. */
function ground(root: string, limits: Partial<SearchScope> = {}) {
  const kernel = chooseBackend();
  const fd = kernel.openRoot(root);
  onTestFinished(() => kernel.close(fd));
  const seen = { entries: 0, bytes: 0 };
  const counting: Kernel = {
    ...kernel,
    children: (dir, max) => {
      const found = kernel.children(dir, max);
      seen.entries += found.length;
      return found;
    },
    readNow: (file, into, position) => {
      const got = kernel.readNow(file, into, position);
      seen.bytes += got;
      return got;
    },
  };
  const whole: SearchScope = {
    fd,
    mount: kernel.mountOf(fd),
    backend: kernel.backend,
    excepted: [],
    maxEntries: 200_000,
    maxDepth: 64,
    ...limits,
  };
  return { kernel: counting, ground: whole, seen };
}

test('a result that is returned at once is the result of the thread', async () => {
  const name = fc.constantFrom('a', 'b', '.c', '.gitignore', '\u00fc');
  const file = fc.tuple(
    fc.array(name, { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', 'needle', 'b/\n*.x\n', 'a needle\nneedle\n', 'n\0needle', 'needle\n'.repeat(40)),
  );
  const asked = fc.record({
    glob: fc.constantFrom(undefined, 'a', '**/b', '{a,b}/**'),
    limit: fc.constantFrom(1, 3, 1_000),
    excepted: fc.constantFrom([], ['a'], ['.git*']),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(file, { maxLength: 12 }), asked, async (files, { glob, limit, excepted }) => {
      await using s = await scratch();
      for (const [names, text] of files) {
        const at = s.at(names.join('/'));
        try {
          fs.mkdirSync(path.dirname(at), { recursive: true });
          fs.writeFileSync(at, text);
        } catch {
          // A file is in the way of this one: then it is not there.
        }
      }
      const { kernel, ground: here } = ground(s.at('.'), { excepted });
      const query = literally('needle', { glob, limit });
      expect(searchAtOnce(kernel, here, query)).toEqual(search(kernel, here, query));
    }),
    { numRuns: 60 },
  );
});

test('where there is more it returns nothing, after five hundred entries or half a megabyte at most', async () => {
  // A busy machine gets its time.
  await using s = await scratch({ maxSearchMs: 60_000 });
  for (let d = 0; d < 8; d++) {
    fs.mkdirSync(s.at(`many/${d}`), { recursive: true });
    for (let f = 0; f < 100; f++) fs.writeFileSync(s.at(`many/${d}/${f}`), '');
  }
  fs.mkdirSync(s.at('long'));
  for (let f = 0; f < 30; f++) fs.writeFileSync(s.at(`long/${f}`), 'x'.repeat(64 * 1024));
  const many = ground(s.at('many'));
  expect(searchAtOnce(many.kernel, many.ground, literally('needle'))).toBeUndefined();
  expect(many.seen.entries).toBeLessThanOrEqual(501);
  const long = ground(s.at('long'));
  expect(searchAtOnce(long.kernel, long.ground, literally('needle'))).toBeUndefined();
  expect(long.seen.bytes).toBeLessThan(600 * 1024);
  // The thread then says what there is.
  expect(await s.cap.search('x', { path: 'many' })).toEqual([]);
  expect(await code(s.cap.search('needle', { path: 'long' }))).toBe('ok');
});

test('a pattern is never tried where others wait, however small the tree is', async () => {
  await using s = await scratch();
  await s.cap.write('f', 'needle');
  const { kernel, ground: here, seen } = ground(s.at('.'));
  expect(searchAtOnce(kernel, here, { ...literally(''), literal: undefined, pattern: 'n+' })).toBeUndefined();
  expect(seen).toEqual({ entries: 0, bytes: 0 });
});

test('names, patterns and .gitignore files made to be compared for long are not compared where others wait', async () => {
  // A busy machine gets its time.
  await using s = await scratch({ maxSearchMs: 60_000 });
  await s.cap.mkdir('d');
  for (let i = 0; i < 3; i++) await s.cap.write(`d/${'a'.repeat(250)}${i}`, '');
  const { kernel, ground: here } = ground(s.at('d'));
  const rule = `*${'a'.repeat(125)}b`;
  // Sixty-four times the same, each of which goes through the whole name from each of its characters.
  const braces = `{${'a,'.repeat(63)}a}`;
  const heavy = `*${braces}${'a'.repeat(124)}b`;
  const set = `*[${'bc'.repeat(1_000)}]`;
  for (const pattern of [heavy, set]) {
    expect(globAtOnce(kernel, here, pattern, 100)).toBeUndefined();
    expect(searchAtOnce(kernel, here, literally('x', { glob: pattern }))).toBeUndefined();
    expect(await s.cap.glob(`d/${pattern}`)).toEqual([]);
  }
  const above = [[0, `${rule}\n`.repeat(200)]] as const;
  expect(searchAtOnce(kernel, here, literally('x', { above }))).toBeUndefined();
  expect(searchAtOnce(kernel, here, literally('x'))?.hits).toEqual([]);
  await s.cap.write('d/.gitignore', `${rule}\n`.repeat(200));
  expect(searchAtOnce(kernel, here, literally('x'))).toBeUndefined();
  expect(await s.cap.search('x', { path: 'd' })).toEqual([]);
  // Only to take it in takes long.
  await s.cap.write('d/.gitignore', `# ${'x'.repeat(1_000)}\n`.repeat(250));
  for (const part of ['p', 'q', 'r', 's']) {
    await s.cap.mkdir(`d/${part}`);
    await s.cap.copy('d/.gitignore', `d/${part}/.gitignore`);
  }
  expect(searchAtOnce(kernel, here, literally('x'))).toBeUndefined();
  expect(globAtOnce(kernel, here, 'a*b', 100)).toEqual([]);
});

test('a long text is not looked for where others wait: somebody may have made the file so that it takes long', async () => {
  await using s = await scratch({ maxSearchMs: 60_000 });
  await s.cap.write('f', `${'a'.repeat(500)}\n`);
  const { kernel, ground: here, seen } = ground(s.at('.'));
  expect(searchAtOnce(kernel, here, literally(`a${'a'.repeat(200)}`))).toBeUndefined();
  expect(seen).toEqual({ entries: 0, bytes: 0 });
  expect((await s.cap.search('a'.repeat(201))).map(({ path }) => path)).toEqual(['f']);
});

test('a limit of the cap itself is not passed: it is the thread’s to say', async () => {
  await using s = await scratch();
  fs.mkdirSync(s.at('a/b/c'), { recursive: true });
  for (let f = 0; f < 20; f++) fs.writeFileSync(s.at(`${f}`), 'needle');
  const few = ground(s.at('.'), { maxEntries: 10 });
  expect(searchAtOnce(few.kernel, few.ground, literally('needle'))).toBeUndefined();
  expect(() => search(few.kernel, few.ground, literally('needle'))).toThrow();
  const flat = ground(s.at('.'), { maxDepth: 2 });
  expect(() => searchAtOnce(flat.kernel, flat.ground, literally('needle'))).toThrow(
    expect.objectContaining({ code: 'FS_LIMIT' }) as Error,
  );
});
