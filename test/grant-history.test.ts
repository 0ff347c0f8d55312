/** The check of histories of a grant accepts each history that some order of its calls explains, and no other. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { volume } from './depth.ts';
import { type Call, whyNot } from './history/grant-history.ts';
import { isExplained, type Rules } from './history/search.ts';

interface Grant {
  readonly left: number;
  readonly revoked: boolean;
}

/** Returns the answer of a grant in this state, and its next state. */
function play({ left, revoked }: Grant, kind: Call['kind']): { readonly answer: Call['answer']; readonly next: Grant } {
  if (kind === 'revoke') return { answer: 'done', next: { left, revoked: true } };
  if (kind === 'left') return { answer: left, next: { left, revoked } };
  if (revoked) return { answer: 'revoked', next: { left, revoked } };
  if (left === 0) return { answer: 'exhausted', next: { left, revoked } };
  return { answer: left, next: { left: left - 1, revoked } };
}

const rulesOf = (uses: number): Rules<Grant, Call> => ({
  begin: { left: uses, revoked: false },
  after(state, call) {
    const { answer, next } = play(state, call.kind);
    return call.answer === undefined || call.answer === answer ? next : undefined;
  },
  mayBeMissing: ({ answer }) => answer === undefined,
});

const kinds = fc.constantFrom('use', 'use', 'use', 'use', 'left', 'revoke' as const);

interface Step {
  readonly kind: Call['kind'];
  readonly early: number;
  readonly late: number;
  readonly fate: 'told' | 'lost' | 'never';
}
const steps = (maxLength: number): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc.record({
      kind: kinds as fc.Arbitrary<Call['kind']>,
      early: fc.nat(5),
      late: fc.nat(5),
      fate: fc.constantFrom('told', 'told', 'told', 'told', 'lost', 'never'),
    }),
    { maxLength },
  );

/** Makes a true history: step `n` happens at moment `n`. Calls overlap, and some have no answer. */
function happened(uses: number, given: readonly Step[]): Call[] {
  let state: Grant = { left: uses, revoked: false };
  return given.map(({ kind, early, late, fate }, moment): Call => {
    const from = moment - early;
    if (fate === 'never') return { kind, from, to: Number.POSITIVE_INFINITY, answer: undefined };
    const { answer, next } = play(state, kind);
    state = next;
    if (fate === 'lost') return { kind, from, to: Number.POSITIVE_INFINITY, answer: undefined };
    return { kind, from, to: moment + late, answer };
  });
}

const answersOf = {
  use: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom('exhausted', 'revoked', undefined)),
  left: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(undefined)),
  revoke: fc.constantFrom('done', undefined),
};
/** Any short history, true or not. */
const anything: fc.Arbitrary<Call[]> = fc.array(
  kinds.chain((kind) =>
    fc
      .record({
        from: fc.nat(8),
        length: fc.nat(6),
        answer: answersOf[kind as Call['kind']] as fc.Arbitrary<Call['answer']>,
      })
      .map(
        ({ from, length, answer }): Call => ({ kind: kind as Call['kind'], from, to: answer === undefined ? Number.POSITIVE_INFINITY : from + length, answer }), // biome-ignore format: one line
      ),
  ),
  { maxLength: 8 },
);

test('each history that happened is accepted, however long it is and however many calls run at once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), steps(80), (uses, given) => {
      expect(whyNot(uses, happened(uses, given))).toBe(undefined);
    }),
    { numRuns: volume(500, 2000) },
  );
});

test('of short histories, true ones and others, it accepts exactly those that some order explains', () => {
  const seen = { explained: 0, not: 0 };
  const same = (uses: number, history: readonly Call[]): void => {
    const explained = isExplained(rulesOf(uses), history);
    seen[explained ? 'explained' : 'not'] += 1;
    expect(whyNot(uses, history) === undefined, JSON.stringify({ uses, history })).toBe(explained);
  };
  const uses = fc.integer({ min: 1, max: 4 });
  fc.assert(fc.property(uses, anything, same), { numRuns: volume(2000, 10_000) });
  // Almost true histories: one answer is replaced.
  const changed = fc.record({ at: fc.nat(7), answer: fc.oneof(answersOf.use, answersOf.left) });
  fc.assert(
    fc.property(uses, steps(8), changed, (uses, given, { at, answer }) => {
      const history = happened(uses, given);
      const call = history[at];
      const fits =
        call !== undefined &&
        call.answer !== undefined &&
        (call.kind === 'use' || (call.kind === 'left' && typeof answer === 'number'));
      if (fits && answer !== undefined) history[at] = { ...call, answer };
      same(uses, history);
    }),
    { numRuns: volume(2000, 10_000) },
  );
  // Almost true histories: one call is moved in time.
  fc.assert(
    fc.property(uses, steps(8), fc.nat(7), fc.integer({ min: -6, max: 6 }), (uses, given, at, by) => {
      const history = happened(uses, given);
      const call = history[at];
      if (call !== undefined) history[at] = { ...call, from: call.from + by, to: call.to + by };
      same(uses, history);
    }),
    { numRuns: volume(2000, 10_000) },
  );
  expect(Math.min(seen.explained, seen.not)).toBeGreaterThan(500);
});

