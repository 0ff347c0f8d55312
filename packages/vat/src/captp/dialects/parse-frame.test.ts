/** The look at text before it is parsed. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultLimits } from '../session/limits.ts';
import { checkStructure } from './parse-frame.ts';

/** Structural characters outside strings, counted the slow way. */
function counted(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  const own = 1 + Math.max(0, items.length - 1) + (Array.isArray(value) ? 0 : items.length);
  return items.reduce((sum: number, item) => sum + counted(item), own);
}

test('the contents of strings do not count, however long they are and whatever is escaped in them', () => {
  const nasty = fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', ',', ':', 'a', 'é', '\n'), maxLength: 120 });
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, nasty, fc.integer(), tie('list'), tie('record')),
    list: fc.array(tie('value'), { maxLength: 6 }),
    record: fc.dictionary(nasty, tie('value'), { maxKeys: 6 }),
  })).value;
  fc.assert(
    fc.property(json, (value) => {
      const text = JSON.stringify(value);
      const tokens = counted(value);
      const check = (most: number) => () => checkStructure(text, { ...defaultLimits, tokens: most });
      expect(check(tokens)).not.toThrow();
      if (tokens > 0) expect(check(tokens - 1)).toThrow(/tokens/);
    }),
  );
});

test('a string that never ends hides nothing that a parser would see', () => {
  const rest = '[['.repeat(60);
  for (const slashes of [0, 1, 2, 22, 23, 24, 25, 26])
    for (const before of [0, 20, 23, 24, 25, 40]) {
      const text = `["${'a'.repeat(before)}${'\\'.repeat(slashes)}"${rest}`;
      const check = () => checkStructure(text, { ...defaultLimits, tokens: 60 });
      // With an even number of slashes the quote ends the string.
      if (slashes % 2 === 0) expect(check, text).toThrow(/tokens/);
      else expect(check, text).not.toThrow();
    }
});

test('the letters of an earlier, longer text do not change the result of a check', () => {
  const weigh = (text: string): number => checkStructure(text, defaultLimits);
  const shorter = (length: number): string => `["${'b'.repeat(length)}`;
  const lengths = [10, 70_000, 300_000];
  const before = lengths.map((length) => weigh(shorter(length)));
  // Quotes, commas and keys at every position.
  weigh(`[${'{"k":1},'.repeat(40_000)}1]`);
  expect(lengths.map((length) => weigh(shorter(length)))).toEqual(before);
  // The longest text that fits into the shared array, and a longer one.
  for (const length of [(1 << 20) - 2, 1 << 20])
    expect(checkStructure(shorter(length), { ...defaultLimits, tokens: 1 })).toBeGreaterThan(length);
});
