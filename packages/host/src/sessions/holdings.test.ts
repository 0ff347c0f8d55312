/** What a session is told about what it holds: all that a thin client needs, and nothing of anybody else. */
import { E } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, test } from 'vitest';
import { later, type Scene, scene } from '../../test/asking.ts';
import type { Holding, SessionFace } from '../index.ts';

const minute = 60_000;
const holdings = async (at: Scene, of = at.agent): Promise<readonly Holding[]> =>
  (await E(of.bootstrap).holdings()) as readonly Holding[];
const grant = (at: Scene, petname: string, terms: object, session = at.session.id): Promise<unknown> =>
  E(at.owner).grant(session, petname, 'notes', terms as never) as unknown as Promise<unknown>;

test('a session reads the methods, uses and time of each cap that it holds, and which calls wait', async () => {
  const clock = testClock();
  const at = await scene({ clock });
  await grant(at, 'docs', { uses: 3, for: 5 * minute, methods: ['readText', 'list'] });
  await grant(at, 'drafts', { for: minute, drafts: ['write'], gated: ['remove'] });
  await grant(at, 'all', { for: minute, gated: true });
  const docs = E(E(at.agent.bootstrap).cap<{ list(): Promise<unknown> }>('docs'));
  await docs.list();
  clock.advance(minute / 2);
  const [all, read, drafts] = await holdings(at);
  expect(all).toMatchObject({ petname: 'all', state: 'live', leftMs: minute / 2, waits: true });
  expect(all!.methods).toContain('write');
  expect(read).toEqual({ petname: 'docs', state: 'live', methods: ['list', 'readText'], usesLeft: 2, leftMs: 4.5 * minute }); // biome-ignore format: one line
  expect(drafts).toMatchObject({ petname: 'drafts', waits: ['remove'], drafts: ['write'] });
  clock.advance(minute);
  expect((await holdings(at)).map(({ petname, state, leftMs }) => [petname, state, leftMs])).toEqual([
    ['all', 'expired', 0],
    ['docs', 'live', 3.5 * minute],
    ['drafts', 'expired', 0],
  ]);
});

test('a cap that asks says so until a person has granted it, and then what is left of that', async () => {
  const at = await scene();
  await grant(at, 'push', { scope: 'session', asks: { uses: 2, for: 15 * minute } });
  expect(await holdings(at)).toMatchObject([{ petname: 'push', state: 'live', asks: true }]);
  expect((await holdings(at))[0]!.usesLeft).toBe(undefined);
  const push = E(E(at.agent.bootstrap).cap<{ write(path: string, text: string): Promise<unknown> }>('push'));
  const wrote = later(push.write('a.txt', 'one'));
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: { uses: 2, for: 15 * minute } });
  await wrote;
  const [granted] = await holdings(at);
  expect([granted!.asks, granted!.usesLeft]).toEqual([undefined, 1]);
  expect(granted!.leftMs).toBeLessThanOrEqual(15 * minute);
  await push.write('a.txt', 'two');
  expect(await holdings(at)).toMatchObject([{ petname: 'push', asks: true }]);
});

test('a child reads the limits of the grants above it, and is told nothing of other sessions, grants, offers or places', async () => {
  const at = await scene();
  await at.host.offer('secret-offer', { ring: async () => 1 }, { label: 'the launch key' });
  const other = await at.host.openSession({ name: 'other', granters: ['owner'] });
  await E(at.owner).grant(other.id, 'hidden', 'secret-offer', { uses: 1 });
  await grant(at, 'docs', { uses: 5, for: minute, gated: ['write'], methods: ['readText', 'write'] });
  const child = await at.child('helper', { files: 'docs' });
  const helper = await at.enterAs<SessionFace>(child.secret);
  const held = await holdings(at, helper);
  expect(held).toMatchObject([
    { petname: 'files', state: 'live', methods: ['readText', 'write'], usesLeft: 5, waits: ['write'] },
  ]);
  const said = JSON.stringify([held, await holdings(at)]);
  for (const word of [at.folder, 'secret-offer', 'launch', 'hidden', other.id, 'owner', 'g001', 'notes'])
    expect(said, word).not.toContain(word);
  await E(at.owner).revoke({ session: at.session.id });
  expect((await holdings(at, helper)).map(({ state }) => state)).toEqual(['revoked']);
});
