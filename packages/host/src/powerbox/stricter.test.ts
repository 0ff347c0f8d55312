/**
 * The terms of an approval. Who asks is the attacker, and so is a granter whose program approves more than
 * was asked.
 */
import { checkTerms } from '@hob/revocable';
import { E } from '@hob/vat';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scene } from '../../test/asking.ts';
import { code } from '../../test/test-host.ts';
import { type GrantTerms, parseTerms } from '../state/terms.ts';
import type { Request } from './inbox.ts';
import { completed, stricter } from './stricter.ts';

const minute = 60_000;
const day = 86_400_000;
const now = 1_800_000_000_000;

const message = (act: () => unknown): string => {
  try {
    return JSON.stringify(act()) ?? '';
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return `${code}: ${message}`;
  }
};

test('the grant of an approval with fewer uses and less time has these terms', async () => {
  const at = await scene();
  void at.request({ terms: { uses: 50, for: 80 * day } });
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: { uses: 1, for: 5 * minute } });
  const [grant] = await E(at.owner).list();
  expect(grant).toMatchObject({ usesLeft: 1, state: 'live' });
  expect(grant!.until).toBeLessThanOrEqual(Date.now() + 5 * minute);
});

test('a wider term is refused with the requested term, and the request stays', async () => {
  const at = await scene();
  const where = { write: { 0: { oneOf: ['a.txt', 'b.txt'] }, 1: { is: 'x' } } };
  void at.request({ terms: { uses: 2, for: minute, methods: ['readText', 'write'], where } });
  const [asked] = await at.inbox();
  const wider: readonly (readonly [GrantTerms, RegExp])[] = [
    [{ uses: 3 }, /uses was asked as 2$/],
    [{ for: 2 * minute }, /time was asked as within 60 s$/],
    [{ until: Date.now() + day }, /time was asked as within 60 s$/],
    [{ scope: 'session' }, /time was asked as within 60 s$/],
    [{ scope: 'permanent' }, /time was asked as within 60 s$/],
    [{ methods: ['readText', 'remove'] }, /"remove" is not a method that was asked as readText, write$/],
    [{ where: { remove: { 0: { is: 'a.txt' } } } }, /"remove" is not a method/],
    [
      { where: { write: { 0: { is: 'c.txt' }, 1: { is: 'x' } } } },
      /argument 1 of "write" was asked as one of "a.txt", "b.txt"$/,
    ],
    [{ where: { write: { 0: { is: 'a.txt' } } } }, /bounds of "write" was asked as 2 arguments/],
    [{ where: { write: { 0: { is: 'a.txt' }, 2: { is: 7 } } } }, /bounds of "write" was asked as 2 arguments/],
    [{ mount: true }, /mount was asked as false$/],
    [{ made: {} }, /made was asked as left out$/],
  ];
  for (const [terms, says] of wider) {
    const error = (await at.answer(asked!, { grant: { ...terms } }).then(
      () => 'granted',
      (reason: unknown) => reason,
    )) as { readonly code: string; readonly message: string };
    expect([error.code, error.message]).toEqual(['invalid', expect.stringMatching(says)]);
  }
  expect(await E(at.owner).list()).toEqual([]);
  const [still] = await at.inbox();
  expect(still?.digest).toBe(asked?.digest);
  // The digest still says what is answered.
  expect(await code(E(at.owner).answer(asked!.id, { grant: { uses: 1 }, digest: 'a'.repeat(52) }))).toBe('denied');
  await at.answer(asked!, { grant: { uses: 1, where: { write: { 0: { is: 'b.txt' }, 1: { is: 'x' } } } } });
  const dir = at.agent.bootstrap;
  const cap = E(dir).cap('notes') as unknown as { write(...args: readonly unknown[]): Promise<unknown> };
  expect(await code(E(cap).write('a.txt', 'x'))).toBe('denied');
  expect(await code(E(cap).write('b.txt', 'x'))).toBe('ok');
});

