/** The answers of a model: of all that it can write, two records mean something. The model is the attacker. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { longestAnswer, verdictOf } from './verdict.ts';

test('a proposal and a refusal are read as they are meant', () => {
  expect(verdictOf('{"verdict":"refuse","why":"no"}', 'grant')).toEqual({ what: 'refuse', why: 'no' });
  expect(verdictOf(' {"verdict":"propose","why":"less","uses":1,"minutes":15,"methods":["read"]}\n', 'grant')).toEqual({
    what: 'propose',
    why: 'less',
    terms: { uses: 1, for: 900_000, methods: ['read'] },
  });
  expect(verdictOf('{"verdict":"propose","why":"fine"}', 'call')).toEqual({ what: 'propose', why: 'fine', terms: {} });
});

test('any other answer is no opinion', () => {
  const odd: readonly unknown[] = [
    ...['', 'APPROVE', 'approve', 'yes', '{', '[]', 'null', '1', '"refuse"'],
    '```json\n{"verdict":"refuse","why":"no"}\n```',
    '{"verdict":"refuse","why":"no"} and so on',
    { verdict: 'none' },
    ...['approve', 'grant', 'allow', 'Refuse', ['refuse'], null].map((verdict) => ({ verdict, why: 'x' })),
    { verdict: 'refuse' },
    ...['', ' ', 'x'.repeat(501), 1, ['no'], { toString: 'x' }].map((why) => ({ verdict: 'refuse', why })),
    { verdict: 'refuse', why: 'no', lasting: true },
    { verdict: 'refuse', why: 'no', request: 'q2' },
    { verdict: 'propose', why: 'x', grant: {} },
    { verdict: 'propose', why: 'x', scope: 'permanent' },
    { verdict: 'propose', why: 'x', until: 9e12 },
    { verdict: 'propose', why: 'x', digest: 'abc' },
    ...[0, -1, 1.5, '1', 1e9, null].flatMap((n) => [{ verdict: 'propose', why: 'x', uses: n }, { verdict: 'propose', why: 'x', minutes: n }]),
    ...[[], ['a', 1], [''], 'read', ['x'.repeat(65)], Array(31).fill('a')].map((methods) => ({ verdict: 'propose', why: 'x', methods })),
    `{"verdict":"refuse","why":"no"}${' '.repeat(longestAnswer)}`,
  ]; // biome-ignore format: a table
  for (const answer of odd) {
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    expect([text, verdictOf(text, 'grant')]).toEqual([text, undefined]);
  }
  // A call is as it was asked: no terms of it can be proposed.
  expect(verdictOf('{"verdict":"propose","why":"x","uses":1}', 'call')).toBe(undefined);
});

test('for any text and any record: the result is nothing, or has exactly what a judge may say', () => {
  const record = fc.dictionary(fc.constantFrom('verdict', 'why', 'uses', 'minutes', 'methods', 'grant', '__proto__'), fc.oneof(fc.constantFrom('refuse', 'propose', 'approve', 'no'), fc.jsonValue())); // biome-ignore format: one line
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), record.map((one) => JSON.stringify(one))), fc.constantFrom('grant', 'call'), (text, kind) => {
      const verdict = verdictOf(text, kind);
      if (verdict === undefined) return;
      expect(['propose', 'refuse']).toContain(verdict.what);
      expect(Object.keys(verdict).sort()).toEqual(verdict.what === 'refuse' ? ['what', 'why'] : ['terms', 'what', 'why']);
      if (verdict.what === 'propose') expect(['for', 'methods', 'uses']).toEqual(expect.arrayContaining(Object.keys(verdict.terms)));
    }),
  ); // biome-ignore format: one screen
});
