/** A list shows a granter the conditions of each grant: it asks first, its calls wait, or it keeps drafts. */
import { E } from '@hob/vat';
import { expect, test } from 'vitest';
import { later, scene } from '../../test/asking.ts';
import type { Grant } from '../index.ts';
import { grantLine } from '../programs/listings.ts';

const minute = 60_000;

test('a list shows which grants ask first, make calls wait or keep drafts, and which do not', async () => {
  const at = await scene();
  const grant = (petname: string, terms: object): unknown =>
    E(at.owner).grant(at.session.id, petname, 'notes', { for: 10 * minute, ...terms } as never);
  await grant('asks', { asks: { uses: 1 } });
  await grant('each', { gated: true });
  await grant('some', { gated: ['remove'], drafts: ['write'] });
  await grant('plain', { uses: 2 });
  // A delegated grant inherits the conditions of the grant above it.
  await at.child('helper', { mine: 'some', wish: 'asks' });
  const seen = await E(at.owner).list();
  const rows = seen.map(({ petname, asks, waits, drafts }) => [petname, asks, waits, drafts]);
  expect(rows.slice(0, 4)).toEqual([
    ['asks', true, undefined, undefined],
    ['each', undefined, 'every', undefined],
    ['some', undefined, 'some', true],
    ['plain', undefined, undefined, undefined],
  ]);
  expect(rows.slice(4).sort()).toEqual([
    ['mine', undefined, 'some', true],
    ['wish', true, undefined, undefined],
  ]);
  const lines = seen.map(grantLine);
  expect(lines[0]).toContain('any number of uses; asks first  10 min left');
  expect(lines[1]).toContain('any number of uses; every call waits  10 min left');
  expect(lines[2]).toContain('any number of uses; some calls wait; keeps drafts  10 min left');
  expect(lines[3]).toContain('2 uses left  10 min left');
});

test('a grant made after a request is listed without asks, and the cap that asked keeps asks', async () => {
  const at = await scene();
  await E(at.owner).grant(at.session.id, 'push', 'notes', { scope: 'session', asks: { uses: 2 } } as never);
  const { id } = await at.child('helper', { mine: 'push' });
  const push = E(E(at.agent.bootstrap).cap<{ write(path: string, text: string): Promise<unknown> }>('push'));
  const wrote = later(push.write('a.txt', 'one'));
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: { uses: 2, drafts: ['remove'] } });
  await wrote;
  const seen = (await E(at.owner).list()) as readonly Grant[];
  const rows = seen.map(({ session, petname, usesLeft, asks, drafts }) => [session === id, petname, usesLeft, asks, drafts]); // biome-ignore format: one line
  expect(rows).toEqual([
    [false, 'push', undefined, true, undefined],
    [true, 'mine', undefined, true, undefined],
    [false, 'push', 1, undefined, true],
  ]);
  // A sturdyref is in the session of the cap that asks. Its calls ask, too.
  await E(at.owner).mint(at.session.id, 'push');
  expect(await E(at.owner).sturdyrefs()).toMatchObject([{ petname: 'push', asks: true }]);
});

test('attack: a list stays short if a session asks for grants with hundreds of odd method names', async () => {
  const at = await scene();
  const gated = Array.from({ length: 400 }, (_, n) => `\u001b[2J${'m'.repeat(30)}${n}`);
  const asked = [0, 1, 2].map((n) => at.request({ terms: { gated, uses: n + 1 } }));
  for (const request of await at.inbox(3)) await at.answer(request, { grant: {} });
  await Promise.all(asked);
  const text = JSON.stringify(await E(at.owner).list());
  expect(text).toContain('"waits":"some"');
  expect(text).not.toMatch(/mmm|\\u001b/);
  expect(text.length).toBeLessThan(3 * 1000);
});
