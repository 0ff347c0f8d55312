/** What a sender counts while it encodes, beside what a receiver counts in the text. */
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
/** Every object that is not plain is sent as a reference. */
const slots = { give: (value: object) => (value instanceof Far ? { kind: 'object', id: 7 } : undefined) } as unknown as Slots; // biome-ignore format: one line

/** What an operation with this value is counted as by both. */
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
/** Long lists of a few values in turn, so that the higher prices of a long frame count. */
const many = fc.tuple(fc.array(value, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 9000 }));

test('property: a frame that the sender takes for small enough is small enough for the receiver, and weighs no more', () => {
  fc.assert(
    fc.property(many, ([values, count]) => {
      const list = Array.from({ length: count }, (_, n) => values[n % values.length]);
      const { text, tokens, memory } = counted(list);
      // One less than the sender counts may be enough, and what the sender counts always is.
      const weight = checkStructure(`[${text}]`, { ...limits, tokens });
      expect(memory + 200).toBeGreaterThanOrEqual(weight);
    }),
    { numRuns: 60 },
  );
});

test('equal records count once as new, so 20,000 of them need no look at their text; different ones do', () => {
  const equal = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name-${id}`, done: id % 2 === 0 }));
  const different = Array.from({ length: 20_000 }, (_, id) => ({ [`id${id}`]: id }));
  expect(counted(equal).tokens).toBeLessThan(defaultLimits.tokens);
  expect(counted(different).tokens).toBeGreaterThan(defaultLimits.tokens);
  // Other shapes with the same keys. A value that JSON lacks is a record, too.
  const mixed = Array.from({ length: 6_000 }, (_, id) => (id % 2 === 0 ? { a: id, [`b${id % 9}`]: 0 } : undefined));
  expect(counted(mixed).tokens).toBeLessThan(defaultLimits.tokens);
});

test('an answer weighs what a receiver of it counts: two bytes for a letter beyond Latin-1, and a new shape after a value that JSON lacks', () => {
  const wide = counted('\u6f22'.repeat(1000));
  expect(wide.memory).toBeGreaterThanOrEqual(checkStructure(wide.text, limits));
  const record = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`key${n}`, n]));
  const broken = counted(Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? record : undefined)));
  expect(broken.memory).toBeGreaterThanOrEqual(checkStructure(broken.text, limits));
  // Records of one shape in a row count once, here and there.
  const equal = counted(Array.from({ length: 200 }, () => record));
  expect(equal.memory).toBeLessThan(1.2 * checkStructure(equal.text, limits));
});
