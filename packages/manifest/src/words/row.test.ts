/** Rows of argv: the calls they take, and the tricks that they do not. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { REVIEWED } from './flags.ts';
import { isReadingRow, readRow, takes, type Word } from './row.ts';
import { splitWords } from './split.ts';

const known = { flags: new Set([...Object.keys(REVIEWED), 'mine']), caps: new Set(['src']) };
const flags = { ...REVIEWED, mine: ['--ok', '--name={text}', '-x{n}'] };
const isBeneath = (cap: string, path: string): boolean => cap === 'src' && /^src\/[^.]/.test(path);

function row(...words: readonly string[]): readonly Word[] {
  const read = readRow(words, known);
  if ('wrong' in read) throw new Error(read.wrong);
  return read.words;
}
const runs = (words: readonly Word[], line: string): boolean =>
  takes(words, splitWords(line) ?? [], { flags, isBeneath });

test('a row takes the calls that it describes and no other', () => {
  const git = row('status|log|diff|show', 'flags(git.read)');
  for (const line of ['log', 'log -5', 'log --oneline --author=me -n3', 'status -s'])
    expect([line, runs(git, line)]).toEqual([line, true]);
  for (const line of [
    'push',
    'log HEAD',
    'diff --output=/tmp/x',
    'log --ext-diff',
    'log -',
    'log --',
    '',
    'log -5x',
    'log --max-count=',
    'log --exec=sh',
    'Log',
    '-C d log',
    '-c core.pager=x log',
  ])
    expect([line, runs(git, line)]).toEqual([line, false]);
  const push = row('push', 'origin', 'ref');
  for (const line of ['push origin main', 'push origin feature/a-b', 'push origin v1.0'])
    expect([line, runs(push, line)]).toEqual([line, true]);
  for (const line of [
    'push origin +main',
    'push origin a:b',
    'push origin -f',
    'push origin',
    'push origin main x',
    'push origin ..',
    'push other main',
    'push origin :main',
    'push origin ""',
  ])
    expect([line, runs(push, line)]).toEqual([line, false]);
  expect(runs(row('add', 'path(src)'), 'add src/a.ts')).toBe(true);
  expect(runs(row('add', 'path(src)'), 'add ../etc')).toBe(false);
  expect(runs(row('commit', '--no-verify', '-m', 'text'), 'commit --no-verify -m "a text"')).toBe(true);
  expect(runs(row('commit', '--no-verify', '-m', 'text'), 'commit -m "a text"')).toBe(false);
  expect(runs(row('say', 'rest'), 'say a b c')).toBe(true);
  expect(runs(row('say', 'rest'), 'say a -b')).toBe(false);
  expect(runs(row('say', '=text'), 'say text')).toBe(true);
  expect(runs(row('say', '=text'), 'say other')).toBe(false);
});

test('a row without words takes the call without arguments, and no other', () => {
  const none = row();
  expect(takes(none, [], { flags, isBeneath })).toBe(true);
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), (args) => {
      expect(takes(none, args, { flags, isBeneath: () => true })).toBe(false);
    }),
  );
  // The program reads if it was reviewed and has no verbs; git without a verb was not reviewed.
  expect([isReadingRow('ls', none), isReadingRow('git', none), isReadingRow('make', none)]).toEqual([
    true,
    false,
    false,
  ]);
});

test.for([
  [['-C', 'text'], 'begins with its verb'],
  [['text'], 'begins with its verb'],
  [['a|-b'], 'begins with its verb'],
  [['a', 'rest', 'b'], 'rest takes all'],
  [['a', 'flags(nosuch)'], 'no flag set'],
  [['a', 'path(nosuch)'], 'no directory cap'],
  [['a', '*'], 'not a word'],
  [['a', 'b c'], 'not a word'],
  [['a', '$(x)'], 'not a word'],
  [['a', 'b||c'], 'not a word'],
  [['a', '=='.slice(1)], 'not a word'],
] as const)('%s is no row', ([words, said]) => {
  expect(readRow(words, known)).toMatchObject({ wrong: expect.stringContaining(said) });
});

test('no value that begins with - is taken where a value stands', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('text', 'ref', 'rest', 'path(src)'), (value, word) => {
      expect(takes(row('verb', word), ['verb', `-${value}`], { flags, isBeneath: () => true })).toBe(false);
    }),
  );
});

test('a ref never has + or :', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.constantFrom('+', ':'), (a, b, sign) => {
      expect(takes(row('push', 'ref'), ['push', a + sign + b], { flags, isBeneath })).toBe(false);
    }),
  );
});

test('words are split by spaces outside quotes, and nothing is expanded', () => {
  expect(splitWords(`a  "b c" 'd "e'f g""h $X * ;`)).toEqual(['a', 'b c', 'd "ef', 'gh', '$X', '*', ';']);
  expect(splitWords('""')).toEqual(['']);
  expect(splitWords('a "b')).toBeUndefined();
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[^"']*$/)), (words) => {
      expect(splitWords(words.map((word) => `"${word}"`).join(' '))).toEqual(words);
    }),
  );
});

test('the work of a row grows with words times arguments', () => {
  const many = row('a', ...Array.from({ length: 40 }, () => 'flags(mine)'), 'end');
  expect(takes(many, ['a', ...Array.from({ length: 400 }, () => '--ok')], { flags, isBeneath })).toBe(false);
});
