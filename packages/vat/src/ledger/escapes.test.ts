/** The bytes behind an escaped line. The attacker changes an export: nothing but escapes may be put back. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { storedLine } from './escapes.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (line: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(storedLine(line));
const units = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0x22, 0x5c, 0x75, 0xd83d, 0xde00, 0x9b, 0x202e))); // biome-ignore format: one line
const strings = units.map((all) => String.fromCharCode(...all));

test('a line that was exported as it is comes out as it is, byte for byte', () => {
  fc.assert(
    fc.property(fc.dictionary(strings, strings), (data) => {
      const line = bytes(JSON.stringify(data));
      expect(Buffer.from(storedLine(line)).equals(line)).toBe(true);
    }),
  );
});

test('however many characters an export escaped, the bytes are those of the ledger', () => {
  fc.assert(
    fc.property(fc.dictionary(strings, strings), fc.integer({ min: 1, max: 5 }), (data, every) => {
      const line = JSON.stringify(data);
      let at = 0;
      const exported = [...line]
        .map((char) =>
          char < '\u007f' || (at += 1) % every !== 0
            ? char
            : char
                .split('')
                .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
                .join(''),
        )
        .join('');
      expect(JSON.parse(exported)).toEqual(JSON.parse(line));
      expect(text(bytes(exported))).toBe(line);
    }),
  );
});

test('what is no UTF-8 stays what it is', () => {
  const line = Uint8Array.from([0x22, 0xff, 0xfe, ...bytes('\\u009b'), 0x22]);
  expect([...storedLine(line)]).toEqual([0x22, 0xff, 0xfe, 0xc2, 0x9b, 0x22]);
});