test('a date that has passed, and methods that the object does not have, grant nothing, and the request stays', async () => {
  const at = await scene();
  void at.request({ terms: { uses: 2 } });
  const [asked] = await at.inbox();
  const said = (grant: GrantTerms): Promise<string> =>
    at.answer(asked!, { grant }).then(
      () => 'granted',
      ({ code, message }) => `${code}: ${message}`,
    );
  expect(await said({ until: Date.now() - day })).toBe('invalid: that date has passed: give a later one');
  for (const mistyped of [{ methods: ['raedText'] }, { where: { raedText: { 0: { is: 'a.txt' } } } }])
    expect(await said(mistyped)).toMatch(/^invalid: the object has none of these methods: choose from .*readText/);
  expect(await E(at.owner).list()).toEqual([]);
  expect(await at.inbox()).toMatchObject([{ digest: asked!.digest }]);
  // `next` is a method of the stream that `openRead` returns. The host cannot know it yet.
  expect(await said({ methods: ['openRead', 'next'] })).toBe('granted');
});

test('a method of an object that has more methods than the host knows is granted', async () => {
  const at = await scene();
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`m${1000 + n}`, async () => n]));
  await at.host.offer('many', many);
  const cap = at.request({ asks: 'many' }) as unknown as Promise<{ m1299(): Promise<number> }>;
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: { methods: ['m1299'] } });
  expect(await E(cap).m1299()).toBe(299);
});

test('a program that approves without terms grants no more than was asked, and no more than the default time', async () => {
  const at = await scene();
  void at.request({ terms: { uses: 2, methods: ['readText'], scope: 'permanent' } });
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: {} });
  const [grant] = await E(at.owner).list();
  expect(grant).toMatchObject({ usesLeft: 2 });
  expect(grant!.until).toBeLessThanOrEqual(Date.now() + 15 * minute);
  const cap = E(at.agent.bootstrap).cap('notes') as unknown as { list(path: string): Promise<unknown> };
  expect(await code(E(cap).list(''))).toBe('no-such-method');
});

test('a term that the person does not name is as it was asked', () => {
  const asked: GrantTerms = { uses: 50, for: 80 * day, mount: true, methods: ['a', 'b'] };
  expect(stricter(asked, completed(asked, {}), now)).toEqual({ uses: 50, for: 80 * day, mount: true, methods: ['a', 'b'] }); // biome-ignore format: one line
  expect(stricter(asked, completed(asked, { scope: 'once' }), now)).toEqual({ uses: 1, for: 80 * day, mount: true, methods: ['a', 'b'] }); // biome-ignore format: one line
  const permanent: GrantTerms = { scope: 'permanent' };
  expect(stricter(permanent, completed(permanent, { methods: ['a'] }), now)).toEqual({ until: now + 90 * day, audited: true, methods: ['a'] }); // biome-ignore format: one line
  expect(stricter({ uses: 3 }, completed({ uses: 3 }, { methods: ['a'] }), now)).toEqual({ uses: 3, scope: 'session', methods: ['a'] }); // biome-ignore format: one line
  expect(stricter({}, completed({}, { uses: 3 }), now)).toEqual({ uses: 3, for: 15 * minute });
});

test('what a grant makes has the stricter terms of both, and none of its own if one of the two says nothing', () => {
  const made = { uses: 5, for: day, methods: ['share', 'read'] };
  const asked: GrantTerms = { uses: 1, made };
  expect(stricter(asked, completed(asked, { scope: 'once' }), now)).toMatchObject({ uses: 1, made });
  expect(stricter(asked, { uses: 1 }, now)).not.toHaveProperty('made');
  expect(stricter(asked, { made: { uses: 2, methods: ['share'] } }, now)).toMatchObject({ made: { uses: 2, for: day, methods: ['share'] } }); // biome-ignore format: one line
  for (const wide of [{ uses: 6 }, { for: 2 * day }, { methods: ['share', 'remove'] }]) expect(message(() => stricter(asked, { made: wide }, now))).toMatch(/^invalid: an approval can only be narrower/); // biome-ignore format: one line
});

test('a request with a date that has passed grants nothing', () => {
  expect(message(() => stricter({ until: now - 1 }, { uses: 1 }, now))).toMatch(/^invalid: the date until which/);
});

/** The calls that a grant on these terms allows, by the rules of terms. */
interface Reach {
  readonly uses: number;
  readonly until: number;
  readonly boots: boolean;
  readonly mount: boolean;
  readonly silent: boolean;
  calls(method: string, args: readonly number[]): boolean;
  asks(method: string): boolean;
}

