/** Texts of manifests: what is read, and where each mistake stands. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineOf, parse } from '../index.ts';

const mistakesOf = (text: string): readonly string[] => parse({ file: 'hob.yaml', text }).mistakes.map(lineOf);

const GOOD = `
version: 1
roots: { project: "." }
session:
  caps:
    docs: { fs: project, can: [read, list], except: [".env*"] }
    git:  { command: git, cwd: project, argv: [[status, flags(git.read)]], uses: 5, for: 15m }
`;

test('a manifest is read as data', () => {
  expect(parse({ file: 'hob.yaml', text: GOOD }).manifest).toEqual({
    version: 1,
    roots: { project: '.' },
    session: {
      caps: {
        docs: { fs: 'project', can: ['read', 'list'], except: ['.env*'] },
        git: { command: 'git', cwd: 'project', argv: [['status', 'flags(git.read)']], uses: 5, for: '15m' },
      },
    },
  });
});

test.for([
  ['an anchor', 'a: &x 1', 1, 'anchors'],
  ['an alias', 'a: &x 1\nb: *x', 2, 'aliases'],
  ['a merge key', 'a:\n  <<: {b: 1}', 2, 'merge keys'],
  ['a tag', 'a: !!str 1', 1, 'tags'],
  ['a tag of its own', 'a: !run rm', 1, 'tags'],
  ['a directive', '%YAML 1.1\n---\na: 1', 1, 'directives'],
  ['a second document', 'version: 1\n---\nversion: 1', 2, 'second document'],
  ['a key twice', 'version: 1\nroots: {a: ".", a: ".."}', 2, 'twice'],
  ['a key twice at the top', 'version: 1\nversion: 1', 2, 'twice'],
  ['a key that is a list', '? [a, b]\n: 1', 1, 'a key has to be a text'],
  ['a number as key', '1: a', 1, 'a key has to be a text'],
  ['no YAML', 'a: [1', 1, 'a bracket is not closed'],
  ['a tab as indentation', 'a:\n\tb: 1', 2, 'indent with spaces'],
] as const)('%s is refused with its line', ([, text, line, said]) => {
  const { mistakes } = parse({ file: 'hob.yaml', text });
  expect(mistakes.map(lineOf).join('\n')).toContain(said);
  expect(mistakes.some((one) => one.line === line && `${one.wrong}${one.write}`.includes(said))).toBe(true);
});

test('size, lines and depth are judged before the parser runs', () => {
  for (const [text, said] of [
    [`a: ${'x'.repeat(256 * 1024)}`, '256 KiB'],
    [`a: ${'ä'.repeat(200 * 1024)}`, '256 KiB'],
    ['#\n'.repeat(10_001), '10,000 lines'],
    [`a: ${'['.repeat(40)}`, 'deep'],
    [`${'- '.repeat(5000)}x`, 'deep'],
    [Array.from({ length: 40 }, (_, n) => `${' '.repeat(n)}a:`).join('\n'), 'deep'],
    [`a: ${'{b: '.repeat(5000)}`, 'deep'],
  ] as const)
    expect(mistakesOf(text)).toEqual([expect.stringContaining(said)]);
  expect(mistakesOf(`version: 1 # ${'['.repeat(100)}`)).toEqual([]);
  // The depth stands between texts of several lines, whose brackets are none.
  expect(mistakesOf(`a: ${'[ "\n ]", '.repeat(40)}b${']'.repeat(40)}`)[0]).toContain('deep');
  expect(mistakesOf(`version: 1 # "${'['.repeat(100)}`)).toEqual([]);
});

test('no text costs much more than any other of its size', () => {
  const costOf = (text: string): number => {
    const before = performance.now();
    mistakesOf(text);
    return performance.now() - before;
  };
  const many = 60_000;
  const usual = `a: |\n${` ${'x'.repeat(18)}\n`.repeat(9000)}`;
  // The first time is that of a cold engine.
  costOf(usual);
  const plain = costOf(usual);
  for (const text of [
    `a: "${'\\"'.repeat(2 * many)}`,
    `a: '${"''".repeat(many)}`,
    `a: b${' #'.repeat(many)}\u2028`,
    '!a '.repeat(40_000),
  ]) {
    // A machine under load may stop for a while: one of three counts.
    let ratio = Number.POSITIVE_INFINITY;
    for (let tries = 0; ratio > 200 && tries < 3; tries += 1) ratio = costOf(text) / Math.max(plain, 10);
    expect([text.slice(0, 12), ratio < 200]).toEqual([text.slice(0, 12), true]);
  }
}, 400_000);

test.for([
  ['session: {cap: {}}', 'session.cap', 'did you mean caps?'],
  ['sesion: {}', 'sesion', 'did you mean session?'],
  ['session: {caps: {docs: {fs: project, can: [read], uzes: 3}}}', 'session.caps.docs.uzes', 'did you mean uses?'],
  ['session: {caps: {docs: {fs: project}}}', 'session.caps.docs.can', 'write for example [read, list]'],
  ['session: {caps: {git: {command: git}}}', 'session.caps.git.argv', 'write for example [[status]'],
  ['session: {caps: {gh: {http: "https://x.example/"}}}', 'session.caps.gh.methods', 'write for example [GET]'],
  ['session: {caps: {is: {mcp: linear}}}', 'session.caps.is.tools', 'write for example [get_issue]'],
  ['session: {caps: {docs: {fs: a, http: "https://x/"}}}', 'session.caps.docs', 'make a cap of each'],
  ['session: {caps: {docs: {}}}', 'session.caps.docs', 'write one of fs, command'],
  ['session: {caps: {docs: {fs: project, can: [reed]}}}', 'session.caps.docs.can[0]', 'write read'],
  ['session: {caps: {"a b": {fs: project, can: [read]}}}', 'session.caps.a b', 'letters, digits'],
  ['session: {deadline: 8}', 'session.deadline', '15m, 8h or 30d'],
  ['session: {deadline: 8 hours}', 'session.deadline', 'for example 15m'],
  ['session: {deadline: 367d}', 'session.deadline', 'between 1s and 366d'],
  ['session: {deadline: 0s}', 'session.deadline', 'between 1s and 366d'],
  ['session: {caps: {docs: {fs: project, can: [read], uses: 0}}}', 'session.caps.docs.uses', 'at least 1'],
  ['session: {caps: {docs: {fs: project, can: [read], uses: 1.5}}}', 'session.caps.docs.uses', 'uses: 5'],
  ['session: {caps: {docs: {fs: project, can: [read], until: 2030-02-31T9}}}', 'session.caps.docs.until', '2027-01-31'],
  ['session: {caps: {docs: {fs: project, can: [read], until: 2030-02-29}}}', 'session.caps.docs.until', '2027-01-31'],
  ['session: {mode: yolo}', 'session.mode', 'write plan'],
  ['session: {caps: {gh: {http: "https://api.example/repos", methods: [GET]}}}', 'session.caps.gh.http', 'ends in /'],
  ['session: {caps: {gh: {http: "https://u:p@api.example/", methods: [GET]}}}', 'session.caps.gh.http', 'ends in /'],
  ['judge: {may: [grant]}', 'judge.may[0]', 'write propose'],
  ['session: 3', 'session', 'write one with'],
  ['roots: [a]', 'roots', 'name: value'],
] as const)('%s: the mistake names its place and what to write', ([text, at, write]) => {
  const { mistakes } = parse({ file: 'hob.yaml', text: `version: 1\n${text}` });
  expect(mistakes.map((one) => `${one.line} ${one.at} ${one.wrong}; ${one.write}`)).toContainEqual(
    expect.stringContaining(write),
  );
  expect(mistakes.map((one) => one.at)).toContain(at);
  for (const one of mistakes) expect([one.line, one.file]).toEqual([2, 'hob.yaml']);
});

test('a mistake stands at the line and column of its value', () => {
  const text = 'version: 1\nsession:\n  caps:\n    docs:\n      fs: project\n      can: [read, reed]\n';
  expect(mistakesOf(text)).toEqual([expect.stringMatching(/^hob\.yaml:6:19: session\.caps\.docs\.can\[1\]: /)]);
});

test('a manifest without its version is told so', () => {
  expect(mistakesOf('session: {}')).toEqual([
    'hob.yaml:1:1: version: version is missing; write version: 1 in the first line',
  ]);
  for (const text of ['', '# nothing', '3', '[]', 'null', '"text"'])
    expect(mistakesOf(text), text).toEqual([expect.stringMatching(/^hob\.yaml:1:1: /)]);
});

test('keys are looked at once each, and 20,000 of them are refused before the parser runs', () => {
  const keys = Array.from({ length: 240 }, (_, n) => `  k${n}: ["-a"]`).join('\n');
  expect(mistakesOf(`version: 1\nflags:\n${keys}\n  k77: ["-a"]`)).toEqual([
    expect.stringContaining('"k77" stands here twice'),
  ]);
  const many = Array.from({ length: 20_000 }, (_, n) => `k${n}: 1`).join(', ');
  expect(mistakesOf(`version: 1\nflags: {${many}}`)).toEqual([expect.stringContaining('2,000 entries')]);
});

test('no text makes it throw, and no message holds a control character', () => {
  const signs = fc.constantFrom(
    'a',
    ':',
    ' ',
    '\n',
    '-',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '&',
    '*',
    '!',
    '|',
    '>',
    '#',
    '%',
    '\t',
    '\0',
    '\u202e',
    '\u001b',
    '1',
    '.',
    '?',
    ',',
    '<<',
  );
  const parts = fc.constantFrom(
    'version: 1\n',
    'session:\n',
    '  caps:\n',
    '    docs: {fs: project}\n',
    '__proto__: {a: 1}\n',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(signs, parts), { maxLength: 60 }), (all) => {
      for (const line of mistakesOf(all.join(''))) expect(line).toMatch(/^[\P{C}]*$/u);
    }),
  );
});

test('a key named __proto__ is a mistake like another, and changes no object', () => {
  expect(mistakesOf('version: 1\n__proto__: {polluted: true}').length).toBeGreaterThan(0);
  expect(mistakesOf('version: 1\nroots: {__proto__: {polluted: true}}').length).toBeGreaterThan(0);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});
