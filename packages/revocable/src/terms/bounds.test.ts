/** Bounds on arguments. The attacker chooses the arguments. */
import { type CapError, type Definition, define, E, type Far, promise, spawn } from '@hob/vat';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { volume } from '../../../../test/depth.ts';
import { Box, code, lines, say, world } from '../../test/world.ts';
import { bound, revocable, type Terms } from '../index.ts';
import type { Bound } from './bound.ts';
import { type Bounds, boundText, checkBounds, narrowerBound, readBounds } from './bounds.ts';

interface Account {
  pay(to: unknown, amount: unknown, ...more: readonly unknown[]): string;
  balance(): number;
}
const Account: Definition<Account, [paid: number]> = define('Account', (bcom, paid) => ({
  pay: (to, amount, ...more) => bcom(Account(paid + 1), `paid ${String(amount)} to ${String(to)} ${more.length}`),
  balance: () => paid,
}));

const terms = { uses: 2, where: { pay: { 0: { is: 'alice' }, 1: { min: 1, max: 50 } } } } as const;

test('pay this account, at most 50, twice', async () => {
  const { vats } = await world();
  const account = await vats.vat('boxes').spawn(Account(0));
  const { cap } = revocable(account, terms);
  expect(await E(cap).pay('alice', 50)).toBe('paid 50 to alice 0');
  expect(await code(E(cap).pay('alice', 51))).toBe('denied');
  expect(await code(E(cap).pay('bob', 1))).toBe('denied');
  expect(await E(cap).pay('alice', 1)).toBe('paid 1 to alice 0');
  expect(await code(E(cap).pay('alice', 1))).toBe('exhausted');
});

test('a grant with bounds includes only the methods that its bounds name', async () => {
  const { vats } = await world();
  const account = await vats.vat('boxes').spawn(Account(0));
  expect(await code(E(revocable(account, terms).cap).balance())).toBe('no-such-method');
  const { cap } = revocable(account, { methods: ['pay', 'balance'], where: terms.where });
  expect(await E(cap).balance()).toBe(0);
  expect(await code(E(cap).pay('bob', 1))).toBe('denied');
  // `bound` by itself lets other methods pass.
  const bare = bound(account, terms.where);
  expect(await E(bare).balance()).toBe(0);
  expect(await code(E(bare).pay('bob', 1))).toBe('denied');
});

test('a refusal names the argument, what is allowed and what to ask for; it spends no use and repeats no argument', async () => {
  const { vats, store } = await world();
  const account = await vats.vat('boxes').spawn(Account(0));
  const { cap } = revocable(account, terms);
  const error = (await E(cap).pay('alice', 'my secret').catch((caught: unknown) => caught)) as CapError; // biome-ignore format: one line
  expect(error.message).toBe(
    'argument 1 of "pay" must be a number from 1 to 50 here: change the argument, or ask for a grant that allows this',
  );
  const other = (await E(cap).pay('bob', 1).catch((caught: unknown) => caught)) as CapError; // biome-ignore format: one line
  expect(other.message).toContain('argument 0 of "pay" must be "alice" here');
  expect(await lines(store, 'refuse')).toMatchObject([{ code: 'denied', method: 'pay' }]);
  expect(JSON.stringify(await lines(store))).not.toContain('secret');
  for (let i = 0; i < 2; i += 1) expect(await code(E(cap).pay('alice', 1))).toBe('ok');
});

const evil: readonly (readonly [string, () => unknown])[] = [
  ['NaN', () => Number.NaN],
  ['-0', () => -0],
  ['Infinity', () => Number.POSITIVE_INFINITY],
  ['a bigint', () => 5n],
  ['text of a number', () => '5'],
  ['a number object', () => Object(5)],
  ['an object that becomes a number', () => ({ valueOf: () => 5 })],
  ['an array of one', () => [5]],
  ['nothing', () => undefined],
  ['null', () => null],
  ['true', () => true],
  ['a Proxy', () => new Proxy({}, { get: () => 5 })],
  ['a getter', () => ({ get x(): number { return 5; } })], // biome-ignore format: one line
  ['a promise', () => Promise.resolve(5)],
  ['a promise that is never kept', () => promise<number>().promise],
  ['a number that is a little more', () => 50.000_000_1],
];
test.each(evil)('%s is no number from 1 to 50', async (_name, make) => {
  const { vats } = await world();
  const account = await vats.vat('boxes').spawn(Account(0));
  const { cap } = revocable(account, terms);
  const answer = await code(say(cap, 'pay', 'alice', make()));
  // A promise for data arrives as that data, and is compared as such.
  if (_name === 'a promise') expect(['ok', 'denied']).toContain(answer);
  else expect(['denied', 'invalid']).toContain(answer);
  expect(await E(account).balance()).toBe(answer === 'ok' ? 1 : 0);
});

