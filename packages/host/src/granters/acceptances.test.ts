/** Texts that a granter accepts by their hashes, and the grants that end with that. */
import { E, type Far } from '@hob/vat';
import { expect, test } from 'vitest';
import { scene } from '../../test/asking.ts';
import { code, held, lines } from '../../test/test-host.ts';
import type { Acceptance, Grant, Granter } from '../index.ts';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)] as const;
const text = (hash: string): { readonly name: string; readonly hash: string } => ({ name: 'project/hob.yaml', hash });

test('an acceptance is one line with the hash, the granter and the surface, and so is its end', async () => {
  const at = await scene();
  const granted = (await E(at.owner).accept(text(A))) as Acceptance;
  expect(granted).toMatchObject({ ...text(A), granter: 'owner' });
  await E(at.owner).accept(text(A));
  expect(await E(at.owner).acceptances()).toMatchObject([text(A)]);
  await E(at.owner).endAcceptance('project/hob.yaml', 'done');
  expect(await E(at.owner).acceptances()).toEqual([]);
  expect(await lines(at.host, 'accept')).toMatchObject([
    { what: 'begin', name: 'project/hob.yaml', sha256: A, by: 'owner', surface: 'wire' },
    { what: 'end', name: 'project/hob.yaml', sha256: A, by: 'owner', surface: 'wire', why: 'done', grants: 0 },
  ]);
  expect(await code(E(at.owner).endAcceptance('project/hob.yaml') as never)).toBe('no-such-object');
  // The granter reads its own, and no other granter does.
  const { secret } = await at.host.addGranter('other');
  const other = (await at.enterAs<Granter>(secret)).bootstrap;
  for (const [granter, many] of [
    [at.owner, 2],
    [other, 0],
  ] as const) {
    const all = (await E(E(granter).ledger()).lines()) as readonly string[];
    expect(all.filter((line) => line.includes('"accept"'))).toHaveLength(many);
    expect(await E(granter).acceptances()).toEqual([]);
  }
});

test('a grant for a text is made only while exactly that text is accepted, and ends with the acceptance', async () => {
  const at = await scene();
  const grant = (petname: string, hash: string): Promise<unknown> =>
    E(at.owner).grant(at.session.id, petname, 'notes', { for: 60_000 }, text(hash)) as unknown as Promise<unknown>;
  expect(await code(grant('early', A))).toBe('denied');
  await E(at.owner).accept(text(A));
  await grant('filled', A);
  expect(await code(grant('other', B))).toBe('denied');
  await E(at.owner).grant(at.session.id, 'own', 'notes', { for: 60_000 });
  const child = await at.child('helper', { notes: 'filled' });
  const helper = await at.enterAs<{ cap(name: string): object }>(child.secret);
  const [filled, own] = [held(at.agent, 'filled'), held(at.agent, 'own')] as readonly Far<{ list(): unknown }>[];
  const theirs = E(helper.bootstrap).cap('notes') as unknown as Far<{ list(): unknown }>;
  for (const cap of [filled!, own!, theirs]) expect(await code(E(cap).list() as never)).toBe('ok');
  // Another text of that name: what the first one filled is gone in that turn.
  await E(at.owner).accept(text(B));
  for (const cap of [filled!, theirs]) expect(await code(E(cap).list() as never)).toBe('revoked');
  expect(await code(E(own!).list() as never)).toBe('ok');
  expect(await code(grant('late', A))).toBe('denied');
  const grants = (await E(at.owner).list({ session: at.session.id })) as readonly Grant[];
  expect(grants.find(({ petname }) => petname === 'filled')?.state).toBe('revoked');
  expect(await lines(at.host, 'grant')).toContainEqual(expect.objectContaining({ petname: 'filled', accepted: A }));
});

test('names and hashes that are none are refused, and so are more texts than a person reads', async () => {
  const at = await scene();
  for (const wrong of [
    { name: '', hash: A },
    { name: 'a\nb', hash: A },
    { name: 'x', hash: A.toUpperCase() },
    { name: 'x', hash: 'a' },
    { name: 'x' },
    undefined,
  ])
    expect(await code(E(at.owner).accept(wrong as never) as never), JSON.stringify(wrong)).not.toBe('ok');
  for (let n = 0; n < 100; n += 1) await E(at.owner).accept({ name: `r${n}/hob.yaml`, hash: A });
  expect(await code(E(at.owner).accept({ name: 'more/hob.yaml', hash: A }) as never)).toBe('limit');
  // Another text of a known name takes no further place.
  await E(at.owner).accept({ name: 'r1/hob.yaml', hash: B });
});
