/** Objects that a call makes have the terms in `made`. The attacker holds them and wants more. */
import { type Definition, define, E, type Far } from '@hob/vat';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Box, code, jobs, lines, say, slowDriver, type World, world } from '../test/world.ts';
import { type GrantActor, grantOf, membrane, revocable, type Terms } from './index.ts';

const ONCE: Terms = { uses: 1, methods: ['open', 'deep', 'give'], made: { uses: 2, methods: ['read', 'write'] } };

/** The same tests in memory and in a durable vat, where portraits are stored. */
const both = test.each([
  ['in memory', undefined],
  ['in a durable vat', []],
] as const);
const worldOf = (durable: readonly never[] | undefined): Promise<World> =>
  world(durable === undefined ? undefined : [Laters]);

interface Granted {
  readonly cap: Far<Box>;
  readonly actor: Far<GrantActor>;
}
const grant = async ({ vat, box }: World, terms: Terms, inner: object = box): Promise<Granted> => {
  const [cap, actor] = (await vat.turn(() => {
    const made = grantOf(inner, terms, 'g1');
    return [made.cap, made.actor] as never[];
  })) as unknown as [Far<Box>, Far<GrantActor>];
  return { cap, actor };
};
const opened = async (cap: Far<Box>): Promise<Far<Box>> => (await E(cap).open('a')) as unknown as Far<Box>;

both('%s: create once, then change what was created, is one grant', async (_where, durable) => {
  const at = await worldOf(durable);
  const { cap } = await grant(at, ONCE);
  const made = await opened(cap);
  expect(await E(made).read()).toBe('box/a');
  expect(await code(E(made).write('new'))).toBe('ok');
  expect(await code(E(made).read())).toBe('exhausted');
  for (const method of ['open', 'deep', 'give', '', 'toString']) expect([method, await code(say(made, method, 'x'))]).toEqual([method, 'exhausted']); // biome-ignore format: one line
  expect(await code(E(cap).open('b'))).toBe('exhausted');
  expect(await lines(at.store)).toMatchObject([
    { k: 'grant', grant: 'g1', uses: 1 },
    { k: 'call', grant: 'g1', method: 'open', use: 1 },
    {
      k: 'made',
      what: 'begin',
      grant: 'g1',
      uses: 2,
      methods: ['read', 'write'],
      made: expect.stringMatching(/^p\d+-/),
    },
    { k: 'call', grant: 'g1', method: 'read', use: 1, made: expect.any(String) },
    { k: 'call', grant: 'g1', method: 'write', use: 2 },
    ...Array(6).fill({ k: 'refuse', grant: 'g1', code: 'exhausted' }),
    { k: 'refuse', grant: 'g1', method: 'open', code: 'exhausted' },
  ]);
});

both('%s: it has the methods of its terms and no others, and a refusal costs no use', async (_where, durable) => {
  const { cap } = await grant(await worldOf(durable), ONCE);
  const made = await opened(cap);
  for (const method of ['open', 'deep', 'give', 'fail', '', 'toString', 'read ']) expect([method, await code(say(made, method, 'x'))]).toEqual([method, 'no-such-method']); // biome-ignore format: one line
  expect([await code(E(made).read()), await code(E(made).read()), await code(E(made).read())]).toEqual(['ok', 'ok', 'exhausted']); // biome-ignore format: one line
});

both('%s: the cap itself gets no other terms by being returned, however deep', async (_where, durable) => {
  const at = await worldOf(durable);
  const { cap } = await grant(at, { ...ONCE, methods: ['deep', 'give', 'read'] });
  const { self, list } = (await E(cap).deep()) as unknown as { self: Far<Box>; list: readonly { inner: Far<Box> }[] };
  expect(await code(E(self).read())).toBe('exhausted');
  expect(await code(E(list[0]!.inner).read())).toBe('ok');
  const given = (await grant(at, { uses: 1, made: {} })).cap;
  const back = (await E(given).give([{ box: given }])) as readonly [{ readonly box: Far<Box> }];
  expect(await code(E(back[0].box).read())).toBe('exhausted');
  // Nor by a promise that becomes it.
  const promised = (await grant(at, { uses: 1, made: {} }, await at.vat.spawn(Laters(at.box))))
    .cap as unknown as Far<Later>;
  const { later } = (await E(promised).later()) as unknown as { later: Promise<Far<Box>> };
  expect(await code(E(await later).read())).toBe('ok');
  expect(await code(E(promised).later())).toBe('exhausted');
});

