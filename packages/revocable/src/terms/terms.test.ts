/** The terms that a person may give, and those that are refused rather than guessed. */
import { expect, test } from 'vitest';
import { checkTerms, defaultTerm, limitsOf, longestTerm, type Terms } from './terms.ts';

const now = { vat: 1000, wall: 1_800_000_000_000, boot: 'one', era: 0 };
const limits = (terms: unknown): ReturnType<typeof limitsOf> => limitsOf(terms as Terms, now);
const code = (terms: unknown): string => {
  try {
    limits(terms);
    return 'accepted';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};

test('every grant has a deadline, also without for and until', () => {
  for (const terms of [{}, { uses: 1 }, { methods: ['read'] }, { uses: undefined }]) {
    const { deadline, wallDeadline } = limits(terms);
    expect(deadline).toBe(now.vat + defaultTerm);
    expect(wallDeadline).toBe(now.wall + defaultTerm);
  }
});

test('for and until mean the same on both clocks', () => {
  expect(limits({ for: 5000 })).toMatchObject({ deadline: 6000, wallDeadline: now.wall + 5000 });
  expect(limits({ until: now.wall + 5000 })).toMatchObject({ deadline: 6000, wallDeadline: now.wall + 5000 });
});

test('grace is a tenth of the time, and at most 30 s', () => {
  expect(limits({ for: 5000 }).grace).toBe(500);
  expect(limits({ for: longestTerm }).grace).toBe(30_000);
});

test('for and until together are invalid', () => {
  expect(code({ for: 1000, until: now.wall + 1000 })).toBe('invalid');
});

test('an unknown term is invalid, not ignored: a misspelt limit would be no limit', () => {
  for (const terms of [{ use: 1 }, { Uses: 1 }, { uses: 1, max: 2 }, { minutes: 15 }, { ['__proto__']: 1 }])
    expect(code(terms), JSON.stringify(terms)).toBe('invalid');
});

test.each([null, undefined, 7, 'once', [], [{ uses: 1 }]])('%j is no terms', (terms) =>
  expect(code(terms)).toBe('invalid'),
);

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1', null, 2 ** 60])('uses: %j is invalid', (uses) =>
  expect(code({ uses })).toBe('invalid'),
);

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '1000', null])('for: %j is invalid', (ms) =>
  expect(code({ for: ms })).toBe('invalid'),
);

test.each([
  0,
  now.wall,
  now.wall - 1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  String(now.wall + 1000),
  null,
  new Date(now.wall + 1000),
])('until: %j is invalid', (until) => expect(code({ until })).toBe('invalid'));

test.each([[[]], ['read'], [['']], [[1]], [{ 0: 'read', length: 1 }], [null]])('methods: %j is invalid', (methods) =>
  expect(code({ methods })).toBe('invalid'),
);

test('a grant lasts at most 90 days', () => {
  expect(code({ for: longestTerm })).toBe('accepted');
  expect(code({ for: longestTerm + 1 })).toBe('invalid');
  expect(code({ until: now.wall + longestTerm })).toBe('accepted');
  expect(code({ until: now.wall + longestTerm + 1 })).toBe('invalid');
});

test('a refusal says what would be understood, and cuts the input', () => {
  const long = 'x'.repeat(10_000);
  expect(() => checkTerms({ [long]: 1 } as never)).toThrowError(/there are uses, for, until, methods/);
  try {
    checkTerms({ [long]: 1 } as never);
  } catch (error) {
    expect((error as Error).message.length).toBeLessThan(200);
  }
});
