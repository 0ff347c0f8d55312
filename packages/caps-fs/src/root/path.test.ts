import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../../test/any-character.ts';
import { volume } from '../../../../test/depth.ts';
import { isTemporary, temporaryName } from '../base/names.ts';
import { parsePath } from './path.ts';

function codeOf(input: unknown): string {
  try {
    parsePath(input);
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const surrogate = '\ud800';
const refused: readonly (readonly [what: string, input: unknown, code: string])[] = [
  ['nothing', '', 'PATH_INVALID'],
  ['a String object', new String('a'), 'PATH_INVALID'],
  ['a list', ['a'], 'PATH_INVALID'],
  ['bytes', new Uint8Array([97]), 'PATH_INVALID'],
  ['a URL', new URL('file:///etc/passwd'), 'PATH_INVALID'],
  ['an object with toString', { toString: () => 'a' }, 'PATH_INVALID'],
  ['undefined', undefined, 'PATH_INVALID'],
  ['NUL', 'a\0b', 'PATH_INVALID'],
  ['a lone surrogate', `a${surrogate}`, 'PATH_INVALID'],
  ['4,097 bytes', `${'a/'.repeat(2048)}a`, 'PATH_INVALID'],
  ['4,098 bytes in 1,400 characters', 'ありが/'.repeat(410), 'PATH_INVALID'],
  ['a name of 256 bytes', 'a'.repeat(256), 'PATH_INVALID'],
  ['a name of 258 bytes in 86 characters', 'あ'.repeat(86), 'PATH_INVALID'],
  ['depth 129', 'a/'.repeat(129), 'PATH_INVALID'],
  ['a temporary of ours', '.~caps-0123456789abcdef', 'PATH_INVALID'],
  ['a temporary of ours as a directory', 'a/.~caps-0123456789abcdef/b', 'PATH_INVALID'],
  ['an absolute path', '/etc/passwd', 'PATH_ABSOLUTE'],
  ['an absolute path that escapes as well', '/../etc', 'PATH_ABSOLUTE'],
  ['the root of the host', '/', 'PATH_ABSOLUTE'],
  ['..', '..', 'PATH_ESCAPES'],
  ['../', '../', 'PATH_ESCAPES'],
  ['../x', '../../../etc/passwd', 'PATH_ESCAPES'],
  ['.. in the middle', 'a/../b', 'PATH_ESCAPES'],
  ['.. at the end', 'a/..', 'PATH_ESCAPES'],
  ['a/../..', 'a/../..', 'PATH_ESCAPES'],
  ['../..', '../..', 'PATH_ESCAPES'],
];

test.each(refused)('%s is refused before any I/O', (_what, input, code) => {
  expect(codeOf(input)).toBe(code);
});

test('names that are ordinary on Linux are ordinary here: nothing is decoded, folded or expanded', () => {
  for (const name of [
    '...',
    'x..',
    '..x',
    '~',
    '%2e%2e',
    '$HOME',
    'C:\\x',
    'a b',
    'a\nb',
    '__proto__',
    'constructor',
  ]) {
    expect(parsePath(name)).toEqual({ names: [name], directory: false });
  }
});

test('empty and . components go; a trailing / or /. asks for a directory', () => {
  expect(parsePath('.')).toEqual({ names: [], directory: true });
  expect(parsePath('./a//b/./c')).toEqual({ names: ['a', 'b', 'c'], directory: false });
  expect(parsePath('a/')).toEqual({ names: ['a'], directory: true });
  expect(parsePath('a/.')).toEqual({ names: ['a'], directory: true });
});

test('the seed texts are word for word', () => {
  expect(() => parsePath('../../../etc/passwd')).toThrow(/^path escapes$/);
  expect(() => parsePath('/etc/passwd')).toThrow(/^absolute paths forbidden$/);
});

test('for any string, no component climbs, is empty, hides a slash or is too long', () => {
  const piece = fc.oneof(
    fc.constantFrom('..', '.', '', '/', '\0', '.~caps-0123456789abcdef'),
    fc.string({ unit: anyCharacter }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const input = pieces.join('/');
      if (codeOf(input) !== 'ok') return;
      for (const name of parsePath(input).names) {
        expect(['', '.', '..']).not.toContain(name);
        expect(name).not.toMatch(/[/\0]/);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(Buffer.from(name).toString()).toBe(name);
        expect(isTemporary(name)).toBe(false);
      }
    }),
    { numRuns: volume(500, 2_000) },
  );
});

test('a path of ordinary names is read back as these names', () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .filter((s) => !/[/\0]/.test(s) && s !== '.' && s !== '..' && s.isWellFormed());
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 20 }), (names) => {
      expect(parsePath(names.join('/')).names).toEqual(names);
    }),
  );
});

test('a temporary has a name that no request may use', () => {
  const name = temporaryName((n) => new Uint8Array(n).fill(10));
  expect(name).toBe('.~caps-0a0a0a0a0a0a0a0a');
  expect(codeOf(name)).toBe('PATH_INVALID');
});