test('missing and extra arguments are refused: one more could change the meaning of the others', async () => {
  const { vats } = await world();
  const account = await vats.vat('boxes').spawn(Account(0));
  const { cap } = revocable(account, { where: terms.where });
  for (const args of [[], ['alice'], ['alice', 5, { really: 5000 }], ['alice', 5, undefined]])
    expect(await code(say(cap, 'pay', ...args)), JSON.stringify(args)).toBe('denied');
  expect(await code(say(cap, 'pay', 'alice', 5))).toBe('ok');
});

test('a bounded cap cannot be called near: checked arguments could change before they arrive', async () => {
  const { vats } = await world();
  const vat = vats.vat('one');
  expect(
    await code(vat.turn(() => (bound(spawn(Account(0)), terms.where) as unknown as Account).pay('alice', 1))),
  ).toBe('not-callable');
});

test('a reference is compared by identity', async () => {
  const { vats, box } = await world();
  const [account, other] = [await vats.vat('boxes').spawn(Account(0)), await vats.vat('boxes').spawn(Box('other'))];
  const Open: Definition<{ pay(to: Box): string }, []> = define('Open', () => ({ pay: () => 'paid' }));
  const open = (await vats.vat('boxes').spawn(Open())) as Far<{ pay(to: Box): string }>;
  const { cap } = revocable(open, { where: { pay: { 0: { is: box } } } });
  expect(await code(say(cap, 'pay', box))).toBe('ok');
  for (const wrong of [other, account, 'box', {}]) expect(await code(say(cap, 'pay', wrong))).toBe('denied');
});

test('data is compared by type and value at every depth, never by its text', () => {
  const check = (bound: unknown, value: unknown): string => {
    try {
      checkBounds(readBounds({ m: { 0: bound } } as unknown as Bounds), 'm', [value]);
      return 'ok';
    } catch (error) {
      return (error as CapError).code;
    }
  };
  for (const [a, b] of [
    [1, '1'], [1, 1n], [0, -0], [null, undefined], ['', 0], [false, 0], ['a', 'A'], ['\u00e9', 'e\u0301'], ['a', 'a '],
    [[1, 2], [2, 1]], [[1], { 0: 1, length: 1 }], [{ a: 1 }, { a: 1, b: undefined }], [{ a: { b: 1 } }, { a: { b: '1' } }],
    [new Uint8Array([1]), new Uint8Array([2])], [new Uint8Array([1]), [1]], [[], {}], ['1,2', [1, 2]], ['[object Object]', {}],
  ]) {
    expect(check({ is: a }, b)).toBe('denied');
    expect(check({ is: b }, a)).toBe('denied');
    expect(check({ oneOf: [a] }, b)).toBe('denied');
  } // biome-ignore format: pairs
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withNullPrototype: false }), (x) => {
      const copy = structuredClone(x);
      const plain = (y: unknown): boolean =>
        typeof y !== 'object' || y === null
          ? true
          : (Array.isArray(y) || Object.getPrototypeOf(y) === Object.prototype) &&
            // No record may have this key: `invalid`.
            !Object.hasOwn(y, '__proto__') &&
            Object.values(y).every(plain);
      if (!plain(x)) return;
      expect(check({ is: x }, copy)).toBe('ok');
      expect(check({ oneOf: ['other', x] }, copy)).toBe('ok');
      expect(check({ is: [x] }, x)).toBe('denied');
    }),
  );
});