interface Later {
  later(): { readonly later: Promise<Far<Box>> };
}
const Laters: Definition<Later, [box: Far<Box>]> = define('Later', (_bcom, box) => ({
  later: () => ({ later: E(box).open('later') as unknown as Promise<Far<Box>> }),
}));

both('%s: what it returns has its terms, and shares its uses', async (_where, durable) => {
  const { cap } = await grant(await worldOf(durable), { uses: 1, made: { uses: 3 } });
  const first = await opened(cap);
  const second = await opened(first);
  expect(await E(second).read()).toBe('box/a/a');
  expect([await code(E(first).read()), await code(E(second).read())]).toEqual(['ok', 'exhausted']);
});

both('%s: it outlives the uses and the time of its grant, and ends in its own time', async (_where, durable) => {
  const at = await worldOf(durable);
  const { cap, actor } = await grant(at, { uses: 9, for: 1000, made: { for: 5000 } });
  at.clock.advance(900);
  const made = await opened(cap);
  at.clock.advance(200);
  await jobs();
  expect([await code(E(cap).read()), await code(E(made).read())]).toEqual(['expired', 'ok']);
  expect(await E(actor).look()).toMatchObject({ state: 'expired', madeUntil: expect.any(Number) });
  at.clock.advance(4700);
  expect(await code(E(made).read())).toBe('ok');
  at.clock.advance(100);
  expect(await code(E(made).read())).toBe('expired');
  expect((await lines(at.store, 'expire')).length).toBe(1);
  expect((await lines(at.store, 'made')).map(({ what }) => what)).toEqual(['begin', 'expire']);
});

both('%s: a revocation ends it at once, also after the grant itself was over', async (_where, durable) => {
  for (const terms of [{ uses: 9 }, { uses: 1 }, { uses: 9, for: 1000 }]) {
    const at = await worldOf(durable);
    const { cap, actor } = await grant(at, { ...terms, made: { for: 3_600_000 } });
    const [made, other] = [await opened(cap), terms.uses === 9 ? await opened(cap) : undefined];
    at.clock.advance(1500);
    await jobs();
    expect(await code(E(made).read())).toBe('ok');
    await E(actor).revoke('enough');
    for (const each of [made, other ?? made]) expect(await code(E(each).read())).toBe('revoked');
  }
});

