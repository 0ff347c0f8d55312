/** Values of secrets in texts. The attacker is whoever gets one of them printed. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BLANK, blankerOf, formsOf } from './blank.ts';
import { wrongWithSecret } from './rules.ts';

const isTaken = (value: string): boolean => wrongWithSecret(value) === undefined;
const value = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 8, maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(...'ab/+=%"\\ \n&é😀'), minLength: 8, maxLength: 40 }),
    fc.base64String({ minLength: 8, maxLength: 60 }),
  )
  .filter(isTaken);
const values = fc.array(value, { minLength: 1, maxLength: 3 });

/** The likely ways in which a program prints a value. */
const printed: readonly ((value: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify({ token: text }),
  (text) => `https://x.example/?t=${encodeURIComponent(text)}&u=1`,
  (text) => new URLSearchParams({ token: text }).toString(),
  (text) => Buffer.from(text).toString('base64'),
  (text) => `Basic ${Buffer.from(`user:${text}`).toString('base64')}`,
  (text) => Buffer.from(`ab${text}cd`).toString('base64url'),
  (text) => Buffer.from(text).toString('hex'),
];

test('a value is in no blanked text: raw, in JSON, URL-encoded, in base64 at any place of a longer text, in hex', () => {
  fc.assert(
    fc.property(
      values,
      fc.array(fc.tuple(fc.nat(), fc.nat(), fc.string({ maxLength: 12 })), { maxLength: 6 }),
      (secrets, parts) => {
        const text = parts.map(([which, how, between]) => between + (printed[how % printed.length] as (text: string) => string)(secrets[which % secrets.length] as string)).join(''); // biome-ignore format: one line
        const out = blankerOf(secrets).text(text);
        for (const secret of secrets) for (const form of formsOf(secret)) expect(out.includes(form)).toBe(false);
        if (parts.length > 0) expect(out).toContain(BLANK);
      },
    ),
  );
});

test('every way of printing is blanked by itself', () => {
  const secret = 'p4ss/w+rd "ü" \\ & 100%';
  for (const print of printed) expect(blankerOf([secret]).text(`a ${print(secret)} b`)).toContain(BLANK);
  const key = `-----BEGIN-----\n${'A1b2'.repeat(16)}\n${'C3d4'.repeat(16)}\n-----END-----`;
  const out = blankerOf([key]).text(`first ${'C3d4'.repeat(16)} then ${key.replaceAll('\n', '\r\n')}`);
  expect(out).not.toMatch(/A1b2|C3d4/);
});

test('a text that comes in parts is blanked as if it came whole, wherever it is cut', () => {
  fc.assert(
    fc.property(
      values,
      fc.array(fc.oneof(fc.nat(20), fc.string({ maxLength: 10 })), { maxLength: 12 }),
      fc.array(fc.nat(400)),
      (secrets, made, cuts) => {
        const text = made.map((part) => (typeof part === 'string' ? part : (secrets[part % secrets.length] as string))).join(''); // biome-ignore format: one line
        const blanker = blankerOf(secrets);
        const stream = blanker.stream();
        let out = '';
        let at = 0;
        for (const to of [...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]) {
          out += stream.next(text.slice(at, to));
          at = to;
        }
        expect(out + stream.end()).toBe(blanker.text(text));
      },
    ),
  );
});

test('a text without a value stays as it is', () => {
  fc.assert(
    fc.property(values, fc.string({ maxLength: 200 }), (secrets, text) => {
      const out = blankerOf(secrets).text(text);
      if (!secrets.some((secret) => formsOf(secret).some((form) => text.includes(form)))) expect(out).toBe(text);
    }),
  );
});

test('values that overlap leave nothing of each other', () => {
  const [first, second] = ['abcdefghij', 'hijklmnopq'];
  expect(blankerOf([first, second]).text('xabcdefghijklmnopqy')).toBe(`x${BLANK}y`);
});

test('a value that could not be blanked is refused with its reason, and no part of it is told', () => {
  for (const bad of ['', 'short12', 'aaaaaaaaaaaa', 'x⟦yzabcdef', 'a'.repeat(9) + 'bcd'.repeat(9000), 'ab\0cdefgh'])
    expect(wrongWithSecret(bad), bad).toMatch(/^the value /);
  for (const bad of ['hunter2', 'hunt⟦er2']) expect(wrongWithSecret(bad)).not.toContain('hunt');
  expect(wrongWithSecret('hunter2hunter2')).toBe(undefined);
});
