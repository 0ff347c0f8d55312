/** Names that a granter gives for itself: for which things, which names, who sees them. */
import { E, type Far } from '@hob/vat';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Scene, scene } from '../../test/asking.ts';
import { code, lines } from '../../test/test-host.ts';
import type { Granter, OwnName, Request } from '../index.ts';

const named = async (granter: Far<Granter>): Promise<readonly OwnName[]> =>
  (await E(granter).names()) as readonly OwnName[];
const set = (granter: Far<Granter>, id: string, name: string): Promise<string> =>
  code(E(granter).setName(id, name) as never);

/** A session with the grants `a` and `b` and a request that waits. */
async function things(): Promise<Scene & { readonly ids: readonly string[]; readonly asked: Request }> {
  const at = await scene();
  const ids: string[] = [];
  for (const petname of ['a', 'b']) ids.push((await E(at.owner).grant(at.session.id, petname, 'notes', {})).id);
  at.request({});
  const [asked] = await at.inbox();
  return { ...at, ids, asked: asked! };
}

test('a grant, a session and a request get a name; a change of it is a line; it goes on when the thing has ended', async () => {
  const at = await things();
  const [a = ''] = at.ids;
  expect(await E(at.owner).setName(a, 'deploy-key')).toEqual({ id: a, kind: 'grant', name: 'deploy-key' });
  await E(at.owner).setName(at.session.id, 'night');
  await E(at.owner).setName(at.asked.id, 'push');
  await E(at.owner).setName(a, 'deploy-key');
  await E(at.owner).setName(a, 'release-key');
  await E(at.owner).revoke({ grant: a });
  await at.answer(at.asked, { refuse: 'no' });
  const rows = await named(at.owner);
  expect(rows).toHaveLength(3);
  expect(rows).toEqual(
    expect.arrayContaining([
      { id: a, kind: 'grant', name: 'release-key' },
      { id: at.session.id, kind: 'session', name: 'night' },
      { id: at.asked.id, kind: 'request', name: 'push' },
    ]),
  );
  await E(at.owner).removeName(at.asked.id);
  expect(await code(E(at.owner).removeName(at.asked.id) as never)).toBe('no-such-object');
  const by = { by: 'owner', surface: 'wire' };
  expect(await lines(at.host, 'name')).toMatchObject([
    { what: 'begin', grant: a, name: 'deploy-key', ...by },
    { what: 'begin', session: at.session.id, name: 'night', ...by },
    { what: 'begin', request: at.asked.id, name: 'push', ...by },
    { what: 'begin', grant: a, name: 'release-key', ...by },
    { what: 'end', request: at.asked.id, name: 'push', ...by },
  ]);
});

test('nobody else sees a name or changes it: another granter of the same session, one of none, a judge, the agent', async () => {
  const at = await scene();
  const other = await at.host.addGranter('other');
  const third = await at.host.addGranter('third');
  const both = await at.host.openSession({ name: 'both', granters: ['owner', 'other'] });
  const theirs = (await at.enterAs<Granter>(other.secret)).bootstrap;
  const nobodys = (await at.enterAs<Granter>(third.secret)).bootstrap;
  const { id } = await E(at.owner).grant(both.id, 'a', 'notes', {});
  await E(at.owner).setName(id, 'deploy-key');
  await E(at.owner).setName(both.id, 'night');
  expect(await named(theirs)).toEqual([]);
  expect(await code(E(theirs).removeName(id) as never)).toBe('no-such-object');
  // A name of one granter takes no name from another, and each has its own for one thing.
  expect(await set(theirs, id, 'deploy-key')).toBe('ok');
  await E(theirs).setName(id, 'mine');
  expect((await named(at.owner)).find((row) => row.id === id)?.name).toBe('deploy-key');
  // A thing of others is as absent as one that never was.
  for (const absent of [id, both.id, 'g999-abcd', 'work-abcd99', 'q001-abcd', '', '__proto__'])
    expect(await set(nobodys, absent, 'x'), absent).toBe('no-such-object');
  const ownText = (granter: Far<Granter>): Promise<string> =>
    E(E(granter).ledger())
      .lines()
      .then((all) => all.filter((line) => line.includes('"k":"name"')).join('\n')) as never;
  expect(await ownText(theirs)).not.toContain('night');
  expect(await ownText(nobodys)).toBe('');
  expect(await ownText(at.owner)).toContain('night');
  // Nothing that the agent or a judge reads has it.
  const agent = (await at.enterAs<Record<string, (...args: unknown[]) => unknown>>(both.secret)).bootstrap;
  const judge = await E(at.owner).judge();
  const texts = [await E(agent).caps!(), await E(judge).inbox(), await E(theirs).list(), await E(theirs).sessions()];
  expect(JSON.stringify(texts)).not.toMatch(/deploy-key|night/);
  for (const method of ['names', 'setName', 'removeName'])
    expect(await code(E(agent)[method]!(id, 'x') as never), method).toBe('no-such-method');
});

