/** The ledger over the wire. */
import { join } from 'node:path';
import { connect, E, type Far, openStore, openVats } from '@hob/vat';
import { retainLedger } from '@hob/vat/store';
import { expect, test } from 'vitest';
import { code, held, lines, testHost } from '../../test/test-host.ts';
import { type Granter, type Host, openHost } from '../index.ts';

test('a granter reads the whole ledger in pages that fit into frames, however long the lines are, and it verifies', async () => {
  const home = await testHost();
  try {
    await home.host.offer('bell', { ring: async () => 'ding' });
    await E(home.granter).grant(home.session.id, 'bell', 'bell', {});
    const session = await home.enter(home.session.secret);
    const bell = held<{ ring(): Promise<string> }>(session, 'bell');
    await Promise.all(Array.from({ length: 400 }, () => E(bell).ring()));
    // A granter's own words can be long, and full of what JSON escapes.
    for (let index = 0; index < 80; index += 1) {
      const { id } = await E(home.granter).grant(home.session.id, `p${index}`, 'bell', {});
      await E(home.granter).revoke({ grant: id }, '"\\'.repeat(250));
    }
    const connection = await connect<Granter>(home.url, { secret: home.granterSecret });
    const reader = await E(connection.bootstrap).ledger();
    const read: string[] = [];
    for (;;) {
      const page = (await E(reader).lines(
        (read.length === 0 ? 0 : JSON.parse(read.at(-1) as string).seq) + 1,
      )) as readonly string[];
      read.push(...page);
      expect(page.length).toBeLessThanOrEqual(500);
      if (page.length === 0) break;
    }
    expect(read.map((line) => JSON.parse(line))).toEqual(await lines(home.host));
    expect(await E(reader).verify()).toMatchObject({ ok: true, lines: read.length });
    for (const from of [0, -5, 'x', null, {}, 1.7, Number.NaN])
      expect((await E(reader as never as Far<{ lines(from: unknown): readonly string[] }>).lines(from))[0]).toBe(
        read[0],
      );
    for (const method of ['write', 'close', 'commit', 'export'])
      expect(await code((E(reader) as never as Record<string, () => Promise<unknown>>)[method]?.() as Promise<unknown>)).toBe('no-such-method'); // biome-ignore format: one line
    connection.close();
    await connection.closed;
  } finally {
    await home.close();
  }
});

test('after the first lines of a session were dropped, its granter can still read the rest, and no other granter can', async () => {
  const home = await testHost();
  const stateDir = join(home.folder, 'state');
  let host: Host | undefined;
  try {
    await home.host.addGranter('other');
    await home.host.offer('bell', { ring: async () => 'ding' });
    const { id } = await E(home.granter).grant(home.session.id, 'bell', 'bell', {});
    await home.host.close();
    const store = await openStore({ path: stateDir });
    const vats = await openVats({ store });
    expect(await retainLedger(store, { before: Date.now() + 60_000, by: 'operator' })).toMatchObject({ dropped: expect.any(Number) }); // biome-ignore format: one line
    await vats.close();
    await store.close();
    host = await openHost({ stateDir });
    const kinds = (await lines(host)).map(({ k }) => k);
    expect(kinds).toContain('cut');
    expect(kinds).not.toContain('grant');
    await host.offer('bell', { ring: async () => 'ding' });
    const owner = await host.granter('owner');
    const other = await host.granter('other');
    await E(owner).revoke({ grant: id });
    const all = await lines(host);
    const last = all.find(({ k }) => k === 'revoke');
    expect(last).toMatchObject({ grant: id });
    const readBy = async (granter: typeof owner): Promise<readonly unknown[]> =>
      ((await E(E(granter).ledger()).lines()) as readonly string[]).map((line) => JSON.parse(line));
    expect(await readBy(owner)).toEqual(all);
    expect(await readBy(other)).toEqual(all.filter(({ k }) => k !== 'revoke'));
  } finally {
    await host?.close();
    await home.close();
  }
});
