import fc from 'fast-check';
import picomatch from 'picomatch';
import { expect, test } from 'vitest';
import { volume } from '../../../../test/depth.ts';
import { matches, namedBy } from '../base/names.ts';
import { GlobError, parseGlob } from './glob.ts';
import { StepBudget, TooMuch } from './step-budget.ts';

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
  ['[[:digit:]_]x', '7x', true],
  ['[![:upper:]]', 'a', true],
  ['[[:upper:]]', 'a', false],
  ['[a\\]b]', ']', true],
  ['\\!a', '!a', true],
  ['x\\(1)', 'x(1)', true],
  ['(a)', '(a)', true],
] as const)('%s names %s: %s', (pattern, path, expected) => {
  expect(named(pattern, path)).toBe(expected);
});

test('a malformed pattern is refused; braces cannot make more than 64 patterns of one', () => {
  for (const bad of ['', '/', '.', '..', 'a/../b', '{a,b}'.repeat(7), `{${'x,'.repeat(64)}}`]) {
    expect(() => parseGlob(bad), bad).toThrow(GlobError);
  }
  expect(() => parseGlob('{a,b}'.repeat(6))).not.toThrow();
});

test.each([
  ['*.@(js|ts)', /^a pattern has no lists in parentheses: write \{a,b\}/],
  ['!(a)', /^a pattern cannot exclude/],
  ['a+(b)', /no lists in parentheses/],
  ['b?(c', /no lists in parentheses/],
  ['{+(,a}', /no lists in parentheses/],
  ['{1..3}', /^a pattern has no ranges in braces: write \{1,2,3\}/],
  ['x{a..z}', /no ranges in braces/],
  ['!*.log', /^a pattern cannot exclude: write \\! /],
  ['[[:word:]]', /^a class in brackets is one of POSIX/],
  ['[['.repeat(9), /^a pattern has at most 16 brackets without their end/],
])('%s is refused by name and not taken for something else', (pattern, why) => {
  expect(() => parseGlob(pattern)).toThrow(GlobError);
  expect(() => parseGlob(pattern)).toThrow(why);
});

test('a pattern that is accepted means what it means to picomatch', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    '.',
    'A',
    '7',
    '*',
    '?',
    '[ab]',
    '[!a]',
    '[a-c]',
    '[[:alpha:]]',
    '\\*',
    '{a,b}',
  );
  const segment = fc.oneof(
    { weight: 1, arbitrary: fc.constant('**') },
    { weight: 3, arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')) },
  );
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '.', 'A', '7', '*'), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/')),
      fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/')),
      (pattern, path) => {
        // No name of an entry, and no pattern of one.
        fc.pre(!/(?:^|\/)\.{1,2}(?:\/|$)/.test(path) && !/(?:^|\/)\.+(?:\/|$)/.test(pattern));
        // To picomatch `a/**` is also `a`, but `*/**` is only what is in it. To us both are.
        fc.pre(!/[*?[{].*\/\*\*$/.test(pattern));
        // To picomatch a set may be the dot that hides a name. To POSIX and us it is not.
        fc.pre(!(pattern.includes('[') && /(?:^|\/)\./.test(path)));
        expect(named(pattern, path)).toBe(picomatch(pattern, { posix: true })(path));
      },
    ),
    { numRuns: volume(1_000, 5_000) },
  );
});

test('every pattern comes to an end, also those that other matchers never finish', () => {
  expect(named(`${'*a'.repeat(2_000)}b`, 'a'.repeat(255))).toBe(false);
  expect(named(`${'**/a/'.repeat(800)}b`, Array.from({ length: 64 }, () => 'a').join('/'))).toBe(false);
  expect(named(`${'{a,*a}'.repeat(6)}b`, 'a'.repeat(255))).toBe(false);
  expect(matches('*a'.repeat(127), 'a'.repeat(255))).toBe(true);
});

test('a pattern that an attacker wrote takes steps in proportion to pattern times name', () => {
  const name = 'a'.repeat(255);
  const path = Array.from({ length: 64 }, () => name);
  for (const pattern of [
    '*a'.repeat(100),
    `${'*a'.repeat(100)}b`,
    `${'**/*a*/'.repeat(100)}b`,
    `*[${'b-c'.repeat(60)}]`,
    `${'?'.repeat(254)}*b`,
  ]) {
    const steps = pattern.length * (path.length * name.length);
    const budget = new StepBudget(steps);
    expect(() => walked(pattern, path, budget), pattern).not.toThrow();
    // The steps are counted: with far fewer it is stopped.
    expect(() => walked(pattern, path, new StepBudget(2 * pattern.length)), pattern).toThrow(TooMuch);
  }
});

function walked(pattern: string, path: readonly string[], budget: StepBudget): void {
  const glob = parseGlob(pattern, { budget });
  let state = glob.start;
  for (const name of path) state = glob.step(state, name);
}

test('a pattern of one name means what the same regular expression means', () => {
  const piece = fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[!a]', '+', '(');
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 8 }),
      fc.string({ unit: fc.constantFrom('a', 'b', '.', '+', '(', 'c'), minLength: 1, maxLength: 8 }),
      (pieces, name) => {
        fc.pre(
          // A list in parentheses is refused.
          !/[+*?]\(/.test(pieces.join('')) &&
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
    { numRuns: volume(300, 1_000) },
  );
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
