/**
 * The words of others, as a person is shown them: nothing that cannot be seen, nothing that passes for
 * something else unmentioned.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../../test/any-character.ts';
import { escaped, flagsOf, quoted, safeLines, safeText } from './safe-text.ts';

// Said in another way than the source does, so that both would have to be wrong.
const ranges = [
  [0, 0x1f], [0x7f, 0xa0], [0xad, 0xad], [0x34f, 0x34f], [0x61c, 0x61c], [0x115f, 0x1160], [0x1680, 0x1680], [0x17b4, 0x17b5],
  [0x180b, 0x180f], [0x2000, 0x200f], [0x2028, 0x202f], [0x205f, 0x206f], [0x2800, 0x2800], [0x3000, 0x3000], [0x3164, 0x3164],
  [0xd800, 0xf8ff], [0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xffa0, 0xffa0], [0xfff0, 0xfffb], [0x1bca0, 0x1bca3], [0x1d173, 0x1d17a],
  [0xe0000, 0x10ffff],
] as const; // biome-ignore format: as a table
const inClass = ranges.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join('');
const mayNotBeSeen = new RegExp(`[${inClass}]|\\p{Cs}|\\p{Co}|\\p{Cn}`, 'u');

const nasty = fc.constantFrom(
  '\u202e', '\u2066', '\u200b', '\u200d', '\ufeff', '\u0000', '\u001b', '\u0085', '\u009b', '\n', '\r', '\t', '\u00a0', '\u3000', '\u2028', '\u00ad', '\u034f', '\ufe0f', '\u{e0041}', '\u{e0100}', '\u3164', '\u2800', '\ud800', '\udfff', '\u0301', '\u0e31', '⟦', '⟧', 'U+202E', 'а', 'a', ' ',
); // biome-ignore format: one line
const anyText = fc
  .array(fc.oneof(nasty, fc.string({ unit: anyCharacter, maxLength: 3 }), fc.string({ unit: 'grapheme', maxLength: 3 })), { maxLength: 30 })
  .map((parts) => parts.join('')); // biome-ignore format: one line

test('for any text, the output has no control character, direction mark, zero-width character, odd space or half a character', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, longest) => {
      const { text: shown, flags } = safeText(text, longest);
      for (const said of [escaped(text), shown, ...flags]) {
        expect(said).not.toMatch(mayNotBeSeen);
        expect(said.isWellFormed()).toBe(true);
        // No pile of marks, none on what is ours.
        expect(said).not.toMatch(/\p{M}{3}|^\p{M}|[⟦⟧]\p{M}/u);
      }
    }),
    { numRuns: 2000 },
  );
});

test('every character of Unicode is shown as itself or by its number', () => {
  for (let from = 0; from <= 0x10ffff; from += 0x800) {
    const some = Array.from({ length: 0x800 }, (_, n) => `x${String.fromCodePoint(from + n)}`).join('');
    const through = mayNotBeSeen.exec(escaped(some));
    if (through !== null) expect.fail(`U+${through[0].codePointAt(0)?.toString(16)} is let through`);
  }
});

test('different texts are shown differently, and no typed text looks like an escape of ours', () => {
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      if (one.toWellFormed() !== one || other.toWellFormed() !== other) return;
      expect(escaped(one) === escaped(other)).toBe(one === other);
    }),
    { numRuns: 2000 },
  );
  expect(escaped('⟦U+202E⟧')).toBe('⟦U+27E6⟧U+202E⟦U+27E7⟧');
  expect(escaped('\u202e')).toBe('⟦U+202E⟧');
});

test('attack: no text imitates our brackets or closes our quotes with characters that look like them', () => {
  const imitations = [0x27e6, 0x27e7, 0x301a, 0x301b, 0x201c, 0x201d, 0x201f, 0x275d, 0x275e, 0x301d, 0x301e, 0x2033, 0x2036, 0x2ba, 0x2ee, 0x2dd, 0x2f6, 0xff02, 0x1f676, 0x1f677]; // biome-ignore format: one line
  for (const code of imitations) {
    const char = String.fromCodePoint(code);
    expect(escaped(`a${char}b`)).toBe(`a⟦U+${code.toString(16).toUpperCase().padStart(4, '0')}⟧b`);
  }
  expect(escaped('\u301aU+202E\u301b')).not.toBe('\u301aU+202E\u301b');
  // Two single quotes look like a double one. One alone is an apostrophe.
  for (const single of '‘’‛❛❜′‵ʹʼʻʽˈˊ´＇') expect(escaped(`typo${single}${single}`)).toMatch(/^typo.⟦U\+[0-9A-F]{4}⟧$/);
  expect(escaped('typo’’ it’s ‘fine’')).toBe('typo’⟦U+2019⟧ it’s ‘fine’');
  expect(quoted('to fix a typo\u275e (the host has checked it) \u275d', 500)).toMatch(/^“[^\u275d\u275e]*”$/);
});

test('a text that is cut says so and how much is missing; it is never cut in the middle of a character', () => {
  expect(safeText('x'.repeat(501), 500).text).toBe(`${'x'.repeat(500)} ⟦cut: 1 more characters⟧`);
  expect(safeText('x'.repeat(500), 500).text).toBe('x'.repeat(500));
  const smile = safeText(`${'x'.repeat(9)}😀😀`, 10).text;
  expect(smile).toBe(`${'x'.repeat(9)} ⟦cut: 4 more characters⟧`);
  // Text that is not shown is still checked.
  expect(safeText(`${'x'.repeat(500)}\u202e`, 500).flags).toEqual([
    'it has characters that change the direction of text',
  ]);
});

test.each([
  ['pаypal', /mixes Latin and Cyrillic letters: U\+0430 looks like a/],
  ['аррӏе', /made of letters that look like Latin ones/],
  ['Привет, аррӏе', /made of letters/],
  ['Αpple', /mixes Latin and Greek/],
  ['ＲＵＮ', /in disguise: it reads “RUN”/],
  ['𝗿𝗺 -rf', /in disguise: it reads “rm”/],
  ['ɡit push', /U\+0261 looks like g/],
  ['fi\u200ble', /not seen/],
  ['a\u202etxt.exe', /direction/],
  ['\u{e0041}\u{e0042}', /not seen/],
  ['\u212aey', /looks like “Key”, which is written with other characters/],
  ['cafe\u0301.txt', /looks like “café”/],
  ['https://good.example\u2215x@other.example', /U\+2215 looks like \//],
  ['good\u2024example', /U\+2024 looks like \./],
  ['https\ua789//good.example', /U\+A789 looks like :/],
  ['a\u037e rm b', /U\+037E looks like ;/],
  ['good\u3002example', /U\+3002 looks like \./],
  ['alice\uff20good.example', /U\+FF20 looks like @/],
  ['rm \u2212rf', /U\+2212 looks like -/],
])('flagged: %j', (text, what) => expect(flagsOf(text).join('; ')).toMatch(what));

test.each([
  'plain words, with “quotes” — and numbers 123',
  'pages 3–5, −5 °C, a well–known “it’s”… and l·l',
  '設定（config.yaml）は ASCII：です。hob。次へ！',
  'Привет, как дела у вас с утра',
  'Καλημέρα κόσμε',
  'naïve café, Straße, Łódź',
  'বা\u09dcি',
  '日本語のテキスト と ASCII',
  '한국어',
  'שלום',
  'line one\nline two\tand a tab',
  '😀 👍',
])('not flagged: %j', (text) => expect(flagsOf(text)).toEqual([]));

test('a text of nothing but odd words does not fill the screen with flags', () => {
  const flags = flagsOf(Array.from({ length: 3000 }, (_, n) => `pа${n}`).join(' '));
  expect(flags.length).toBe(6);
  expect(flags.at(-1)).toMatch(/^and \d+ more$/);
});

test('text of several lines keeps its lines and tabs, and each line is shown as escaped alone', () => {
  expect(safeLines('a\tb\u202e\r\nc\rd\n')).toBe('a\tb⟦U+202E⟧\nc⟦CR⟧d\n');
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: anyCharacter }).map((line) => line.replaceAll(/[\r\n\t]/g, ''))),
      (lines) => {
        expect(safeLines(lines.join('\n'))).toBe(lines.map(escaped).join('\n'));
      },
    ),
  );
});
