/** How a granter changes a grant in use: narrowing takes away, renewing extends, and nothing else changes. */
import { E, type Far, openStore, openVats, type Vats, verifyLedger } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { Box, code } from '../../test/world.ts';
import { definitions, type GrantActor, grantOf, type Terms } from '../index.ts';

const day = 86_400_000;
const clock = testClock();
async function world(): Promise<Vats> {
  const store = await openStore({ memory: true });
  const vats = await openVats({ store, clock, definitions: [...definitions, Box] });
  onTestFinished(async () => {
    expect(await verifyLedger(store)).toMatchObject({ ok: true });
    await vats.close();
    await store.close();
  });
  return vats;
}
async function granted(vats: Vats, terms: Terms): Promise<{ readonly cap: Far<Box>; readonly actor: Far<GrantActor> }> {
  const box = await vats.vat('grants').spawn(Box('box'));
  const [cap, actor] = (await vats.vat('grants').turn(() => {
    const made = grantOf(box, terms);
    return [made.cap, made.actor];
  })) as unknown as readonly [Far<Box>, Far<GrantActor>];
  return { cap, actor };
}

test('a grant without uses is narrowed to two, and the uses left only get fewer', async () => {
  const { cap, actor } = await granted(await world(), {});
  await E(actor).narrow({ uses: 2 });
  expect(await code(E(cap).read())).toBe('ok');
  await E(actor).narrow({ uses: 5 });
  expect((await E(actor).look()).usesLeft).toBe(1);
  expect(await code(E(cap).read())).toBe('ok');
  expect(await code(E(cap).read())).toBe('exhausted');
  expect(await code(E(actor).narrow({ uses: 5 }))).toBe('exhausted');
  expect(await code(E(actor).renew(clock.wall() + day))).toBe('exhausted');
});

test('narrowing with any terms never lets more through: time, methods and bounds', async () => {
  const vats = await world();
  const some = fc.record(
    {
      uses: fc.integer({ min: 1, max: 5 }),
      for: fc.integer({ min: 1, max: 5000 }),
      methods: fc.constantFrom<string[]>(['read'], ['write'], ['read', 'write']),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(some, fc.array(some, { maxLength: 3 }), async (terms, changes) => {
      const { cap, actor } = await granted(vats, terms);
      let [uses, until, methods] = [terms.uses ?? Number.POSITIVE_INFINITY, clock.wall() + (terms.for ?? 15 * 60_000), terms.methods]; // biome-ignore format: one line
      for (const change of changes) {
        const said = await code(E(actor).narrow(change));
        const wider = change.methods?.some((method) => methods?.includes(method) === false) === true;
        expect(said).toBe(Object.keys(change).length === 0 || wider ? 'invalid' : 'ok');
        if (said !== 'ok') continue;
        uses = Math.min(uses, change.uses ?? uses);
        until = Math.min(until, change.for === undefined ? until : clock.wall() + change.for);
        methods = change.methods ?? methods;
      }
      const look = await E(actor).look();
      expect(look.usesLeft ?? Number.POSITIVE_INFINITY).toBe(uses);
      expect(look.until).toBe(until);
      expect(await code(E(cap).read())).toBe(methods?.includes('read') === false ? 'no-such-method' : 'ok');
      clock.advance(until - clock.wall());
      expect(await code(E(cap).read())).toBe('expired');
    }),
    { numRuns: 150 },
  );
});

test('narrowing adds bounds and never replaces them; a grant that gets a filter cannot be mounted', async () => {
  const { cap, actor } = await granted(await world(), {});
  await E(actor).narrow({ where: { write: { 0: { is: 'a' } } }, methods: ['read', 'write'] });
  expect(await code(E(cap).write('b'))).toBe('denied');
  expect(await code(E(cap).write('a'))).toBe('ok');
  expect(await code(E(actor).narrow({ where: { write: { 0: { is: 'b' } } } }))).toBe('invalid');
  expect(await code(E(actor).narrow({ mount: true }))).toBe('invalid');
  expect(await code(E(actor).narrow({ methods: ['remove'] }))).toBe('invalid');
  for (const terms of [{}, null, { uses: 0 }, { until: 5 }, { more: 1 }])
    expect(await code(E(actor).narrow(terms as Terms)), JSON.stringify(terms)).toBe('invalid');
});

test('a grant is renewed to a later time only, at most 90 days; an ended one stays ended', async () => {
  const { cap, actor } = await granted(await world(), { for: 1000 });
  for (const until of [clock.wall() + 500, clock.wall() - 5, clock.wall() + 91 * day, Number.NaN, '5'])
    expect(await code(E(actor).renew(until as number)), String(until)).toBe('invalid');
  await E(actor).renew(clock.wall() + 5000);
  clock.advance(4000);
  expect(await code(E(cap).read())).toBe('ok');
  expect(await E(actor).look()).toMatchObject({ state: 'live', lasting: true });
  clock.advance(1000);
  expect(await code(E(cap).read())).toBe('expired');
  expect(await code(E(actor).renew(clock.wall() + day))).toBe('expired');
  expect(await code(E(actor).narrow({ uses: 1 }))).toBe('expired');
  const other = await granted(await world(), {});
  await E(other.actor).revoke('enough');
  expect(await code(E(other.actor).renew(clock.wall() + day))).toBe('revoked');
  expect(await code(E(other.cap).read())).toBe('revoked');
});
