/** Sturdyrefs: what their bearer can do, for how long, and what is kept of them. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { backup, connect, E, type Far, openStore } from '@hob/vat';
import { restoreStore } from '@hob/vat/store';
import { testClock } from '@hob/vat/testing';
import type { Connected } from '@hob/vat/wire';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { code, lines, scratch, type TestHost, testHost } from '../../test/test-host.ts';
import { type Grant, type Granter, type Host, openHost } from '../index.ts';

interface Bell {
  ring(): Promise<string>;
  hum(): Promise<string>;
}
interface Minted {
  readonly grant: Grant;
  readonly sturdyref: string;
}

let home: TestHost;
beforeEach(async () => {
  home = await testHost();
  await home.host.offer('bell', { ring: async () => 'ding', hum: async () => 'hmm' });
});
afterEach(() => home.close());
const granted = (petname: string, terms = {}): Promise<Grant> =>
  E(home.granter).grant(home.session.id, petname, 'bell', terms) as Promise<Grant>;
const mint = (petname: string, terms = {}): Promise<Minted> =>
  E(home.granter).mint(home.session.id, petname, terms) as Promise<Minted>;

async function enter(secret: string, url: string = home.url): Promise<Connected<Bell>> {
  const connection = await connect<Bell>(url, { secret });
  onTestFinished(async () => {
    connection.close();
    await connection.closed;
  });
  return connection;
}
const ring = async (secret: string, url?: string): Promise<string> => {
  const opened = await enter(secret, url).catch((error: { code: string }) => error.code);
  return typeof opened === 'string' ? opened : await code(E(opened.bootstrap).ring());
};

test('a sturdyref opens the one cap that it was made for, with its own terms, and spends the uses of the grant above', async () => {
  await granted('bell', { uses: 5 });
  await granted('other');
  const { grant, sturdyref } = await mint('bell', { uses: 2, methods: ['ring'] });
  expect(grant).toMatchObject({ session: home.session.id, petname: 'bell', granter: 'owner', state: 'live', usesLeft: 2, parent: expect.any(String) }); // biome-ignore format: one line
  const { bootstrap } = await enter(sturdyref);
  expect(await E(bootstrap).ring()).toBe('ding');
  expect(await code(E(bootstrap).hum())).toBe('no-such-method');
  // It is a bell and no session: nothing of the others is to be had through it.
  for (const method of ['cap', 'caps', 'resolve', 'rotate', 'spawnChild', 'mint', 'grant', 'list'])
    expect(await code((E(bootstrap) as never as Record<string, (x: string) => Promise<unknown>>)[method]?.('other') as Promise<unknown>)).toBe('no-such-method'); // biome-ignore format: one line
  expect(await E(bootstrap).ring()).toBe('ding');
  expect(await code(E(bootstrap).ring())).toBe('exhausted');
  expect((await E(home.granter).list()).map(({ usesLeft }) => usesLeft)).toEqual([3, undefined, 0]);
  expect(await home.session.caps()).toEqual(['bell', 'other']);
});

test('a sturdyref ends with the grant above, by revocation, and with its session; its connections are closed, and it opens nothing again', async () => {
  const above = await granted('a');
  for (const petname of ['b', 'c']) await granted(petname);
  const [a, b, c] = [await mint('a'), await mint('b'), await mint('c')];
  const inside = await enter(b.sturdyref);
  await E(home.granter).revoke({ grant: above.id });
  expect(await ring(a.sturdyref)).toBe('denied');
  expect(await ring(b.sturdyref)).toBe('ok');
  await E(home.granter).revoke({ grant: b.grant.id });
  expect(await inside.closed).toMatchObject({ code: 4403 });
  expect(await ring(b.sturdyref)).toBe('denied');
  const other = await enter(c.sturdyref);
  await home.session.end();
  expect(await other.closed).toMatchObject({ code: 4403 });
  expect(await ring(c.sturdyref)).toBe('denied');
  expect(await E(home.granter).sturdyrefs()).toEqual([]);
  expect(await E(home.granter).list()).toEqual([]);
});

test('when a sturdyref expires nobody can enter with it, and a connected bearer can do nothing', async () => {
  await home.close();
  const clock = testClock();
  home = await testHost({ clock });
  await home.host.offer('bell', { ring: async () => 'ding' });
  await granted('bell', { for: 3_600_000 });
  const { sturdyref } = await mint('bell', { for: 60_000 });
  const { bootstrap } = await enter(sturdyref);
  expect(await E(bootstrap).ring()).toBe('ding');
  clock.advance(60_000);
  expect(await code(E(bootstrap).ring())).toBe('expired');
  expect(await ring(sturdyref)).toBe('denied');
});

test('after rotate the old secret works until the new one is used, also over a restart; of two new secrets the later counts', async () => {
  const state = join(home.folder, 'state');
  await granted('bell', { scope: 'permanent' });
  const { grant, sturdyref: old } = await mint('bell');
  const { sturdyref: unused } = await E(home.granter).rotate(grant.id);
  const { sturdyref: later } = await E(home.granter).rotate(grant.id);
  expect(await ring(unused)).toBe('denied');
  expect(await ring(old)).toBe('ok');
  await home.host.close();
  const host = await openHost({ stateDir: state });
  onTestFinished(() => host.close());
  await host.offer('bell', { ring: async () => 'ding' });
  const { url } = await host.serve();
  expect(await ring(old, url)).toBe('ok');
  expect(await ring(later, url)).toBe('ok');
  expect(await ring(old, url)).toBe('denied');
  expect(await ring(later, url)).toBe('ok');
});

test('after a restart a sturdyref opens the same cap with the uses left; the store has only hashes, and the ledger no secret', async () => {
  const state = join(home.folder, 'state');
  await granted('bell', { scope: 'permanent' });
  const { grant, sturdyref } = await mint('bell', { uses: 3 });
  const gone = await mint('bell');
  await E(home.granter).revoke({ grant: gone.grant.id });
  expect(await ring(sturdyref)).toBe('ok');
  const { sturdyref: rotated } = await E(home.granter).rotate(grant.id);
  const told = await lines(home.host);
  await home.host.close();
  for (const name of readdirSync(state)) {
    const text = readFileSync(join(state, name), 'latin1');
    for (const secret of [sturdyref, gone.sturdyref, rotated]) expect(text, name).not.toContain(secret);
  }
  expect(JSON.stringify(told)).not.toMatch(/hob1_[a-z2-7]{10}/);
  expect(told.filter(({ k }) => k === 'sturdyref').map(({ grant: id, what, by, surface }) => [id, what, by, surface])).toEqual([[grant.id, 'mint', 'owner', 'program'], [gone.grant.id, 'mint', 'owner', 'program'], [grant.id, 'rotate', 'owner', 'program']]); // biome-ignore format: one line
  expect(told.filter(({ k, grant: id }) => k === 'call' && id === grant.id)).toMatchObject([
    { method: 'ring', use: 1 },
  ]);
  const host = await openHost({ stateDir: state });
  onTestFinished(() => host.close());
  await host.offer('bell', { ring: async () => 'ding' });
  const { url } = await host.serve();
  expect(await ring(gone.sturdyref, url)).toBe('denied');
  expect(await ring(sturdyref, url)).toBe('ok');
  const [listed] = await E(await host.granter('owner')).sturdyrefs();
  expect(listed).toMatchObject({ id: grant.id, usesLeft: 1, state: 'live' });
  expect(await ring(sturdyref, url)).toBe('ok');
  expect(await ring(sturdyref, url)).toBe('denied');
});

test('a sturdyref of another granter looks as if it did not exist; none can be made of a cap that is not held or has ended', async () => {
  const { id } = await granted('bell');
  const { grant } = await mint('bell');
  const { granter: stranger } = await home.host.addGranter('stranger');
  for (const attempt of [
    () => E(stranger).mint(home.session.id, 'bell'),
    () => E(stranger).rotate(grant.id),
    () => E(stranger).sturdyrefs({ session: home.session.id }),
    () => E(home.granter).mint(home.session.id, 'bel'),
    () => E(home.granter).mint('no-session', 'bell'),
    () => E(home.granter).rotate(id),
    () => E(home.granter).rotate('g999-none'),
  ])
    expect(await code(attempt() as Promise<unknown>)).toBe('no-such-object');
  expect(await E(stranger).sturdyrefs()).toEqual([]);
  for (const terms of [null, 7, { uses: 0 }, { uze: 1 }])
    expect(await code(mint('bell', terms as never))).toBe('invalid');
  await E(home.granter).revoke({ grant: id });
  expect(await code(mint('bell'))).toBe('revoked');
  expect((await E(home.granter).sturdyrefs()).map(({ id: each, state }) => [each, state])).toEqual([[grant.id, 'revoked']]); // biome-ignore format: one line
});

test('a sturdyref opens nothing else: no object URL, and no connection slot of a granter or session', async () => {
  await granted('bell');
  const { sturdyref } = await mint('bell');
  const url = await home.session.publish('bell');
  const http = home.url.replace('ws:', 'http:');
  const asked = await fetch(`${http}${url}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sturdyref}` },
    body: JSON.stringify({ method: 'ring', args: [] }),
  });
  expect(asked.status).toBe(404);
  const agent = await home.enter(home.session.secret);
  await ring(sturdyref);
  // Nor is the session fenced by who entered with it.
  expect(await E(agent.bootstrap).caps()).toEqual(['bell']);
  expect(home.host.connections().map(({ session }) => session)).toContain(home.session.id);
});

test('in a restored store a sturdyref still connects, and its grant waits until the granter confirms it', async () => {
  const state = join(home.folder, 'state');
  await granted('bell', { scope: 'permanent' });
  const { grant, sturdyref } = await mint('bell', { uses: 2 });
  await home.host.close();
  const store = await openStore({ path: state });
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const copy = join(folder, 'copy');
  await backup(store, copy);
  await store.close();
  const again = join(folder, 'again');
  await restoreStore(copy, { path: again });
  const host: Host = await openHost({ stateDir: again });
  onTestFinished(() => host.close());
  await host.offer('bell', { ring: async () => 'ding' });
  const { url } = await host.serve();
  expect(host.restored).toBe(true);
  expect(await ring(sturdyref, url)).toBe('unavailable');
  const granter: Far<Granter> = await host.granter('owner');
  await E(granter).confirm(grant.parent as string);
  expect(await ring(sturdyref, url)).toBe('unavailable');
  await E(granter).confirm(grant.id);
  expect(await ring(sturdyref, url)).toBe('ok');
});