function reach(given: GrantTerms): Reach {
  const { terms, defaultMs: otherwise = 15 * minute, gated } = scopedAt(given);
  const { uses, for: ms, until, methods, where, audited, mount } = terms;
  const names = methods ?? (where === undefined ? undefined : Object.keys(where));
  return {
    uses: uses ?? Number.POSITIVE_INFINITY,
    until: until ?? now + (ms ?? otherwise),
    boots: until !== undefined,
    mount: mount === true,
    silent: audited !== true,
    asks: (method) => gated === true || gated?.includes(method) === true,
    calls(method, args) {
      if (names?.includes(method) === false) return false;
      const positions = where === undefined || !Object.hasOwn(where, method) ? undefined : where[method];
      if (positions === undefined) return true;
      const most = 1 + Math.max(...Object.keys(positions).map(Number));
      return (
        args.length <= most &&
        Object.entries(positions).every(([position, bound]) => {
          const value = args[Number(position)];
          if ('is' in bound) return bound.is === value;
          if ('oneOf' in bound) return bound.oneOf.includes(value);
          const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = bound as {
            min?: number;
            max?: number;
          };
          return value !== undefined && value >= min && value <= max;
        })
      );
    },
  };
}

/** `scoped` asks the clock of a turn for what is permanent. */
const scopedAt = (given: GrantTerms): ReturnType<typeof parseTerms> =>
  given.scope === 'permanent'
    ? { ...parseTerms({ ...given, scope: undefined } as unknown as GrantTerms), terms: { until: now + 90 * day, ...parseTerms(without(given)).terms, audited: true } } // biome-ignore format: one line
    : parseTerms(given);
const without = ({ scope: _, ...terms }: GrantTerms): GrantTerms => terms;

const names = ['a', 'b', 'c'] as const;
const value = fc.integer({ min: 0, max: 4 });
const boundOf = fc.oneof(
  value.map((is) => ({ is })),
  fc.array(value, { minLength: 1, maxLength: 3 }).map((oneOf) => ({ oneOf })),
  fc.tuple(value, value).map(([x, y]) => ({ min: Math.min(x, y), max: Math.max(x, y) })),
  value.map((max) => ({ max })),
);
const positions = fc
  .tuple(fc.option(boundOf, { nil: undefined }), fc.option(boundOf, { nil: undefined }), boundOf)
  .map(([x, y, z]) => ({ ...(x === undefined ? {} : { 0: x }), ...(y === undefined ? { 0: z } : { 1: y }) }));
