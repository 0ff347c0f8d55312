import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matches, namedBy } from '../base/names.ts';
import { GlobError, parseGlob } from './glob.ts';
import { IgnoreRules } from './ignore.ts';

const named = (pattern: string, path: string, dots = false): boolean => {
  const glob = parseGlob(pattern, { dots });
  let state = glob.start;
  for (const name of path.split('/')) {
    if (!glob.goesOn(state)) return false;
    state = glob.step(state, name);
  }
  return glob.accepts(state);
};

test.each([
  ['a', 'a', true],
  ['a', 'a/b', false],
  ['*', 'a', true],
  ['*', 'a/b', false],
  ['*', '.a', false],
  ['.*', '.a', true],
  ['*.ts', 'x.ts', true],
  ['*.ts', '.ts', false],
  ['?', 'ü', true],
  ['?', '😀', true],
  ['??', 'a', false],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[^a-c]x', 'dx', true],
  ['[]]', ']', true],
  ['[a-]', '-', true],
  ['[a', '[a', true],
  ['[😀-😂]', '😁', true],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['**', 'a/b/c', true],
  ['**', 'a/.b/c', false],
  ['**/c', 'c', true],
  ['**/c', 'a/b/c', true],
  ['a/**', 'a', true],
  ['a/**', 'a/b/c', true],
  ['a/**/d', 'a/d', true],
  ['a/**/d', 'a/b/c/d', true],
  ['a/**/d', 'a/b/c', false],
  ['**/**/x', 'x', true],
  ['**.ts', 'a/x.ts', false],
  ['./a//b/', 'a/b', true],
  ['{a,b}/c', 'b/c', true],
  ['{a,b}/c', 'c/c', false],
  ['a{,b}', 'a', true],
  ['a{b,c{d,e}}', 'ace', true],
  ['x{a/b,c}y', 'xa/by', true],
  ['{a}', '{a}', true],
  ['{a,b', '{a,b', true],
  ['\\{a,b}', '{a,b}', true],
] as const)('%s names %s: %s', (pattern, path, expected) => {
  expect(named(pattern, path)).toBe(expected);
});

test('what is no pattern is refused; braces cannot make more than 64 of one', () => {
  for (const bad of ['', '/', '.', '..', 'a/../b', '{a,b}'.repeat(7), `{${'x,'.repeat(64)}}`]) {
    expect(() => parseGlob(bad), bad).toThrow(GlobError);
  }
  expect(() => parseGlob('{a,b}'.repeat(6))).not.toThrow();
});

test('every pattern comes to an end, also those that other matchers never finish', () => {
  expect(named(`${'*a'.repeat(2_000)}b`, 'a'.repeat(255))).toBe(false);
  expect(named(`${'**/a/'.repeat(800)}b`, Array.from({ length: 64 }, () => 'a').join('/'))).toBe(false);
  expect(named(`${'{a,*a}'.repeat(6)}b`, 'a'.repeat(255))).toBe(false);
  expect(matches('*a'.repeat(127), 'a'.repeat(255))).toBe(true);
});

test('a pattern of one name means what the same regular expression means', () => {
  const piece = fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[!a]', '+', '(');
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 8 }),
      fc.string({ unit: fc.constantFrom('a', 'b', '.', '+', '(', 'c'), minLength: 1, maxLength: 8 }),
      (pieces, name) => {
        fc.pre(
          pieces.join('') !== '.' &&
            pieces.join('') !== '..' &&
            name !== '.' &&
            name !== '..' &&
            pieces.join('') !== '**',
        );
        const source = pieces
          .map((one) =>
            one === '*'
              ? '.*'
              : one === '?'
                ? '.'
                : one.startsWith('[')
                  ? one.replace('!', '^')
                  : `\\${one}`.replace(/\\([ab])/, '$1'),
          )
          .join('');
        expect(named(pieces.join(''), name, true)).toBe(new RegExp(`^${source}$`).test(name));
      },
    ),
    { numRuns: 1_000 },
  );
});

test('rules of .gitignore: the last one decides, ! takes back, / binds', () => {
  const rules = new IgnoreRules(
    '# comment\n*.log\n!keep.log\n/only-here\nbuild/\ndocs/*.txt\n\\#odd\nspace\\ \n\n[\n**/deep/x\n',
  );
  const said = (path: string, directory = false) => rules.ignores(path.split('/'), directory);
  expect([said('a.log'), said('d/a.log'), said('d/keep.log')]).toEqual([true, true, false]);
  expect([said('only-here'), said('d/only-here')]).toEqual([true, undefined]);
  expect([said('build', true), said('d/build', true), said('build')]).toEqual([true, true, undefined]);
  expect([said('docs/a.txt'), said('docs/d/a.txt'), said('d/docs/a.txt')]).toEqual([true, undefined, undefined]);
  expect([said('#odd'), said('comment'), said('a/b/deep/x'), said('.hidden.log')]).toEqual([
    true,
    undefined,
    true,
    true,
  ]);
});

test('a name is excepted in every spelling that a directory which folds case would open it by', () => {
  const spellings = ['.env', '.ENV', '.Env', '.e\u200dnv', '.e\u00adNV', '.\ufeffenv'];
  for (const name of spellings) expect(namedBy(['.env'], name)).toBe(true);
  expect(namedBy(['*.PEM'], 'key.pem')).toBe(true);
  expect(namedBy(['caf\u00e9'], 'CAFE\u0301')).toBe(true);
  expect(namedBy(['stra\u00dfe'], 'STRASSE')).toBe(true);
  expect(namedBy(['\u03c3'], '\u03c2')).toBe(true);
  expect(namedBy(['k'], '\u212a')).toBe(true);
  expect(namedBy(['.env'], '.envy') || namedBy(['.env'], 'env') || namedBy([], '.env')).toBe(false);
});
