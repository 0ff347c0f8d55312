/** Seals of tools. The attacker is the server, which wants another definition under the same seal. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical.ts';
import { definitionOf, differenceOf, sealOf } from './seal.ts';

const json = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });

/** The same data, with the keys of each record in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffled(item)]),
  );
}
/** How data looks that came over a wire. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('canonical text is the same for equal data whatever the order of keys, reads back as that data, and tells other data apart', () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      const [one, other] = [sent(a), sent(b)];
      expect(canonicalJson(shuffled(one))).toBe(canonicalJson(one));
      expect(JSON.parse(canonicalJson(one))).toEqual(one);
      let equal = true;
      try {
        expect(one).toEqual(other);
      } catch {
        equal = false;
      }
      expect(canonicalJson(one) === canonicalJson(other)).toBe(equal);
    }),
  );
});

test('the examples of RFC 8785', () => {
  const given = '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}'; // biome-ignore format: one line
  expect(canonicalJson(JSON.parse(given))).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}', // biome-ignore format: one line
  );
  const keys = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 };
  expect(Object.values(JSON.parse(canonicalJson(keys).replaceAll('"1"', '"one"')))).toEqual([2, 4, 6, 7, 1, 5, 3]);
});

const tool = { title: 'T', description: 'one\ntwo\n', inputSchema: { type: 'object', properties: { a: {} } }, outputSchema: {}, annotations: { readOnlyHint: true } }; // biome-ignore format: one line

test('each part of a definition and the instructions count for its seal, and nothing else does', () => {
  const seal = (given: object, instructions: string | undefined = 'be kind'): string =>
    sealOf(definitionOf('t', given as never, instructions));
  const before = seal(tool);
  expect(seal(shuffled(tool) as object)).toBe(before);
  expect(seal({ ...tool, _meta: { a: 1 }, icons: [], execution: {} })).toBe(before);
  const others = [
    seal({ ...tool, title: 'U' }),
    seal({ ...tool, description: 'one\ntwo' }),
    seal({ ...tool, inputSchema: { ...tool.inputSchema, required: ['a'] } }),
    seal({ ...tool, outputSchema: { type: 'object' } }),
    seal({ ...tool, annotations: { readOnlyHint: false } }),
    seal({ ...tool, annotations: undefined }),
    seal(tool, 'be kind '),
    sealOf(definitionOf('t', tool, undefined)),
    sealOf(definitionOf('u', tool, 'be kind')),
  ];
  expect(new Set([before, ...others]).size).toBe(others.length + 1);
});

test('the difference shows the changed lines, also within a long text, and of texts that have nothing in common', () => {
  const [a, b] = [definitionOf('t', tool, 'i'), definitionOf('t', { ...tool, description: 'one\nIGNORE ALL\n' }, 'i')];
  const shown = differenceOf(a, b).split('\n');
  expect(shown.filter((line) => /^[-+]/.test(line))).toEqual(['-    | "two"', '+    | "IGNORE ALL"']);
  const long = (letter: string): string => Array.from({ length: 3000 }, (_, n) => `${letter}${n}`).join('\n');
  const [c, d] = ['a', 'b'].map((letter) => definitionOf('t', { description: long(letter) }, undefined));
  expect(differenceOf(c as never, d as never)).toContain('b2999');
});

test('attack: no two definitions look the same to a person, such as a text and a list of its lines', () => {
  const shown = (description: unknown, other: unknown): string =>
    differenceOf(definitionOf('t', { description }, 'i'), definitionOf('t', { description: other }, 'i'));
  expect(shown('one\ntwo', ['one', 'two'])).toMatch(/^\+ +"one",$/m);
  const part = fc.oneof(
    fc.array(fc.constantFrom('a', '\n', '"', '| "a"', ',', ' '), { maxLength: 4 }).map((parts) => parts.join('')),
    json,
  );
  const some = fc.oneof(part, fc.array(part, { maxLength: 3 }), fc.dictionary(fc.constantFrom('a', 'text', '|'), part));
  fc.assert(
    fc.property(some, some, (a, b) => {
      const [one, other] = [sent(a), sent(b)];
      expect(/^[-+]/m.test(shown(one, other))).toBe(canonicalJson(one) !== canonicalJson(other));
      expect(shown(one, shuffled(one))).not.toMatch(/^[-+]/m);
    }),
  );
});