test('ranges exclude NaN, -0 and infinite numbers', () => {
  const inRange = (min: number, max: number, value: number): boolean => {
    try {
      checkBounds({ m: { 0: { min, max } } }, 'm', [value]);
      return true;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(fc.integer(), fc.integer(), fc.double({ noNaN: true }), (a, b, value) => {
      const [min, max] = [Math.min(a, b), Math.max(a, b)];
      const meant = Number.isFinite(value) && !Object.is(value, -0) && value >= min && value <= max;
      expect(inRange(min, max, value)).toBe(meant);
    }),
  );
});

test.each([
  null, 7, [], {}, { pay: {} }, { pay: null }, { '': { 0: { is: 1 } } }, { pay: { '01': { is: 1 } } }, { pay: { '-1': { is: 1 } } },
  { pay: { 1.5: { is: 1 } } }, { pay: { 'to whom': { is: 1 } } }, { pay: { 0: { is: 1 }, to: { is: 1 } } }, { pay: { to: 5 } }, { pay: { 0: 5 } }, { pay: { 0: {} } }, { pay: { 0: { is: 1, max: 2 } } },
  { pay: { 0: { oneOf: [] } } }, { pay: { 0: { oneOf: 'ab' } } }, { pay: { 0: { min: Number.NaN } } }, { pay: { 0: { max: '5' } } },
  { pay: { 0: { min: 2, max: 1 } } }, { pay: { 0: { min: Number.POSITIVE_INFINITY } } }, { pay: { 0: { most: 5 } } }, { pay: { 0: { min: undefined } } },
])('%j is no bound, and makes no grant', async (where) => {
  const { box } = await world();
  expect(() => revocable(box, { where } as unknown as Terms)).toThrowError(expect.objectContaining({ code: 'invalid' }));
}); // biome-ignore format: a list

test('a bound on a method that the grant does not have is invalid', async () => {
  const { box } = await world();
  expect(() => revocable(box, { methods: ['pay'], where: { Pay: { 0: { is: 1 } } } })).toThrowError(/correct its name/);
});

test('terms are read once: a getter that returns 1 and then 1,000 counts as 1', async () => {
  const { box } = await world();
  let asked = 0;
  const sly = {
    get uses(): number {
      asked += 1;
      return asked === 1 ? 1 : 1000;
    },
  };
  const { cap } = revocable(box, sly);
  await E(cap).read();
  expect(await code(E(cap).read())).toBe('exhausted');
});

test('bounds cannot be changed after the grant is made', async () => {
  const { vats } = await world();
  const account = await vats.vat('boxes').spawn(Account(0));
  const oneOf = ['alice'];
  const is = { to: 'alice' };
  const { cap } = revocable(account, { where: { pay: { 0: { oneOf }, 1: { is } } } });
  oneOf.push('bob');
  is.to = 'bob';
  expect(await code(say(cap, 'pay', 'bob', { to: 'alice' }))).toBe('denied');
  expect(await code(say(cap, 'pay', 'alice', { to: 'bob' }))).toBe('denied');
});

const taken = (bound: Bound, value: unknown): boolean => {
  try {
    checkBounds(readBounds({ call: { 0: bound } }), 'call', value === undefined ? [] : [value]);
    return true;
  } catch (error) {
    expect((error as CapError).code).toBe('denied');
    return false;
  }
};

test('a path beneath a directory is compared name by name, and never as a text', () => {
  const bound = { beneath: ['data', 'src'] };
  for (const good of ['/data/src', '/data/src/a', '/data/src/a/b.txt', '/data/src/..a', '/data/src/%2e%2e'])
    expect([good, taken(bound, good)]).toEqual([good, true]);
  for (const bad of [
    ...[
      '/data/srcs',
      '/data/src-2/a',
      '/data',
      '/',
      '',
      'data/src/a',
      './data/src',
      '/data/src/../key',
      '/data/src/./a',
    ],
    ...[
      '/data//src/a',
      '//data/src/a',
      '/data/src/',
      '/data/src/a/',
      '/data/src/..',
      '/data/src/a\0',
      '/DATA/src',
      '/data/src\0/a',
    ],
    ...['file:///data/src/a', '~/data/src', [['/data/src/a']], { 0: '/' }, 5, null, undefined, Object('/data/src/a')],
  ])
    expect([bad, taken(bound, bad)]).toEqual([bad, false]);
  expect(taken({ beneath: [] }, '/etc/passwd')).toBe(true);
});

test('the fields of a record are bound by name: one that is missing, or that no bound names, is refused', () => {
  const bound = {
    fields: { owner: { is: 'acme' }, path: { beneath: ['data'] }, n: { max: 5 }, text: { any: true } },
  } as const;
  const good = { owner: 'acme', path: '/data/a', n: 3, text: { x: [1] } };
  expect(taken(bound, good)).toBe(true);
  expect(taken(bound, { owner: 'acme', path: '/data/a', n: 3 })).toBe(true);
  for (const bad of [
    ...[
      { ...good, owner: 'other' },
      { ...good, owner: ['acme'] },
      { ...good, path: '/etc' },
      { ...good, n: '3' },
    ],
    ...[{ ...good, paths: ['/etc'] }, { path: '/data/a', n: 3 }, {}, [], [good], 'acme', null, undefined],
    JSON.parse('{"__proto__":{"owner":"acme"},"path":"/data/a","n":3}'),
  ])
    expect([bad, taken(bound, bad)]).toEqual([bad, false]);
  expect(boundText(bound)).toBe(
    'a record of "owner" "acme", "path" a path beneath "/data", "n" a number of at most 5, "text" anything',
  );
});

const value = fc.oneof(
  fc.constantFrom<unknown>('a', 'b', 1, 2, 3, '/x', '/x/y', '/x/y/z', '/x/../y', undefined),
  fc.jsonValue({ maxDepth: 2 }),
);
const { bound: anyBound } = fc.letrec<{ bound: Bound }>((tie) => ({
  bound: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('a', 'b', 1, 2, '/x/y').map((is) => ({ is })),
    fc.subarray<unknown>(['a', 'b', 1, 2, '/x'], { minLength: 1 }).map((oneOf) => ({ oneOf })),
    fc.constantFrom<Bound>({ min: 1 }, { max: 2 }, { min: 1, max: 3 }, { any: true }),
    fc.constantFrom<string[]>([], ['x'], ['x', 'y']).map((beneath) => ({ beneath })),
    fc.constantFrom('{x}', '/{x}', '/x/{y}').map((like) => ({ like })),
    tie('bound').map((optional) => ({ optional })),
    fc.dictionary(fc.constantFrom('p', 'q'), tie('bound'), { maxKeys: 2 }).map((fields) => ({ fields })),
  ),
}));
const args = fc.oneof(value, fc.dictionary(fc.constantFrom('p', 'q', 'r'), fc.oneof(value, fc.dictionary(fc.constantFrom('p', 'q'), value)), { maxKeys: 3 })); // biome-ignore format: one line

