/** Cards: whatever is asked, what a person reads is lines that show what they are. */
import { driver, openVats, type Vats } from '@hob/vat';
import { canonicalText } from '@hob/vat/forwarder';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyCharacter } from '../../../../test/any-character.ts';
import { digestOf } from './digest.ts';
import { argumentRows, diffText, flagsIn, methodText, permits, termRows, termText, valueText } from './display.ts';

let vats: Vats;
beforeAll(async () => {
  vats = await openVats();
});
afterAll(() => vats.close());
// Terms speak of times, which only a turn knows.
const inTurn = <R>(body: () => R): Promise<unknown> => vats.vat('cards').turn(body);

const shows = /^[^\p{C}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800]*$/u;
const unseen = /\p{Default_Ignorable_Code_Point}/u;
const isOneLine = (text: string): void => {
  if (!shows.test(text) || unseen.test(text)) expect.fail(`not fit to be shown: ${JSON.stringify(text)}`);
};

const nasty = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 8 }),
  fc.constantFrom('\u202e', '\u200b', '\n', '\u0000', '\u009b', '⟦cut: 0 more⟧', '”', 'pаypal', '\u{e0041}', '\ud800', 'a.txt'),
); // biome-ignore format: one line
const key = nasty.filter((name) => name !== '__proto__');
const data = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    nasty,
    fc.integer(),
    fc.double(),
    fc.bigInt(),
    fc.boolean(),
    fc.constantFrom(null, undefined, -0, Number.NaN),
    fc.uint8Array({ maxLength: 8 }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
})).value;

test('any arguments of any method are shown as rows of one line with a bounded length', () => {
  fc.assert(
    fc.property(nasty, fc.array(data, { maxLength: 30 }), fc.boolean(), (method, args, directory) => {
      const rows = argumentRows(method, args, directory);
      for (const text of [methodText(method), ...rows.flat(), ...flagsIn([method, args])]) isOneLine(text);
      expect(rows.length).toBeLessThanOrEqual(25);
    }),
    { numRuns: 500 },
  );
});

test('any terms are shown as bounded rows, and the permitted calls are listed by method', async () => {
  const names = fc.array(nasty.filter((name) => name !== ''), { minLength: 1, maxLength: 60 }); // biome-ignore format: one line
  const terms = fc.record(
    {
      uses: fc.integer({ min: 1 }),
      for: fc.integer({ min: 1 }),
      methods: names,
      where: fc.dictionary(key, fc.dictionary(fc.constantFrom('0', '1', '7'), fc.oneof(fc.record({ is: data }), fc.record({ oneOf: fc.array(data, { maxLength: 3 }) }), fc.record({ min: fc.double() })))), // biome-ignore format: one line
      gated: fc.oneof(fc.constant(true as const), names),
      scope: fc.constantFrom('once' as const, 'session' as const, 'permanent' as const),
      audited: fc.boolean(),
      mount: fc.boolean(),
      made: fc.record({ uses: fc.integer({ min: 1 }), methods: names }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(terms, names, fc.boolean(), async (given, methods, directory) => {
      await inTurn(() => {
        const facts = { number: 1, methods, reads: methods.slice(0, 2), directory };
        for (const text of [termText(given as never), ...termRows(given as never).flat(), ...permits('notes', facts, given as never), ...permits('notes', { ...facts, methods: undefined }, given as never)]) // biome-ignore format: one line
          isOneLine(text);
      });
    }),
    { numRuns: 200 },
  );
});

test('any diff is shown line by line with its marks, and says what was cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(' ', '-', '+'), nasty), { minLength: 1, maxLength: 400 }),
      (lines) => {
        const diff = lines.map(([mark, text]) => mark + text.replaceAll('\n', '')).join('\n');
        const shown = diffText(`${diff}\n`).split('\n');
        for (const line of shown) isOneLine(line);
        for (const [at, line] of shown.entries()) {
          if (line.startsWith('⟦cut: ')) expect(line).toBe(`⟦cut: ${lines.length - at} more lines⟧`);
          else expect(line.charAt(0)).toBe(lines[at]?.[0]);
        }
        expect(shown.length).toBe(Math.min(lines.length, 301));
      },
    ),
    { numRuns: 200 },
  );
});

