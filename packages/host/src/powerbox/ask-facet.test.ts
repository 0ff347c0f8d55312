/** Caps that ask before they are there. Over real CapTP; the agent is the attacker. */
import type { FsCap } from '@hob/caps-fs';
import { E, type Far } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, test } from 'vitest';
import { later, type Scene, scene } from '../../test/asking.ts';
import { code, held, lines } from '../../test/test-host.ts';
import type { Grant, Request, SessionFace } from '../index.ts';

const minute = 60_000;

async function asking(at: Scene, asks: object, terms: object = {}): Promise<Far<FsCap>> {
  await E(at.owner).grant(at.session.id, 'push', 'notes', { scope: 'session', asks, ...terms } as never);
  return held<FsCap>(at.agent, 'push');
}

const grants = async (at: Scene): Promise<readonly Grant[]> => (await E(at.owner).list()) as readonly Grant[];

test('a call waits until a granter grants the proposed terms; then calls run until these are used up, and ask again', async () => {
  const at = await scene();
  const push = await asking(at, { uses: 2, for: 15 * minute });
  expect(await E(at.agent.bootstrap).caps()).toEqual(['push']);
  const first = later(E(push).write('a.txt', 'one'));
  const [asked] = await at.inbox();
  expect(asked).toMatchObject({ kind: 'grant', asks: 'push', terms: { uses: 2, for: 15 * minute } });
  expect(asked!.effect).toMatch(/as “push”: 2 calls, within 15 min; first it calls write$/);
  expect(asked!.table).toEqual(expect.arrayContaining([['first call', 'write'], ['path', '“a.txt”'], ['data', '“one”']])); // biome-ignore format: one line
  expect(() => at.file('a.txt')).toThrow(/ENOENT/);
  await at.answer(asked!, { grant: { uses: 2, for: 15 * minute } });
  await first;
  expect(at.file('a.txt')).toBe('one');
  await E(push).write('a.txt', 'two');
  expect(at.file('a.txt')).toBe('two');
  const third = later(E(push).write('a.txt', 'three'));
  const [again] = await at.inbox();
  await at.answer(again!, { refuse: 'enough' });
  expect(await code(third)).toBe('denied');
  expect(at.file('a.txt')).toBe('two');
  // The grant is one that a granter sees, with the act behind it; the session has no name for it.
  expect(await E(at.agent.bootstrap).caps()).toEqual(['push']);
  const [facet, lease] = await grants(at);
  expect([facet!.petname, lease!.petname, lease!.parent, lease!.usesLeft]).toEqual(['push', 'push', facet!.id, 0]);
  expect(await lines(at.host, 'approve')).toMatchObject([{ request: asked!.id, grant: lease!.id, surface: 'wire' }]);
});

test('the call that was shown is the one that runs: another call of the same cap is another request', async () => {
  const at = await scene();
  const push = await asking(at, { uses: 1 });
  const shown = later(E(push).write('shown.txt', 'good'));
  const [asked] = await at.inbox();
  // The attacker asks for another call meanwhile, and again when the yes is there.
  const other = later(E(push).write('other.txt', 'evil'));
  await at.inbox(2);
  const answered = at.answer(asked!, { grant: {} });
  const race = later(E(push).write('race.txt', 'evil'));
  await answered;
  await shown;
  expect(at.file('shown.txt')).toBe('good');
  // It asks, too. If the shown call is on its way under the grant, whose one use is not charged yet, it is refused.
  let raced: string | undefined;
  const refused = code(race).then((why) => {
    raced = why;
  });
  let waiting: readonly Request[];
  do waiting = (await E(at.owner).inbox()) as readonly Request[];
  while (raced === undefined && waiting.length < 2);
  const paths = waiting.flatMap(({ table }) => table.filter(([name]) => name === 'path').map(([, path]) => path));
  expect(paths).toEqual(raced === undefined ? ['“other.txt”', '“race.txt”'] : ['“other.txt”']);
  for (const request of waiting) await at.answer(request, { refuse: '' });
  expect(await code(other)).toBe('denied');
  await refused;
  expect(raced).toBe(waiting.length === 2 ? 'denied' : 'exhausted');
  for (const name of ['other.txt', 'race.txt']) expect(() => at.file(name)).toThrow(/ENOENT/);
});

test('what was granted ends when it is revoked, and with the cap that asked; then calls ask again, or end', async () => {
  const at = await scene();
  const push = await asking(at, { for: 15 * minute });
  const first = later(E(push).write('a.txt', 'one'));
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: { for: 15 * minute } });
  await first;
  const [facet, lease] = await grants(at);
  await E(at.owner).revoke({ grant: lease!.id });
  const second = later(E(push).write('a.txt', 'two'));
  const [again] = await at.inbox();
  await at.answer(again!, { grant: { for: 15 * minute } });
  await second;
  const file = E(push).openRead('a.txt');
  await file;
  await E(at.owner).revoke({ grant: facet!.id });
  expect(await code(E(push).readText('a.txt'))).toBe('revoked');
  expect(await code(E(file).next())).toBe('revoked');
  expect((await grants(at)).map(({ state }) => state)).toEqual(['revoked', 'revoked', 'revoked']);
});

test('no yes is wider than what was proposed, and none outlives the cap that asked', async () => {
  const clock = testClock();
  const at = await scene({ clock });
  const push = await asking(at, { uses: 1, for: 60 * minute }, { scope: undefined, for: 30 * minute });
  const call = later(E(push).write('a.txt', 'one'));
  const [asked] = await at.inbox();
  const { id, digest } = asked!;
  for (const grant of [{ uses: 2 }, { uses: 1, for: 61 * minute }])
    expect(await code(E(at.owner).answer(id, { grant, digest }))).toBe('invalid');
  expect(await code(E(at.owner).answer(id, { grant: {}, as: 'mine', digest }))).toBe('invalid');
  clock.advance(30 * minute + 1);
  // The grace for results is not over, and an answer is no result.
  expect(await code(E(at.owner).answer(id, { grant: {}, digest }))).toBe('expired');
  clock.advance(5 * minute);
  expect(await code(call)).toBe('expired');
  expect(() => at.file('a.txt')).toThrow(/ENOENT/);
});

test('a child that was given the cap asks for itself: it does not use what its parent was granted', async () => {
  const at = await scene();
  const push = await asking(at, { for: 15 * minute });
  const first = later(E(push).write('a.txt', 'one'));
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: { for: 15 * minute } });
  await first;
  const child = await at.child('helper', { push: 'push' });
  const helper = await at.enterAs<SessionFace>(child.secret);
  const call = later(E(await held<FsCap>(helper, 'push')).write('a.txt', 'child'));
  const [own] = await at.inbox();
  expect(own!.asker).toEqual([at.session.id, child.id]);
  await at.answer(own!, { refuse: '' });
  expect(await code(call)).toBe('denied');
  expect(at.file('a.txt')).toBe('one');
});

test('terms that ask and gate at once, or ask twice, are invalid', async () => {
  const at = await scene();
  for (const terms of [{ asks: {}, gated: true }, { asks: { asks: {} } }, { asks: { uses: 0 } }, { asks: 1 }])
    expect(await code(E(at.owner).grant(at.session.id, 'push', 'notes', terms as never))).toBe('invalid');
});