test('no name looks like another one or like an id, in whatever spelling', async () => {
  const at = await things();
  const [a = '', b = ''] = at.ids;
  const odd = ['', 'A', 'a b', 'а', 'x'.repeat(64), '-a', 'a\n', undefined, 7, 'g12', 's3', 'r7', 'e91', 'gl2', 'q007-ab3d', 'work-ab3d12']; // biome-ignore format: one line
  for (const name of odd) expect(await set(at.owner, a, name as string), String(name)).toBe('invalid');
  await E(at.owner).setName(a, 'modern-5');
  for (const like of ['modern-5', 'rnodern-5', 'modem-s', 'modern-s'])
    expect(await set(at.owner, b, like), like).toBe('invalid');
  expect(await set(at.owner, b, 'modern-6')).toBe('ok');
  // A name that ended is free again.
  await E(at.owner).removeName(a);
  expect(await set(at.owner, b, 'modern-5')).toBe('ok');
  const letters = fc.string({ unit: fc.constantFrom(...'o0l1is5z2rnmvw-'), minLength: 1, maxLength: 4 });
  const pairs = [...'o0', ...'l1', ...'li', ...'s5', ...'z2'];
  await fc.assert(
    fc.asyncProperty(letters, fc.nat(4), async (name, n) => {
      const [one = '', other = ''] = pairs.slice(2 * n, 2 * n + 2);
      const like = name.replaceAll(one, other);
      await E(at.owner)
        .removeName(a)
        .catch(() => {});
      await E(at.owner)
        .removeName(b)
        .catch(() => {});
      const first = await set(at.owner, a, name);
      if (first === 'ok') expect([name, like, await set(at.owner, b, like)]).toEqual([name, like, 'invalid']);
    }),
    { numRuns: 60 },
  );
});

test('a granter gives as many names as a list can hold, and reads them in pages', async () => {
  const at = await scene();
  const grants = Array.from({ length: 201 }, (_, n) => E(at.owner).grant(at.session.id, `c-${n}`, 'notes', {}));
  const ids = (await Promise.all(grants)).map(({ id }) => id);
  // Letters that no other letter looks like.
  const nameOf = (n: number): string => [...String(n)].map((digit) => 'abcdefghjk'[Number(digit)]).join('');
  await Promise.all(ids.slice(0, 200).map((id, n) => E(at.owner).setName(id, `t-${nameOf(n)}`)));
  expect(await set(at.owner, ids[200]!, 'more')).toBe('limit');
  expect(await set(at.owner, ids[0]!, 'other')).toBe('ok');
  const seen = new Set<string>();
  for (let after: string | undefined; ; ) {
    const page = (await E(at.owner).names(after)) as readonly OwnName[];
    if (page.length === 0) break;
    expect(page.length).toBeLessThanOrEqual(100);
    for (const { id } of page) expect(seen.has(id)).toBe(false);
    for (const { id } of page) seen.add(id);
    after = page.at(-1)!.id;
  }
  expect(seen.size).toBe(200);
});
