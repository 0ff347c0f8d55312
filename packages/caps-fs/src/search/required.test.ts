import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requiredText } from './required.ts';
import { compilePattern } from './scan.ts';

test('the required text is a plain part of the pattern; a pattern with a form that is not known has none', () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ['needle', 'needle'],
    ['a ne+dle', 'a ne'],
    ['^import .* from$', 'import '],
    ['colou?r', 'colo'],
    ['word\\b\\.tsx?$', 'word'],
    ['f\\(x\\)\\?', 'f(x)?'],
    ['(abc|def)ghij{2}', 'ghi'],
    ['(?:abcdef)*xyz', 'xyz'],
    ['[abc]+tail', 'tail'],
    ['[^]abc]tail', 'tail'],
    ['[]abc[x\\]tail]more', undefined],
    ['[^]abc[x\\]tail]more', undefined],
    ['tail\u{1f600}*more', 'tail'],
    ['abc|def', undefined],
    ['(?i)needle', undefined],
    ['(?i:need)le and more', undefined],
    ['(?P<name>a)needle', undefined],
    ['\\Qa*b\\Eneedle', undefined],
    ['\\x{6e}eedle', undefined],
    ['\\pLneedle', undefined],
    ['[[:alpha:]]needle', undefined],
    ['needle{', undefined],
    ['bad\ufffdbytes', undefined],
    ['n+e+', undefined],
    ['', undefined],
  ];
  for (const [pattern, text] of table) expect([pattern, requiredText(pattern)]).toEqual([pattern, text]);
});

test('whatever the pattern, each text that it matches contains the required text', () => {
  const parts = [
    'a',
    'b',
    'ab',
    'é',
    '\\.',
    '.',
    '.*',
    '*',
    '+',
    '?',
    '*?',
    '|',
    '(',
    '(?:',
    ')',
    '[ab]',
    '[^a]',
    '[]',
    '[^]',
    '[a\\]b]',
    '{2}',
  ];
  const more = [
    '{0,1}',
    '{0}',
    '{1,',
    '}',
    ']',
    '\\d',
    '\\b',
    '^',
    '$',
    '(?i)',
    '(?i:',
    '\\Q',
    '\\E',
    '\\x61',
    '\\n',
    '\n',
  ];
  const pattern = fc.array(fc.constantFrom(...parts, ...more), { maxLength: 8 }).map((all) => all.join(''));
  const text = fc
    .array(fc.constantFrom('a', 'b', 'A', 'é', '.', '1', '\n', '|'), { maxLength: 6 })
    .map((all) => all.join(''));
  let told = 0;
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 20, maxLength: 20 }), (given, texts) => {
      let compiled: ReturnType<typeof compilePattern>;
      try {
        compiled = compilePattern(given);
      } catch {
        return;
      }
      const required = requiredText(given, 1);
      if (required === undefined) return;
      for (const each of texts) {
        if (!compiled.test(each)) continue;
        told += 1;
        expect(each).toContain(required);
      }
    }),
    { numRuns: 4_000 },
  );
  expect(told).toBeGreaterThan(200);
});