test('a driver that works for what was made goes on when the grant has run out of time, and stops when it is revoked', async () => {
  const at = await world();
  const slow = slowDriver();
  const shelf = await at.vat.spawn(Shelf(slow.cap));
  const { cap, actor } = await grant(at, { uses: 9, for: 1000, made: { for: 60_000 } }, shelf);
  const made = (await E(cap as unknown as Far<Shelf>).take()) as unknown as Far<{ slow(): unknown }>;
  const [kept, stopped] = [E(made).slow(), code(E(made).slow())];
  await jobs();
  for (const ms of [1100, 200]) {
    at.clock.advance(ms);
    await jobs();
  }
  expect(slow.calls.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  slow.calls[0]!.answer('done');
  expect(await kept).toBe('done');
  const revoking = E(actor).revoke('enough');
  expect(await stopped).toBe('revoked');
  expect(slow.calls[1]!.signal.aborted).toBe(true);
  slow.calls[1]!.answer('late');
  await revoking;
});

test('its own end by time stops its drivers, and not those of the grant', async () => {
  const at = await world();
  const slow = slowDriver();
  const shelf = await at.vat.spawn(Shelf(slow.cap));
  const { cap } = await grant(at, { uses: 9, for: 60_000, made: { for: 1000 } }, shelf);
  const made = (await E(cap as unknown as Far<Shelf>).take()) as unknown as Far<{ slow(): unknown }>;
  const [ended, goes] = [code(E(made).slow()), E(cap as unknown as Far<Shelf>).slow()];
  await jobs();
  for (const ms of [1100, 200]) {
    at.clock.advance(ms);
    await jobs();
  }
  expect(await ended).toBe('expired');
  expect(slow.calls.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  for (const { answer } of slow.calls) answer('done');
  expect(await goes).toBe('done');
});

interface Shelf {
  take(): object;
  slow(): unknown;
}
const Shelf: Definition<Shelf, [slow: Far<{ slow(): unknown }>]> = define('Shelf', (_bcom, slow) => ({
  take: () => slow,
  slow: () => E(slow).slow(),
}));

test('terms that mean nothing are refused: made within made, mount, a membrane, narrowing', async () => {
  const at = await world();
  for (const made of [{ made: {} }, { mount: true }, { uses: 0 }, { often: 1 }, 'once', null, [], { for: 1, until: 2 }])
    expect([made, await code(grant(at, { uses: 1, made } as unknown as Terms))]).toEqual([made, 'invalid']);
  // Each call that makes something keeps a state in the store.
  for (const terms of [{ made: {} }, { for: 1000, made: {} }, { uses: 1001, made: {} }]) expect(await code(grant(at, terms))).toBe('invalid'); // biome-ignore format: one line
  expect(await code(at.vat.turn(() => void membrane(at.box, { uses: 1, made: {} })))).toBe('invalid');
  const { actor } = await grant(at, {});
  expect(await code(E(actor).narrow({ made: {} }))).toBe('invalid');
});

test('data costs nothing more: without a reference in the result no object is made', async () => {
  const at = await world();
  const { cap, actor } = await grant(at, { uses: 3, made: {} });
  await E(cap).read();
  await E(cap).give([1, { a: new Uint8Array(3) }]);
  expect(await code(E(cap).fail())).toBe('NOT_FOUND');
  expect((await lines(at.store, 'made')).length).toBe(0);
  expect((await E(actor).look()).madeUntil).toBeUndefined();
});

test('outside a turn, around a revocable, over another one: each has its own terms', async () => {
  const at = await world();
  const inner = revocable(at.box, { uses: 1, made: { uses: 1 } });
  const outer = revocable(inner.cap, { uses: 1, made: { uses: 5 } });
  const made = await opened(outer.cap);
  expect(await code(E(made).read())).toBe('ok');
  // The stricter of the two counts.
  expect(await code(E(made).read())).toBe('exhausted');
  await E(inner.revoker).revoke();
  expect(await code(E(made).read())).toBe('revoked');
});

test('in any order of calls, time and a revocation, what was made does what a model of three numbers does', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant({ do: 'make' as const, of: 0 }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('call' as const), of: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), of: fc.integer({ min: 0, max: 700 }) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'revoke' as const, of: 0 }) },
  );
  const limits = fc.record({ uses: fc.integer({ min: 1, max: 3 }), for: fc.integer({ min: 100, max: 2000 }) });
  await fc.assert(
    fc.asyncProperty(limits, limits, fc.array(step, { maxLength: 20 }), async (own, made, steps) => {
      const at = await world();
      const { cap, actor } = await grant(at, { ...own, made });
      let now = 0;
      const model = { left: own.uses, until: own.for, isRevoked: false };
      const things: { readonly cap: Far<Box>; left: number; readonly until: number }[] = [];
      const expected = ({ left, until }: { readonly left: number; readonly until: number }): string =>
        now >= until ? 'expired' : left === 0 ? 'exhausted' : 'ok'; // biome-ignore format: one line
      for (const { do: what, of } of steps) {
        if (what === 'advance') {
          at.clock.advance(of);
          now += of;
        }
        if (what === 'revoke') {
          await E(actor).revoke('enough');
          model.isRevoked = true;
        }
        if (what === 'make') {
          const wanted = expected(model);
          const answer = E(cap).open('a') as unknown as Promise<Far<Box>>;
          const got = await code(answer);
          if (model.isRevoked) expect(['revoked', 'expired']).toContain(got);
          else expect(got).toBe(wanted);
          if (got === 'ok') {
            model.left -= 1;
            things.push({ cap: await answer, left: made.uses, until: now + made.for });
          }
        }
        const thing = what === 'call' ? things[of] : undefined;
        if (thing !== undefined) {
          const got = await code(E(thing.cap).read());
          if (model.isRevoked) expect(['revoked', 'expired']).toContain(got);
          else expect(got).toBe(expected(thing));
          if (got === 'ok') thing.left -= 1;
        }
      }
    }),
    { numRuns: 60 },
  );
});