/** A true history of 150 calls, several of them at once. */
const USES = 200;
const day = happened(
  USES,
  Array.from({ length: 150 }, (_, n): Step => ({ kind: n % 10 === 9 ? 'left' : 'use', early: n % 6, late: n % 5, fate: n % 25 === 24 ? 'lost' : 'told' })), // biome-ignore format: one line
);
const charges = day.filter(({ kind, answer }) => kind === 'use' && typeof answer === 'number');
const END = 1000;
const revoked: Call = { kind: 'revoke', from: END, to: END + 1, answer: 'done' };
const without = (one: Call): Call[] => day.filter((call) => call !== one);
const [early, late] = [charges[3], charges[100]] as [Call, Call];

describe('each violation that is put into a true history is found', () => {
  test('the history itself is true, also with its revocation', () => {
    expect(whyNot(USES, day)).toBe(undefined);
    expect(whyNot(USES, [...day, revoked, { kind: 'use', from: END, to: END + 3, answer: 'revoked' }])).toBe(undefined);
  });

  const violations: Readonly<Record<string, [history: Call[], why: RegExp]>> = {
    'a use is charged twice': [[...day, { ...late, from: END, to: END }], /charged twice/],
    'a use is given back: a later call finds it again': [
      [...without(early), { ...early, from: END, to: END }],
      /ended at/,
    ],
    'a use is charged that nobody made': [
      day.filter(({ kind, answer }) => kind !== 'use' || (answer !== undefined && answer !== late.answer)),
      /was charged, and nobody made it/,
    ],
    'a use is charged that was made only later': [
      [...day.filter(({ kind, answer }) => kind !== 'use' || (answer !== undefined && answer !== early.answer)), ...Array.from({ length: 9 }, (): Call => ({ kind: 'use', from: END, to: Number.POSITIVE_INFINITY, answer: undefined }))], // biome-ignore format: one line
      /ended at/,
    ],
    'two uses that came one after the other have each other’s number': [
      day.map((call) => (call === early ? { ...call, answer: late.answer } : call === late ? { ...call, answer: early.answer } : call)), // biome-ignore format: one line
      /ended at/,
    ],
    'more uses than there are': [[...day, { kind: 'use', from: END, to: END, answer: 0 }], /found 0 of/],
    'a call finds more left than a use before it': [
      [...day, { kind: 'left', from: END, to: END + 1, answer: early.answer }],
      /ended at/,
    ],
    'a call finds the grant used up while uses are left': [
      [...day, { kind: 'use', from: END, to: END + 1, answer: 'exhausted' }],
      /was charged, and nobody made it/,
    ],
    'a use is charged after the revocation': [[...day, { ...revoked, from: -20, to: 20 }], /ended at 20/],
    'a use is charged after a call that found the grant revoked': [
      [...day, { ...revoked, from: -20, to: END }, { kind: 'use', from: 0, to: 20, answer: 'revoked' }],
      /ended at 20/,
    ],
    'a grant is revoked that nobody revoked': [
      [...day, { kind: 'use', from: END, to: END, answer: 'revoked' }],
      /nobody revoked it/,
    ],
    'a grant is found revoked before somebody revokes it': [
      [...day, revoked, { kind: 'use', from: END - 9, to: END - 8, answer: 'revoked' }],
      /ended at/,
    ],
  };
  test.each(Object.entries(violations))('%s', (_name, [history, why]) => {
    expect(whyNot(USES, history)).toMatch(why);
  });

  test('a grant that was revoked is used up after that', () => {
    const two: Call[] = [2, 1].map((answer, n) => ({ kind: 'use', from: n, to: n, answer }));
    const used: Call = { kind: 'use', from: 20, to: 21, answer: 'exhausted' };
    expect(whyNot(2, [...two, used, { ...revoked, from: 10, to: 25 }])).toBe(undefined);
    expect(whyNot(2, [...two, used, { ...revoked, from: 10, to: 15 }])).toMatch(/ended at 15/);
  });
});
