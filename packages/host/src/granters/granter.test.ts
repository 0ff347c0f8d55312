/** A granter's view of grants, and its acts. */
import { connect, E, type Far } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { code, lines, type TestHost, testHost } from '../../test/test-host.ts';
import type { Grant, Granter } from '../index.ts';

let home: TestHost;
beforeEach(async () => {
  home = await testHost();
  await home.host.offer('bell', { ring: async () => 'ding' });
});
afterEach(() => home.close());
const grant = (petname: string, terms = {}): Promise<{ readonly id: string }> =>
  E(home.granter).grant(home.session.id, petname, 'bell', terms) as unknown as Promise<{ readonly id: string }>;

test('a grant as granters see it is data: id, session, petname, granter, state, uses left and end, and no reference', async () => {
  const made = await grant('a', { uses: 2, for: 60_000 });
  expect(made).toEqual({
    id: expect.stringMatching(/^g001-[a-z2-7]{4}$/),
    session: home.session.id,
    petname: 'a',
    granter: 'owner',
    offered: 'bell',
    what: '“bell”',
    state: 'live',
    usesLeft: 2,
    until: expect.any(Number),
  });
  const cap = await home.session.cap<{ ring(): Promise<string> }>('a');
  await E(cap).ring();
  expect(await E(home.granter).list()).toEqual([{ ...made, usesLeft: 1 }]);
  await E(cap).ring();
  expect(await E(home.granter).list()).toEqual([{ ...made, usesLeft: 0, state: 'exhausted' }]);
  expect(await E(home.granter).list({ live: true })).toEqual([]);
});

test('lists come in pages, in order, each grant once', async () => {
  for (let index = 0; index < 120; index += 1) await grant(`p${index}`);
  const first = await E(home.granter).list();
  expect(first).toHaveLength(100);
  const second = await E(home.granter).list({ after: first.at(-1)?.id as string });
  expect(second).toHaveLength(20);
  const ids = [...first, ...second].map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(await E(home.granter).list({ limit: 1_000_000 })).toHaveLength(100);
  for (const limit of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null])
    expect(await code(E(home.granter).list({ limit: limit as number }))).toBe('invalid');
});

test('the grants of one session come in pages, with its sturdyrefs and without grants of others', async () => {
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  for (let n = 0; n < 12; n += 1) {
    await grant(`p${n}`);
    await E(home.granter).grant(other.id, `q${n}`, 'bell', {});
  }
  const minted = (await E(home.granter).mint(home.session.id, 'p0')) as unknown as { readonly grant: Grant };
  const seen: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await E(home.granter).list({ session: home.session.id, limit: 5, ...(after === undefined ? {} : { after }) }); // biome-ignore format: one line
    expect(page.every(({ session }) => session === home.session.id)).toBe(true);
    seen.push(...page.map(({ id }) => id));
    if (page.length < 5) break;
    after = page.at(-1)?.id;
  }
  expect(seen).toEqual([...new Set(seen)].sort());
  expect(seen).toHaveLength(13);
  expect(seen).toContain(minted.grant.id);
  const { granter: stranger } = await home.host.addGranter('stranger');
  expect(await E(stranger).list({ session: home.session.id })).toEqual([]);
  expect(await E(home.granter).list({ session: 'none' })).toEqual([]);
});

test('revoke ends one grant, then those of a session, then all; the ledger has one line for each', async () => {
  const { id } = await grant('a');
  for (const name of ['b', 'c']) await grant(name);
  const cap = await home.session.cap<{ ring(): Promise<string> }>('a');
  await E(home.granter).revoke({ grant: id }, 'enough');
  expect(await code(E(cap).ring())).toBe('revoked');
  expect(await E(home.granter).list({ live: true })).toHaveLength(2);
  await E(home.granter).revoke({ session: home.session.id });
  await E(home.granter).revoke('all');
  expect(await E(home.granter).list({ live: true })).toEqual([]);
  expect((await lines(home.host, 'revoke')).map(({ by, surface, why }) => [by, surface, why])).toEqual([
    ['owner', 'program', 'enough'],
    ['owner', 'program', ''],
    ['owner', 'program', ''],
  ]);
});

test('an unknown id revokes no grant', async () => {
  await grant('a');
  for (const what of [{}, null, undefined, 'everything', 7, { grant: undefined }, { grant: '' }, { session: 7 }, []])
    expect(await code(E(home.granter).revoke(what as never)), JSON.stringify(what)).toBe('no-such-object');
  expect(await E(home.granter).list({ live: true })).toHaveLength(1);
});

test('the scopes once, session and permanent work; contradictory terms are refused', async () => {
  const clock = testClock();
  const other = await testHost({ clock });
  onTestFinished(() => other.close());
  await other.host.offer('bell', { ring: async () => 'ding' });
  const give = (petname: string, terms: unknown): Promise<Grant> =>
    E(other.granter).grant(other.session.id, petname, 'bell', terms as never) as unknown as Promise<Grant>;
  const day = 86_400_000;
  expect(await give('once', { scope: 'once' })).toMatchObject({ usesLeft: 1 });
  expect(await give('once-soon', { scope: 'once', for: 1000 })).toMatchObject({
    usesLeft: 1,
    until: clock.wall() + 1000,
  });
  expect((await give('session', { scope: 'session' })).until).toBe(clock.wall() + 90 * day);
  expect((await give('permanent', { scope: 'permanent' })).until).toBe(clock.wall() + 90 * day);
  expect((await give('none', {})).until).toBe(clock.wall() + 15 * 60_000);
  for (const terms of [
    { scope: 'ever' },
    { scope: 'once', uses: 2 },
    { scope: 'session', for: 5 },
    { scope: 'session', until: clock.wall() + day },
    { scope: 'permanent', for: 5 },
    { scope: 'permanent', until: clock.wall() + 91 * day },
    null,
    'once',
    [],
  ])
    expect(await code(give('bad', terms)), JSON.stringify(terms)).toBe('invalid');
  expect(await other.session.caps()).not.toContain('bad');
});