const methodSet = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 });
const time: fc.Arbitrary<GrantTerms> = fc.oneof(
  fc.constant({}),
  fc.constantFrom(1, minute, 15 * minute, day, 90 * day).map((ms) => ({ for: ms })),
  fc.constantFrom(now + 1, now + minute, now + day, now + 90 * day).map((until) => ({ until })),
  fc.constantFrom('session' as const, 'permanent' as const).map((scope) => ({ scope })),
);
const rest = fc.record(
  {
    uses: fc.integer({ min: 1, max: 5 }),
    methods: methodSet,
    where: fc.dictionary(fc.constantFrom(...names), positions, { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
    audited: fc.boolean(),
    mount: fc.boolean(),
    gated: fc.oneof(fc.constant(true as const), methodSet),
  },
  { requiredKeys: [] },
);
const isTerms = (given: GrantTerms): boolean => !message(() => checkTerms(scopedAt(given).terms)).startsWith('invalid');
const terms = fc.tuple(time, rest).map(([when, more]): GrantTerms => ({ ...more, ...when }) as GrantTerms).filter(isTerms); // biome-ignore format: one line
const call = fc.tuple(fc.constantFrom(...names, 'd'), fc.array(value, { maxLength: 4 }));

test('arguments that are bound by name are narrowed by name, and by the fields of their one record', () => {
  const asked: GrantTerms = { where: { send: { to: { oneOf: ['ann', 'bob'] }, text: { like: 'Minutes of {day}' }, cc: { optional: { any: true } } } } }; // biome-ignore format: one line
  const given = (where: GrantTerms['where']): unknown => stricter(asked, { where: where as never }, now).where;
  const fields = { to: { is: 'ann' }, text: { is: 'Minutes of Friday' } };
  const narrower = { send: { 0: { fields } } };
  expect(given({ send: fields })).toEqual(narrower);
  expect(given(narrower)).toEqual(narrower);
  for (const wide of [
    { send: { ...fields, to: { is: 'eve' } } },
    { send: { ...fields, to: { any: true } } },
    { send: { ...fields, text: { like: '{anything}' } } },
    { send: { ...fields, text: { is: 'Minutes of Friday\nBcc: eve' } } },
    { send: { ...fields, text: { optional: { is: 'Minutes of Friday' } } } },
    { send: { ...fields, bcc: { is: 'eve' } } },
    { send: { to: { is: 'ann' } } },
    { send: { 0: { any: true } } },
  ] as const)
    expect([wide, message(() => given(wide as GrantTerms['where']))]).toEqual([wide, expect.stringMatching(/argument 1 of "send"/)]); // biome-ignore format: one line
});

test('whatever is asked and whatever is approved, the grant has never more than either', () => {
  let granted = 0;
  fc.assert(
    fc.property(terms, terms, fc.array(call, { minLength: 10, maxLength: 20 }), (asked, said, calls) => {
      let given: GrantTerms;
      try {
        given = stricter(asked, said, now);
      } catch (error) {
        expect((error as { readonly code?: string }).code).toBe('invalid');
        return;
      }
      granted += 1;
      // It is a record of terms like any other.
      checkTerms(parseTerms(given).terms);
      const has = reach(given);
      for (const most of [reach(asked), reach(said)]) {
        expect(has.uses).toBeLessThanOrEqual(most.uses);
        expect(has.until).toBeLessThanOrEqual(most.until);
        expect([has.boots && !most.boots, has.mount && !most.mount, has.silent && !most.silent]).toEqual([false, false, false]); // biome-ignore format: one line
        for (const [method, args] of calls)
          if (has.calls(method, args)) {
            expect(most.calls(method, args)).toBe(true);
            if (most.asks(method)) expect(has.asks(method)).toBe(true);
          }
      }
    }),
    { numRuns: 1000 },
  );
  // Refusing everything would keep the promise too.
  expect(granted).toBeGreaterThan(20);
});

test('over the wire, for any terms: what was granted has no more uses, time or methods than was asked or approved', async () => {
  const at = await scene();
  const plain = fc.record(
    { uses: fc.integer({ min: 1, max: 5 }), for: fc.constantFrom(minute, day, 90 * day), methods: fc.uniqueArray(fc.constantFrom('readText', 'list', 'stat'), { minLength: 1 }) }, // biome-ignore format: one line
    { requiredKeys: [] },
  ) as fc.Arbitrary<GrantTerms>;
  let last: string | undefined;
  await fc.assert(
    fc.asyncProperty(plain, plain, async (asked, said) => {
      const cap = at.request({ terms: asked });
      const [request] = (await at.inbox()) as readonly [Request];
      const before = Date.now();
      const answered = await code(at.answer(request, { grant: said }));
      if (answered === 'invalid') {
        await E(at.owner).answer(request.id, { refuse: 'wider', digest: request.digest });
        return;
      }
      expect(answered).toBe('ok');
      await cap;
      const [grant] = await E(at.owner).list(last === undefined ? {} : { after: last });
      last = grant!.id;
      const most = (key: 'uses', of: GrantTerms): number => of[key] ?? Number.POSITIVE_INFINITY;
      expect(grant!.usesLeft ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(Math.min(most('uses', asked), most('uses', said))); // biome-ignore format: one line
      const term = ({ for: ms, uses }: GrantTerms): number => ms ?? (uses === undefined ? 15 * minute : 90 * day);
      expect(grant!.until - before).toBeLessThanOrEqual(Math.min(term(asked), term(said)) + (Date.now() - before));
      const name = grant!.petname;
      const held = (await E(at.agent.bootstrap).cap(name)) as unknown as Readonly<Record<string, (path: string) => Promise<unknown>>>; // biome-ignore format: one line
      for (const method of ['readText', 'list', 'stat'])
        if ([asked, said].some(({ methods }) => methods?.includes(method) === false))
          expect(['no-such-method', 'exhausted']).toContain(await code((E(held) as typeof held)[method]!('x')));
    }),
    { numRuns: 25 },
  );
});