test('a bound that passes for a narrower one takes nothing that the wider one refuses', () => {
  let narrowed = 0;
  fc.assert(
    fc.property(anyBound, anyBound, fc.array(args, { maxLength: 12 }), (outer, inner, values) => {
      const found = narrowerBound(outer, inner);
      if (found === undefined) return;
      narrowed += 1;
      for (const one of values)
        if (taken(found, one)) expect([outer, found, one, taken(outer, one)]).toEqual([outer, found, one, true]);
    }),
    { numRuns: volume(500, 2_000) },
  );
  expect(narrowed).toBeGreaterThan(volume(12, 50));
});

test.each([
  { any: false }, { beneath: 'a/b' }, { beneath: ['a/b'] }, { beneath: ['..'] }, { beneath: [''] }, { fields: [] }, { fields: { a: 1 } }, { fields: { a: {} } },
  { fields: { a: { is: 1, any: true } } }, { optional: 5 }, { optional: {} }, { like: 'x' }, { like: '{x}', is: 'x' }, Array.from({ length: 20 }).reduce<object>((inner) => ({ fields: { a: inner } }), { any: true }),
])('%j is no bound of a record or a path', (bound) => {
  expect(() => readBounds({ call: { 0: bound } } as never)).toThrowError(expect.objectContaining({ code: 'invalid' }));
}); // biome-ignore format: a list
