import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../../test/any-character.ts';
import { CapError } from '../core/errors.ts';
import { symbolNamed } from '../core/symbols.ts';
import { decode, decodeAll, encode, type Finding, type Name, type Naming, namesIn } from './codec.ts';

const references = new Map<string, object>();
const named = new WeakMap<object, Name>();
const find = (name: Name): object => {
  const key = JSON.stringify(name);
  let reference = references.get(key);
  if (reference === undefined) {
    reference = Object.freeze({});
    references.set(key, reference);
    named.set(reference, name);
  }
  return reference;
};
const finding: Finding = { find };
const fleeting = Object.freeze({});
const naming: Naming = {
  nameOf: (reference) => named.get(reference),
  isReference: (value) => named.has(value) || value === fleeting,
};

const reference = fc.oneof(
  fc
    .tuple(fc.constantFrom('a' as const, 't' as const), fc.string(), fc.nat())
    .map(([kind, vat, id]) => find([kind, vat, id])),
  fc.string().map((name) => find(['d', name])),
);
const data = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: anyCharacter }),
    fc.double(),
    fc.integer(),
    fc.bigInt(),
    fc.boolean(),
    fc.constantFrom(null, undefined, -0, Number.NaN, Symbol.for('x'), Symbol.iterator, symbolNamed('of a peer')),
    fc.uint8Array(),
    reference,
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('$', 'constructor', 'toString')), tie('any'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).any;

test('a decoded value equals the encoded one, value for value and reference for reference', () => {
  fc.assert(
    fc.property(data, (value) => {
      const back = decode(encode(value, naming), finding);
      // Vitest's own equality takes a key `constructor` for a class.
      expect(isDeepStrictEqual(back, value)).toBe(true);
      const walk = (a: unknown, b: unknown): void => {
        if (typeof a === 'object' && a !== null && named.has(a)) expect(b).toBe(a);
        else if (Array.isArray(a)) for (const [i, item] of a.entries()) walk(item, (b as unknown[])[i]);
      };
      walk(value, back);
    }),
    { numRuns: 500 },
  );
});

test('decodeAll returns what decode returns for each text, and reports all names before it finds the first', () => {
  fc.assert(
    fc.property(fc.array(data, { maxLength: 5 }), (values) => {
      const texts = values.map((value) => encode(value, naming));
      const told: (readonly Name[])[] = [];
      const found: Name[] = [];
      const finds = (name: Name): object => {
        found.push(name);
        return find(name);
      };
      const together = decodeAll(texts, { find: finds }, (names) => {
        told.push(names);
        expect(found).toEqual([]);
      });
      expect(isDeepStrictEqual(together, values)).toBe(true);
      expect(told).toEqual([texts.flatMap((text) => namesIn(text))]);
      expect(found).toEqual(told[0]);
    }),
    { numRuns: 300 },
  );
});

test('decoded values are frozen at every depth', () => {
  const back = decode(encode({ a: [{ b: 1 }] }, naming), finding) as { a: { b: number }[] };
  expect(Object.isFrozen(back) && Object.isFrozen(back.a) && Object.isFrozen(back.a[0])).toBe(true);
});

test('an error keeps its code and message and nothing else', () => {
  const back = decode(encode(new CapError('revoked', 'gone'), naming), finding) as CapError;
  expect([back instanceof CapError, back.code, back.message]).toEqual([true, 'revoked', 'gone']);
  expect((decode(encode(new RangeError('x'), naming), finding) as Error).message).toBe('x');
});

test('a value that ends with the process cannot be stored', () => {
  expect(() => encode([fleeting], naming)).toThrow(/named driver/);
  expect(() => encode({ wait: Promise.resolve() }, naming)).toThrow(/E\.to/);
});

test.each([
  '',
  '{',
  '{"$":1}',
  '{"$":["z"]}',
  '{"$":["n","7"]}',
  '{"$":["i","1.5"]}',
  '{"$":["r","a","v"]}',
  '{"$":["r","a","v",1.5]}',
  '{"$":["b",1]}',
  '{"$":["e","x"]}',
])('text that no version of Hob wrote is refused: %s', (text) => {
  expect(() => decode(text, finding)).toThrow(/restore it from a backup/);
});

test('every name in a text is found for marking', () => {
  const text = encode({ a: find(['a', 'bank', 1]), b: [find(['t', 'bank', 2]), find(['d', 'disk'])] }, naming);
  expect(namesIn(text)).toEqual([
    ['a', 'bank', 1],
    ['t', 'bank', 2],
    ['d', 'disk'],
  ]);
});

test('a fulfilled promise is written as its value; one that holds itself, or hangs under very many, is written as lost', () => {
  const values = new Map<object, unknown>();
  const fulfilled = (value: unknown): Promise<unknown> => {
    const made = Promise.resolve();
    values.set(made, value);
    return made;
  };
  const message: Naming = {
    ...naming,
    fleeting: true,
    fulfilled: (promise) => (values.has(promise) ? { value: values.get(promise) } : undefined),
  };
  const lost = { $: ['x'] };
  expect(JSON.parse(encode([fulfilled([1, fulfilled(2)])], message))).toEqual([[1, 2]]);
  const around = fulfilled(undefined);
  values.set(around, [around]);
  expect(JSON.parse(encode([around, around], message))).toEqual([[lost], [lost]]);
  let chain: unknown = 'end';
  for (let n = 0; n < 20_000; n += 1) chain = fulfilled([chain]);
  expect(encode(chain, message)).toMatch(/^\[{64}\{"\$":\["x"\]\}\]{64}$/);
});
