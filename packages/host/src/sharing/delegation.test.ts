/** Handing on: what a child gets hangs under its parent's grant in every way, and nothing else reaches it. */
import { E, type Far } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { code, held, lines, type TestHost, testHost } from '../../test/test-host.ts';
import type { Grant, NewSession } from '../index.ts';

interface Bell {
  ring(): Promise<string>;
  fail(): Promise<never>;
  inner(): Promise<Bell>;
}
const clock = testClock();
let home: TestHost;
let rung: number;
let child: NewSession;
beforeEach(async () => {
  home = await testHost({ clock });
  rung = 0;
  const bell: Record<string, () => Promise<unknown>> = {
    ring: async () => `${(rung += 1)}`,
    fail: async () => {
      throw new RangeError('it always fails');
    },
    inner: async () => bell,
  };
  await home.host.offer('bell', bell);
  child = await home.host.openSession({ name: 'child', granters: ['owner'], parent: home.session.id });
});
afterEach(() => home.close());
const grant = (petname: string, terms = {}): Promise<Grant> =>
  E(home.granter).grant(home.session.id, petname, 'bell', terms) as unknown as Promise<Grant>;
const hand = (petname: string, options = {}, to = child.id, from = home.session.id): Promise<Grant> =>
  E(home.granter).delegate(from, petname, to, options) as unknown as Promise<Grant>;
const ring = async (
  session: { cap<T extends object>(petname: string): Promise<Far<T>> },
  petname: string,
): Promise<string> =>
  // biome-ignore format: one line
  code(E(await session.cap<Bell>(petname)).ring());
const state = async (id: string): Promise<Partial<Grant> | undefined> =>
  ((await E(home.granter).list()) as readonly Grant[]).find((each) => each.id === id);

test('a child starts empty; a delegated cap works, and is revoked, expires and is exhausted with the parent’s', async () => {
  expect(await child.caps()).toEqual([]);
  for (const [petname, terms] of [
    ['revoked', {}],
    ['expired', { for: 1000 }],
    ['exhausted', { uses: 2 }],
  ] as const) {
    const parents = await grant(petname, terms);
    const childs = await hand(petname);
    expect(childs).toMatchObject({ parent: parents.id, session: child.id, granter: 'owner', offered: 'bell', until: parents.until }); // biome-ignore format: one line
    expect(await ring(child, petname)).toBe('ok');
    const inner = await E(await child.cap<Bell>(petname)).inner();
    if (petname === 'revoked') await E(home.granter).revoke({ grant: parents.id });
    if (petname === 'expired') clock.advance(1000);
    expect(await ring(child, petname)).toBe(petname);
    // Also what came out of it earlier.
    expect(await code(E(inner).ring())).toBe(petname);
    expect(await state(childs.id)).toMatchObject({ state: petname });
    expect(await code(hand(petname, { as: 'again' }))).toBe(petname);
  }
  // The child's end is not the parent's.
  await grant('kept');
  const lent = await hand('kept', { as: 'lent', uses: 1, methods: ['ring'] });
  expect(await code(E(await child.cap<Bell>('lent')).fail())).toBe('no-such-method');
  expect(await ring(child, 'lent')).toBe('ok');
  expect(await ring(child, 'lent')).toBe('exhausted');
  await E(home.granter).revoke({ grant: lent.id });
  expect(await ring(home.session, 'kept')).toBe('ok');
});

test('a use is spent of every limited grant above or of none, also if the call fails; a refused call costs no use', async () => {
  const grand = await home.host.openSession({ name: 'grand', granters: ['owner'], parent: child.id });
  let round = 0;
  const uses = fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(uses, uses, uses),
      fc.array(fc.record({ by: fc.nat(2), how: fc.constantFrom('ring', 'fail', 'narrow' as const) }), {
        maxLength: 12,
      }),
      async (limits, calls) => {
        round += 1;
        const petname = `p${round}`;
        const terms = limits.map((limit) => (limit === undefined ? {} : { uses: limit }));
        const ids = [
          (await grant(petname, terms[0])).id,
          (await hand(petname, terms[1])).id,
          (await hand(petname, terms[2], grand.id, child.id)).id,
        ];
        const caps = await Promise.all([home.session, child, grand].map((session) => session.cap<Bell>(petname)));
        const left = limits.map((limit) => limit ?? Number.POSITIVE_INFINITY);
        for (const { by, how } of calls) {
          // Whoever calls spends of its own and of all above.
          const spends = left.slice(0, by + 1);
          const passes = spends.every((each) => each > 0);
          if (how === 'narrow') {
            const said = await code(E(home.granter).narrow(ids[by] as string, { uses: 2 }));
            expect(said).toBe((left[by] as number) > 0 ? 'ok' : 'exhausted');
            left[by] = Math.min(left[by] as number, 2);
            continue;
          }
          const before = rung;
          const said = await code(how === 'ring' ? E(caps[by] as Far<Bell>).ring() : E(caps[by] as Far<Bell>).fail());
          expect(said).toBe(passes ? (how === 'ring' ? 'ok' : said) : 'exhausted');
          expect(rung - before).toBe(passes && how === 'ring' ? 1 : 0);
          if (passes) for (let at = 0; at <= by; at += 1) left[at] = (left[at] as number) - 1;
          const seen = await Promise.all(
            ids.map(async (id) => (await state(id))?.usesLeft ?? Number.POSITIVE_INFINITY),
          );
          // A list shows no more than the grants above have left.
          expect(seen).toEqual(left.map((_, n) => Math.min(...left.slice(0, n + 1))));
        }
      },
    ),
    { numRuns: 20 },
  );
});

