/** Secrets in streams of bytes. The oracle is the blanking of whole texts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BLANK, blankerOf, formsOf } from './blank.ts';
import { BlankStream, blankBytes } from './blank-stream.ts';
import { FormTable } from './form-table.ts';
import { wrongWithSecret } from './rules.ts';
import { makeSecret } from './secret.ts';

const value = fc
  .oneof(
    fc.string({ unit: fc.constantFrom(...'ab/+=%"\\ \n&'), minLength: 8, maxLength: 20 }),
    fc.base64String({ minLength: 8, maxLength: 40 }),
  )
  .filter((text) => wrongWithSecret(text) === undefined);
const values = fc.array(value, { minLength: 1, maxLength: 3 });
/** Forms, beginnings of forms and other text, in any order. */
const pieces = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.string({ maxLength: 6, unit: fc.constantFrom(...'ab/% ') })), {
  maxLength: 8,
}); // biome-ignore format: one line

test('bytes in parts are blanked as a whole text is, wherever they are cut', () => {
  fc.assert(
    fc.property(values, pieces, fc.array(fc.nat(500)), (secrets, made, cuts) => {
      const forms = secrets.flatMap(formsOf);
      const text = made
        .map(([which, length, keep, other]) => {
          const form = forms[which % forms.length] as string;
          return (keep % 3 === 0 ? form.slice(0, length % form.length) : form) + other;
        })
        .join('');
      const bytes = Buffer.from(text);
      const stream = new BlankStream(() => new FormTable(secrets));
      const out: Buffer[] = [];
      let at = 0;
      for (const to of [...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]) {
        out.push(stream.next(bytes.subarray(at, to)));
        at = to;
      }
      out.push(stream.end());
      expect(Buffer.concat(out).toString()).toBe(blankerOf(secrets).text(text));
    }),
    { numRuns: 60 },
  );
});

test('nothing is kept back that is not the beginning of a value', () => {
  const stream = new BlankStream(() => new FormTable(['s3cret-token-value']));
  expect(stream.next(Buffer.from('data: hello\n\n')).toString()).toBe('data: hello\n\n');
  expect(stream.next(Buffer.from('data: s3cr')).toString()).toBe('data: ');
  expect(stream.next(Buffer.from('ewdriver\n\n')).toString()).toBe('s3crewdriver\n\n');
});

test('a value of UTF-16 text is blanked too', () => {
  const table = new FormTable(['s3cret-token-value']);
  const wide = Buffer.from('x s3cret-token-value y', 'utf16le');
  expect(blankBytes(table, wide).includes('s\x003\0c\0')).toBe(false);
  expect(blankBytes(table, Buffer.from(wide).swap16()).includes('\0s\x003\0c')).toBe(false);
});

test('a secret is read at each use, and a value that was replaced stays blanked, also in a stream that runs', () => {
  let now: string | undefined = 'first-value-1';
  const secret = makeSecret(() => now);
  expect(secret.use()).toBe('first-value-1');
  const stream = new BlankStream(() => secret.table);
  expect(stream.next(Buffer.from('a first-value-1 ')).toString()).toBe(`a ${BLANK} `);
  now = 'second-value-2';
  expect(secret.use()).toBe('second-value-2');
  expect(stream.next(Buffer.from('first-value-1 second-value-2 ')).toString()).toBe(`${BLANK} ${BLANK} `);
  now = undefined;
  expect(() => secret.use()).toThrow(/not stored/);
  now = 'short';
  expect(() => secret.use()).toThrow(/fewer than 8 characters/);
});

test('a secret shows nothing of itself', () => {
  const secret = makeSecret(() => 'first-value-1');
  secret.use();
  expect(JSON.stringify([secret, String(secret), Object.keys(secret)])).not.toContain('first-value');
});
