/** The faster way of writing JSON gives the same text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../../../test/any-character.ts';
import { jsonOfJson, longText, toJson } from './quoted.ts';

const letters = fc.constantFrom(
  'a',
  '/',
  '=',
  '"',
  '\\',
  '\n',
  '\u0000',
  '\u007f',
  'é',
  '\u2028',
  '😀',
  '\ud800',
  '\udc00',
);
/** A long text that is plain but for some letters, at any place. */
const text = fc
  .tuple(
    fc.integer({ min: longText - 2, max: longText + 2 }),
    fc.array(fc.tuple(fc.nat(longText), letters), { maxLength: 3 }),
  )
  .map(([length, odd]) => {
    let made = 'x'.repeat(length);
    for (const [at, letter] of odd) made = made.slice(0, at) + letter + made.slice(at);
    return made;
  });
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    text,
    fc.oneof(fc.string({ unit: anyCharacter }), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 10 }),
    fc.dictionary(
      fc.oneof(fc.string({ unit: anyCharacter }), text, fc.constantFrom('1', '__proto__', 'toJSON')),
      tie('value'),
      {
        maxKeys: 10,
      },
    ),
  ),
}));

test('letter for letter what JSON.stringify writes, also as a text within JSON', () => {
  fc.assert(
    fc.property(value, (data) => {
      const json = JSON.stringify(data);
      expect(toJson(data)).toBe(json);
      expect(jsonOfJson(toJson(data))).toBe(JSON.stringify(json));
    }),
    { numRuns: 400 },
  );
});

test.each(['"', '\\', '\n', '\u0000', '\u001f', '\ud800', '\udc00'])(
  '%j at the end of a long text is seen',
  (letter) => {
    const long = `${'x'.repeat(5000)}${letter}`;
    expect(toJson(long)).toBe(JSON.stringify(long));
    expect(toJson([{ long }])).toBe(JSON.stringify([{ long }]));
    expect(jsonOfJson(toJson([{ long }]))).toBe(JSON.stringify(JSON.stringify([{ long }])));
  },
);

test('many quotes, or a backslash behind the first of them, are no hindrance', () => {
  for (const data of [Array(1000).fill('"x"'), ['x'.repeat(2000), '\\'], Array(200).fill('x'.repeat(30))])
    expect(jsonOfJson(JSON.stringify(data))).toBe(JSON.stringify(JSON.stringify(data)));
});