test('when 64 calls of three generations race for the last uses, exactly that many pass', async () => {
  const grand = await home.host.openSession({ name: 'grand', granters: ['owner'], parent: child.id });
  await grant('op', { uses: 5 });
  await hand('op');
  await hand('op', {}, grand.id, child.id);
  const caps = await Promise.all([home.session, child, grand].map((session) => session.cap<Bell>('op')));
  const codes = await Promise.all(Array.from({ length: 64 }, (_, n) => code(E(caps[n % 3] as Far<Bell>).ring())));
  expect(codes.filter((each) => each === 'ok')).toHaveLength(5);
  expect(codes.filter((each) => each === 'exhausted')).toHaveLength(59);
  expect(rung).toBe(5);
});

test('the ledger shows the parent of each grant, and a line of each grant for each call', async () => {
  const parents = await grant('op', { uses: 5 });
  const childs = await hand('op', { uses: 2, as: 'mine' });
  expect(await lines(home.host, 'grant')).toMatchObject([
    { grant: parents.id, by: 'owner', surface: 'program', offered: 'bell' },
    { grant: childs.id, parent: parents.id, petname: 'mine', by: 'owner', chain: `${home.session.id} > ${child.id}` },
  ]);
  await ring(child, 'mine');
  expect((await lines(home.host, 'call')).map((line) => [line['grant'], line['use']])).toEqual([
    [childs.id, 1],
    [parents.id, 1],
  ]);
  const agent = await home.enter(home.session.secret);
  const { id } = await E(agent.bootstrap).spawnChild({ name: 'helper', caps: { a: 'op' } });
  expect((await lines(home.host, 'grant')).at(-1)).toMatchObject({ session: id, parent: parents.id, by: home.session.id, chain: `${home.session.id} > ${id}` }); // biome-ignore format: one line
  expect((await lines(home.host, 'session')).at(-1)).toMatchObject({ session: id, what: 'open', parent: home.session.id, granters: ['owner'] }); // biome-ignore format: one line
});

test('an agent spawns a child with caps that it holds, by petname; it sees nothing of the child but its secret', async () => {
  await grant('op', { uses: 2 });
  const agent = await home.enter(home.session.secret);
  for (const [child, expected] of [
    [{ name: 'x', caps: { a: 'absent' } }, 'no-such-object'],
    [{ name: 'x', caps: { a: 'op', b: 7 } }, 'invalid'],
    [{ name: 'x', caps: { 'A b': 'op' } }, 'invalid'],
    [{ name: '../x', caps: {} }, 'invalid'],
    [{ name: 'child', caps: {} }, 'invalid'],
    [{ caps: {} }, 'invalid'],
    [undefined, 'invalid'],
    [{ name: 'x', caps: { rn: 'op', m: 'op' } }, 'invalid'],
  ] as const)
    expect(await code(E(agent.bootstrap).spawnChild(child as never)), JSON.stringify(child)).toBe(expected);
  expect(await home.host.sessions()).toHaveLength(2);
  const { id, secret } = await E(agent.bootstrap).spawnChild({ name: 'helper', caps: { mine: 'op' } });
  const helper = await home.enter(secret);
  expect(await E(helper.bootstrap).caps()).toEqual(['mine']);
  expect(await code(E(held<Bell>(helper, 'mine')).ring())).toBe('ok');
  expect(await ring(home.session, 'op')).toBe('ok');
  expect(await code(E(held<Bell>(helper, 'mine')).ring())).toBe('exhausted');
  // Whoever sees the parent sees the child, and can end it.
  expect((await E(home.granter).sessions()).map((each) => [each.id, each.parent])).toContainEqual([
    id,
    home.session.id,
  ]);
  await E(home.granter).end(id, 'not needed');
  expect((await helper.closed).code).toBe(4403);
});

test('a cap can be delegated only to a child of its holder', async () => {
  await grant('op');
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  const strangers = await home.host.openSession({ name: 'strangers', parent: home.session.id });
  for (const to of [other.id, strangers.id, home.session.id, 'nobody', 7, null])
    expect(await code(hand('op', {}, to as string)), String(to)).toBe('no-such-object');
  expect(await code(hand('absent'))).toBe('no-such-object');
  expect(await code(hand('op', { uses: 0 }))).toBe('invalid');
  expect(await code(hand('op', { as: '../x' }))).toBe('invalid');
  expect(await other.caps()).toEqual([]);
  await hand('op');
  expect(await code(hand('op'))).toBe('invalid');
});
