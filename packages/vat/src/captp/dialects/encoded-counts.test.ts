/** A sender counts tokens and memory while it encodes a value. A receiver must not count more in the text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultLimits } from '../session/limits.ts';
import type { Slots } from '../session/operations.ts';
import { Outgoing } from './attached-bytes.ts';
import { encode } from './hob-values.ts';
import { checkStructure, mostMemory, mostTokens } from './parse-frame.ts';
import { toJson } from './quoted.ts';

const limits = { ...defaultLimits, frameBytes: 1 << 26 };
class Far {}
/** Sends each `Far` as a reference. */
const slots = { give: (value: object) => (value instanceof Far ? { kind: 'object', id: 7 } : undefined) } as unknown as Slots; // biome-ignore format: one line

/** Encodes an answer with this value. Returns its text and the counts of the sender. */
function counted(value: unknown): { readonly text: string; readonly tokens: number; readonly memory: number } {
  const bytes = new Outgoing(limits);
  const text = toJson(['return', 4711, encode(value, slots, bytes)]);
  return { text, tokens: mostTokens(bytes), memory: mostMemory(text, bytes) };
}

const key = fc.oneof(fc.constantFrom('a', 'b', 'id', '@', '', '\u6f22', '10', '2'), fc.string({ maxLength: 12 })).filter((name) => name !== '__proto__'); // biome-ignore format: one line
const scalar = fc.oneof(
  fc.string({ maxLength: 14 }),
  fc.constantFrom(undefined, null, true, -0, Number.NaN, 12n, Symbol.for('s'), 3.5, new Far(), new Error('no')),
);
const value = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalar, tie('list'), tie('record')),
  list: fc.array(tie('value'), { maxLength: 5 }),
  record: fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
})).value;
/** Long lists that repeat a few values. In a long frame, some tokens count as more than one. */
const many = fc.tuple(fc.array(value, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 9000 }));

test('property: a receiver counts no more tokens than the sender, and about no more memory', () => {
  fc.assert(
    fc.property(many, ([values, count]) => {
      const list = Array.from({ length: count }, (_, n) => values[n % values.length]);
      const { text, tokens, memory } = counted(list);
      // Throws if the text has more tokens than the sender counted. The two brackets add less than 200 bytes.
      const weight = checkStructure(`[${text}]`, { ...limits, tokens });
      expect(memory + 200).toBeGreaterThanOrEqual(weight);
    }),
    { numRuns: 60 },
  );
});

test('the keys of equal records count once as new, so the text of 20,000 such records needs no check; that of different ones does', () => {
  const equal = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name-${id}`, done: id % 2 === 0 }));
  const different = Array.from({ length: 20_000 }, (_, id) => ({ [`id${id}`]: id }));
  expect(counted(equal).tokens).toBeLessThan(defaultLimits.tokens);
  expect(counted(different).tokens).toBeGreaterThan(defaultLimits.tokens);
  // The shapes differ, but they have only ten keys in all. `undefined` is encoded as a record, too.
  const mixed = Array.from({ length: 6_000 }, (_, id) => (id % 2 === 0 ? { a: id, [`b${id % 9}`]: 0 } : undefined));
  expect(counted(mixed).tokens).toBeLessThan(defaultLimits.tokens);
});

test('the sender counts two bytes for a letter beyond Latin-1, and a new shape after a value that JSON lacks, as a receiver does', () => {
  const wide = counted('\u6f22'.repeat(1000));
  expect(wide.memory).toBeGreaterThanOrEqual(checkStructure(wide.text, limits));
  const record = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`key${n}`, n]));
  const broken = counted(Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? record : undefined)));
  expect(broken.memory).toBeGreaterThanOrEqual(checkStructure(broken.text, limits));
  // Both count the keys of equal records as new only once.
  const equal = counted(Array.from({ length: 200 }, () => record));
  expect(equal.memory).toBeLessThan(1.2 * checkStructure(equal.text, limits));
});

test('the keys of the records around a key count before it, however deep it lies', () => {
  const depth = limits.depth - 3;
  const deep = Array.from({ length: depth }, (_, n) => `k${n}`).reduce<unknown>(
    (inner, name) => ({ [name]: inner }),
    1,
  );
  for (const before of [4_000, 4_060, 4_079, 4_090, 4_100]) {
    const wide = Object.fromEntries(Array.from({ length: before }, (_, n) => [`w${n}`, 0]));
    const { text, tokens } = counted([wide, deep]);
    expect(() => checkStructure(`[${text}]`, { ...limits, tokens })).not.toThrow();
  }
});

test('lists, escapes and long records count with a sender as with a receiver', () => {
  const lists = counted(Array.from({ length: 60_000 }, () => []));
  expect(() => checkStructure(`[${lists.text}]`, { ...limits, tokens: lists.tokens })).not.toThrow();
  const escaped = counted('\u0001'.repeat(1000));
  expect(escaped.memory).toBeGreaterThanOrEqual(checkStructure(escaped.text, limits));
  // A receiver remembers the first 512 keys of a record only.
  const long = Object.fromEntries(Array.from({ length: 700 }, (_, n) => [`key${n}`, 0]));
  const records = counted(Array.from({ length: 20 }, () => long));
  expect(records.memory).toBeGreaterThanOrEqual(checkStructure(records.text, limits));
});
