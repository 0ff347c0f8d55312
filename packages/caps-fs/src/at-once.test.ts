/** A search made where it is asked: what the thread would have said, or nothing, and never much work. */
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { code, scratch } from '../test/scratch.ts';
import { searchAtOnce } from './at-once.ts';
import type { Ground } from './descent.ts';
import { chooseBackend } from './drivers/backend.ts';
import type { Kernel } from './kernel.ts';
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
function ground(root: string, limits: Partial<Ground> = {}) {
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
  const whole: Ground = {
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

test('what is answered at once is what the thread answers', async () => {
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

test('where there is more it answers nothing, after five hundred entries or half a megabyte at most', async () => {
  await using s = await scratch();
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