test('a granter narrows and renews a grant, with a line for each; a line of a wire call names the surface', async () => {
  const { id, until } = (await E(home.granter).grant(home.session.id, 'a', 'bell', { for: 60_000 })) as Grant;
  const owner = await connect<Granter>(home.url, { secret: home.granterSecret });
  onTestFinished(async () => {
    owner.close();
    await owner.closed;
  });
  expect(await E(owner.bootstrap).narrow(id, { uses: 1 })).toMatchObject({ usesLeft: 1 });
  expect(await code(E(owner.bootstrap).narrow(id, {}))).toBe('invalid');
  expect(await E(owner.bootstrap).renew(id, until + 60_000)).toMatchObject({ until: until + 60_000, usesLeft: 1 });
  expect(await E(owner.bootstrap).confirm(id)).toMatchObject({ state: 'live' });
  const cap = await home.session.cap<{ ring(): Promise<string> }>('a');
  expect(await code(E(cap).ring())).toBe('ok');
  expect(await code(E(cap).ring())).toBe('exhausted');
  expect(await lines(home.host, 'narrow')).toMatchObject([{ grant: id, by: 'owner', surface: 'wire', uses: 1 }]);
  expect(await lines(home.host, 'renew')).toMatchObject([
    { grant: id, by: 'owner', surface: 'wire', until: until + 60_000 },
  ]);
  await E(owner.bootstrap).grant(home.session.id, 'b', 'bell', {});
  expect((await lines(home.host, 'grant')).map(({ surface }) => surface)).toEqual(['program', 'wire']);
});

test('a granter can neither see, change nor end another’s grants, nor read their lines; both granters of one session can', async () => {
  const { granter: stranger, secret } = await home.host.addGranter('stranger');
  await home.host.addGranter('third');
  const theirs = await home.host.openSession({ name: 'theirs', granters: ['stranger'] });
  const both = await home.host.openSession({ name: 'both', granters: ['owner', 'stranger'] });
  const mine = await grant('mine');
  const their = (await E(stranger).grant(theirs.id, 'their', 'bell', {})) as Grant;
  const ours = (await E(stranger).grant(both.id, 'ours', 'bell', {})) as Grant;
  const child = await home.host.openSession({ name: 'child', granters: ['owner'], parent: home.session.id });
  const why = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'ok', (error: Error) => error.message); // biome-ignore format: one line
  const tries = (session: string, id: string): Promise<readonly string[]> =>
    Promise.all([
      why(E(stranger).narrow(id, { uses: 1 })),
      why(E(stranger).renew(id, Date.now() + 1e9)),
      why(E(stranger).confirm(id)),
      why(E(stranger).revoke({ grant: id })),
      why(E(stranger).revoke({ session })),
      why(E(stranger).end(session)),
      why(E(stranger).delegate(session, 'mine', child.id)),
      why(E(stranger).delegate(theirs.id, 'their', session)),
    ]);
  expect(await tries(home.session.id, mine.id)).toEqual(await tries('never-0000', 'g999-none'));
  expect((await E(stranger).sessions()).map(({ name }) => name)).toEqual(['theirs', 'both']);
  expect((await E(stranger).list()).map(({ id }) => id)).toEqual([their.id, ours.id]);
  // Two granters see each other's grants, and can end them.
  await E(home.granter).revoke({ grant: ours.id }, 'no');
  expect((await E(stranger).list({ session: both.id }))[0]).toMatchObject({ state: 'revoked', granter: 'stranger' });
  for (const session of [home.session, theirs, both]) await code(E(await session.cap<{ ring(): Promise<string> }>(session === home.session ? 'mine' : session === theirs ? 'their' : 'ours')).ring()); // biome-ignore format: one line
  await home.session.end();
  const reading = await connect<Granter>(home.url, { secret });
  onTestFinished(async () => {
    reading.close();
    await reading.closed;
  });
  const read = async (who: Far<Granter>): Promise<readonly Record<string, unknown>[]> => (await E(E(who).ledger()).lines()).map((line) => JSON.parse(line)); // biome-ignore format: one line
  const seen = await read(reading.bootstrap);
  const text = JSON.stringify(seen);
  for (const hidden of [home.session.id, mine.id, child.id]) expect(text).not.toContain(hidden);
  for (const shown of [theirs.id, their.id, both.id, ours.id]) expect(text).toContain(shown);
  expect(seen.filter(({ grant: id }) => id === their.id).map(({ k }) => k)).toEqual(['grant', 'call']);
  // Together they see all of it, and the third what is of no session only.
  const owners = await read(home.granter);
  const all = new Set([...seen, ...owners].map(({ seq }) => seq));
  expect(all.size).toBe((await lines(home.host)).length);
  expect((await read(await home.host.granter('third'))).every(({ session, grant: id }) => session === undefined && id === undefined)).toBe(true); // biome-ignore format: one line
  expect(await E(E(reading.bootstrap).ledger()).verify()).toMatchObject({ ok: true });
});