test('attack: no key and no name of a method passes for more than one, or for data', () => {
  expect(valueText({ 'dryRun: true, a': 1 })).toBe('{“dryRun: true, a”: 1}');
  expect(termText({ gated: ['write, remove'], uses: 1, for: 60_000 }, 0)).toMatch(/for each call of “write, remove”$/);
  expect(methodText('list (only looks), through “a”')).toMatch(/^“[^“”]*”$/);
  const [, row] = termRows({ methods: ['read, or', 'write'] } as never, 0);
  expect(row).toEqual(['methods', '“read, or”, write']);
  const text = fc.array(fc.constantFrom('a', ': 1', ', ', '{', '}', '[', ']', '“', '”', '1n', 'true', ' '), { maxLength: 3 }).map((parts) => parts.join('')); // biome-ignore format: one line
  const some = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, text, fc.constantFrom(1, 1n, true, null, undefined), fc.array(tie('value'), { maxLength: 2 }), fc.dictionary(text, tie('value'), { maxKeys: 2 })), // biome-ignore format: one line
  })).value;
  fc.assert(
    fc.property(fc.array(some, { minLength: 2, maxLength: 12 }), (values) => {
      const shown = new Map(values.map((value) => [valueText(value), canonicalText(value)]));
      for (const value of values) expect(shown.get(valueText(value))).toBe(canonicalText(value));
    }),
    { numRuns: 500 },
  );
});

test('a long value is cut at the stated length', () => {
  for (const value of [
    '\u202e'.repeat(100_000),
    Array.from({ length: 5000 }, (_, n) => n),
    { deep: [['x'.repeat(5000)]] },
    10n ** 5000n,
  ]) {
    const text = valueText(value);
    expect(text.length).toBeLessThan(8000);
    expect(text).toContain('⟦cut: ');
  }
});

test('equal data has the same digest and other data another; objects and promises have none', () => {
  const of = (args: unknown): string => digestOf({ cap: ['g001'], method: 'write', data: args, files: [] });
  fc.assert(
    fc.property(data, data, (one, other) => {
      expect(of(structuredClone(one))).toBe(of(one));
      expect(canonicalText(one) === canonicalText(other)).toBe(of(one) === of(other));
    }),
    { numRuns: 500 },
  );
  const alike: readonly unknown[] = [1, '1', 1n, -0, 0, true, 'true', null, 'null', undefined, 'undefined', [], {}, [1], ['1'], { 0: 1 }, [[1]], new Uint8Array([1]), 'bae', [1, undefined], { a: 1, b: 2 }, { a: 2, b: 1 }, Number.NaN, 'NaN', '', [''], [null], ['a,b'], ['a', 'b']]; // biome-ignore format: one line
  expect(new Set(alike.map(of)).size).toBe(alike.length);
  expect(of({ a: 1, b: 2 })).toBe(of({ b: 2, a: 1 }));
  for (const odd of [driver<{ x(): void }>({ x: () => {} }), Promise.resolve(1), () => 1]) expect(() => of([odd])).toThrow(/data only/); // biome-ignore format: one line
  const base = {
    cap: ['g001', 'notes', 1] as readonly unknown[],
    method: 'write',
    data: ['a'],
    files: [['a', 'v1']] as const,
  };
  const others = [{ ...base, cap: ['g002', 'notes', 1] }, { ...base, cap: ['g001', 'notes', 2] }, { ...base, method: 'append' }, { ...base, data: ['b'] }, { ...base, files: [['a', 'v2']] as const }, { ...base, files: [['a', undefined]] as const }, { ...base, files: [] }]; // biome-ignore format: one line
  expect(new Set([base, ...others].map(digestOf)).size).toBe(others.length + 1);
});

test('an agent’s terms leave out no row without saying so, and show a template to its end', async () => {
  await inTurn(() => {
    const is = { is: 1 };
    const args = Object.fromEntries([...Array.from({ length: 30 }, (_, n) => [`a${n}`, is]), ['to', { any: true }]]);
    const rows = termRows({ where: { send: args }, mount: true, level: 'high' } as never);
    expect(rows).toContainEqual(['and', '14 more arguments, which are not shown']);
    expect(rows).toContainEqual(['mount', 'it may be mounted in a sandbox']);
    expect(rows).toContainEqual(['goes on without a person', 'calls of high risk at the most']);
    // Nine arguments all fit.
    const nine = Object.fromEntries([...Array.from({ length: 8 }, (_, n) => [`a${n}`, is]), ['to', { any: true }]]);
    expect(termRows({ where: { send: nine } } as never)).toContainEqual(['send, to', 'anything']);
    const like = `${'Dear Ann, '.repeat(60)}{x:(?s).*}`;
    const [, row] = termRows({ where: { send: { text: { like } } } } as never);
    expect(row?.[1]).toBe(`a text like “${like}”`);
    const fields = { 'to only 5; text': { any: true as const } };
    expect(termRows({ where: { send: { 0: { fields } } } } as never)[1]?.[1]).toBe(
      'only the fields “to only 5; text” anything',
    );
  });
});
