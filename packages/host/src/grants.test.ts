/** What a granter sees of grants, and does to them. */

import { E } from '@hob/vat';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { code, type House, house, lines } from '../test/house.ts';

let home: House;
beforeEach(async () => {
  home = await house();
  await home.host.offer('bell', { ring: async () => 'ding' });
});
afterEach(() => home.close());
const grant = (petname: string, terms = {}): Promise<{ readonly id: string }> =>
  E(home.granter).grant(home.session.id, petname, 'bell', terms) as unknown as Promise<{ readonly id: string }>;

test('a grant is data: id, session, petname, granter, state, uses left and its end, and no way to anything', async () => {
  const made = await grant('a', { uses: 2, for: 60_000 });
  expect(made).toEqual({
    id: expect.stringMatching(/^g001-[a-z2-7]{4}$/),
    session: home.session.id,
    petname: 'a',
    granter: 'owner',
    offered: 'bell',
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

test('one is revoked, then a session’s, then all; each says so once', async () => {
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

test('what names no grant revokes none', async () => {
  await grant('a');
  for (const what of [{}, null, undefined, 'everything', 7, { grant: undefined }, { grant: '' }, { session: 7 }, []])
    expect(await code(E(home.granter).revoke(what as never)), JSON.stringify(what)).toBe('no-such-object');
  expect(await E(home.granter).list({ live: true })).toHaveLength(1);
});
