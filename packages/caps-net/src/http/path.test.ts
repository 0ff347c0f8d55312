/** Paths: the attacker is a holder who wants out of the prefix, with servers that decode in any way. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { prefixText, resolvePath, takePrefix } from './path.ts';

const prefix = takePrefix('/repos/acme/app');
const sent = (path: unknown): string => {
  try {
    return resolvePath(prefix, path).text;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test('a path in the prefix is sent in one spelling', () => {
  const same = { '': '/repos/acme/app', '/repos/acme/app': '/repos/acme/app', '/repos/acme/app/': '/repos/acme/app/' };
  for (const [path, text] of Object.entries(same)) expect([path, sent(path)]).toEqual([path, text]);
  expect(sent('issues?state=open&q=a b')).toBe('/repos/acme/app/issues?state=open&q=a%20b');
  expect(sent('/repos/%61cme/a%70p/x')).toBe('/repos/acme/app/x');
  expect(sent('ü/é%20x')).toBe('/repos/acme/app/%C3%BC/%C3%A9%20x');
  expect(sent('a;v=1/b:c/@d')).toBe('/repos/acme/app/a;v=1/b:c/@d');
  expect(sent('100%25')).toBe('/repos/acme/app/100%25');
  expect(sent('.well-known/..a/a..b/...x')).toBe('/repos/acme/app/.well-known/..a/a..b/...x');
  expect(sent('x?next=../..//y')).toBe('/repos/acme/app/x?next=../..//y');
});

/** Each would be outside, or be read as outside by some server. */
const OUT = [
  ...[
    '/',
    '/repos',
    '/repos/acme',
    '/repos/acme/app-evil',
    '/repos/acme/apps',
    '/repos/acme/app%2Devil',
    '/REPOS/acme/app',
  ],
  ...[
    '..',
    '../x',
    'x/../../y',
    '.',
    './x',
    'x/.',
    '/repos/acme/app/..',
    '/repos/acme/app/../app-evil',
    '...',
    'x/..../y',
  ],
  ...[
    '%2e%2e',
    '%2e%2e/x',
    '.%2e/x',
    '%2E./x',
    '%252e%252e/x',
    '%25252e%25252e/x',
    '%2525252525252e/x',
    '%%32%65%%32%65',
  ],
  ...[
    '..;/x',
    '..;a=b/x',
    '%2e%2e;/x',
    '..%3b/x',
    '.;/x',
    ';/x',
    '..%20/x',
    '.. /x',
    ' ../x',
    '. ./x',
    '..%09/x',
    '..%00/x',
  ],
  ...[
    '//evil.example/x',
    '/repos//acme/app',
    '/repos/acme/app//x',
    'a//b',
    '//',
    '///repos/acme/app',
    '/\\evil.example',
  ],
  ...[
    '..\\x',
    '\\..\\x',
    'a\\b',
    'a%5cb',
    '%5c..%5cx',
    'a%255cb',
    'a%2fb',
    '..%2fx',
    '%2f..%2fx',
    'a%252fb',
    '..%252f',
    '%2e%2e%2f',
  ],
  ...[
    '%c0%ae%c0%ae/x',
    '%c0%af',
    '%e0%80%af',
    '%u002e%u002e/x',
    '%u2215x',
    '．．/x',
    '%ef%bc%8e%ef%bc%8e/x',
    '‥/x',
    'a／b',
    'a＼b',
  ],
  ...[
    'a%e2%88%95b',
    'a%e2%81%84b',
    '.\u200b./x',
    '\u00ad..',
    '..\u2060',
    'a\nb',
    'a%0ab',
    'a%0d%0aX: y',
    'a\tb',
    'a\0b',
    'a%7fb',
  ],
  ...[
    'a#b',
    '#',
    '%',
    '%2',
    '%zz',
    '%ff',
    '%ed%a0%80',
    'x?a#b',
    'x?a\nb',
    'http://evil.example/',
    'http:/evil.example/..',
  ],
];

test(`none of ${OUT.length} paths leaves the prefix`, () => {
  for (const path of OUT) {
    const text = sent(path);
    expect([path, text.startsWith('/repos/acme/app/http:/') ? 'E_PATH' : text]).toEqual([path, 'E_PATH']);
  }
  for (const path of [undefined, null, 7, {}, ['x'], '\ud800']) expect(sent(path)).toBe('invalid');
  expect(sent('x'.repeat(9_000))).toBe('limit');
});

test('whatever is sent, a URL parser and three decodings find it in the prefix', () => {
  const unit = fc.constantFrom(
    ...['.', '/', '\\', '%2e', '%2f', '%25', '%5c', ';', 'a', '?', '..', '%', '．', ' ', 'ü', '\u200b', 'app'],
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 14 }), fc.boolean(), (rest, absolute) => {
      const text = sent(absolute ? `/repos/acme/app${rest}` : rest);
      if (!text.startsWith('/')) return;
      expect(new URL(text, 'http://a.example').pathname).toMatch(/^\/repos\/acme\/app(?:\/|$)/);
      let [path = ''] = text.split('?');
      for (let depth = 0; depth < 3; depth += 1) {
        const { pathname, host } = new URL(`http://a.example${path.normalize('NFKC').replaceAll('\\', '/')}`);
        expect([host, /^\/repos\/acme\/app(?:\/|$)/.test(pathname)]).toEqual(['a.example', true]);
        try {
          path = decodeURIComponent(path);
        } catch {
          return;
        }
      }
    }),
    { numRuns: 1_000 },
  );
});

test('a prefix is absolute, and has no query', () => {
  expect(prefixText(takePrefix('/v1/'))).toBe('/v1');
  expect(prefixText(takePrefix('/'))).toBe('/');
  for (const bad of ['v1', '', '/a?b', '/a/../b', '//a', '/a%2fb', '/a#b'])
    expect(() => takePrefix(bad), bad).toThrow(expect.objectContaining({ code: 'E_PATH' }));
});
