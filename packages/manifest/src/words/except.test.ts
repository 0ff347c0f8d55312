/** Patterns of `except` mean what gitignore means; `git check-ignore` itself is the reference. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { hidden, wrongPattern } from './except.ts';

test.for([
  [['.env*'], ['.env', '.env.local', 'a/b/.env', 'a/.env/x', '.ENV'], ['env', 'a.env', 'a/b']],
  [['.git/**'], ['.git/config', '.git/hooks/x'], ['.git', 'a/.git/config', '.gitignore']],
  [['/build'], ['build', 'build/x'], ['a/build']],
  [['docs/*.pdf'], ['docs/a.pdf'], ['docs/a/b.pdf', 'a/docs/a.pdf', 'a.pdf']],
  [['**/secret'], ['secret', 'a/secret', 'a/b/secret/c'], ['secrets']],
  [['a/**/z'], ['a/z', 'a/b/z', 'a/b/c/z'], ['b/a/z', 'a/zz']],
  [
    ['*.key', '!public.key'],
    ['a.key', 'a/b.key', 'PUBLIC.KEY'],
    ['public.key', 'a/public.key'],
  ],
  [['keys', '!keys/public'], ['keys', 'keys/public'], ['key']],
  [['[a-c]?.t[!x]t'], ['ab.txt'.replace('x', 'e'), 'c1.tat'], ['da.tat', 'a.tat', 'ab.txt']],
  [['\\*'], ['*', 'a/*'], ['a', 'b/c']],
] as const)('%j hides what it names and nothing else', ([patterns, hides, shows]) => {
  const isHidden = hidden(patterns);
  expect(hides.filter((path) => !isHidden(path))).toEqual([]);
  expect(shows.filter((path) => isHidden(path))).toEqual([]);
});

test('a name that a directory without case takes for a hidden one is hidden too', () => {
  const pairs = [
    ['.env', '.ENV'],
    ['.env', '.e\u00adnv'],
    ['.env', '.env\u200d'],
    ['.e\u200bnv', '.env'],
    ['.ssh', '.\u017fsh'],
    ['task', 'tas\u212a'],
    ['straße', 'STRASSE'],
    ['cafe\u0301', 'caf\u00e9'],
    ['caf\u00e9', 'CAFE\u0301'],
  ] as const;
  for (const [pattern, name] of pairs) {
    expect([pattern, name, hidden([pattern])(name)]).toEqual([pattern, name, true]);
    expect([pattern, name, hidden([pattern])(`a/${name}/b`)]).toEqual([pattern, name, true]);
  }
  // Shown only as it is written.
  expect(hidden(['*.key', '!public.key'])('public\u00ad.key')).toBe(true);
});

test.for(['#x', '!', '/', 'a//b', '../x', 'a/./b', '[abc', 'a\nb', ' a', 'a\\', ''])('%j is no pattern', (text) => {
  expect(wrongPattern(text)).toBeDefined();
});

test('thousands of patterns with **/ and a path of thousands of names are compared at once', {
  timeout: 30_000,
}, () => {
  // Compared with each directory of the path by itself this takes minutes.
  const patterns = Array.from({ length: 1_500 }, (_, n) => `**/x${n}`);
  const path = Array.from({ length: 2_000 }, () => 'a').join('/');
  expect(hidden(patterns)(path)).toBe(false);
  expect(hidden(patterns)(`${path}/X7/${path}`)).toBe(true);
  expect(hidden([`${'**/'.repeat(2_000)}b`])(path)).toBe(false);
  expect(hidden([`${'**/a/'.repeat(500)}b`])(path)).toBe(false);
});

requires('git')('paths are hidden exactly where git ignores them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-except-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('git', ['init', '-q', folder]);
  const name = fc.constantFrom('a', 'b', 'ab', 'a.b', 'b.a');
  const part = fc.constantFrom('a', 'b', '*', '**', 'a*', '*b', '?', 'a?', '[ab]', '[!a]', '*.b', 'ab');
  const pattern = fc
    .tuple(fc.constantFrom('', '', '!'), fc.constantFrom('', '/'), fc.array(part, { minLength: 1, maxLength: 3 }))
    .map(([not, slash, parts]) => `${not}${slash}${parts.join('/')}`);
  const paths = fc.sample(fc.array(name, { minLength: 1, maxLength: 3 }), { numRuns: 40, seed: 1 });
  const texts = [...new Set(paths.map((names) => names.join('/')))];
  // A path that is asked for as a file may be a directory of another: git looks at the text alone.
  mkdirSync(join(folder, 'nothing'));
  fc.assert(
    fc.property(fc.array(pattern, { minLength: 1, maxLength: 3 }), (patterns) => {
      writeFileSync(join(folder, '.gitignore'), `${patterns.join('\n')}\n`);
      let said = '';
      try {
        said = execFileSync('git', ['-C', folder, 'check-ignore', '--no-index', '--stdin'], {
          input: texts.join('\n'),
          encoding: 'utf8',
        });
      } catch (error) {
        // Exit code 1: git ignores none of them.
        if ((error as { status?: number }).status !== 1) throw error;
      }
      const ignored = new Set(said.split('\n').filter((line) => line !== ''));
      expect(texts.filter(hidden(patterns))).toEqual(texts.filter((path) => ignored.has(path)));
    }),
    { numRuns: 60 },
  );
});
