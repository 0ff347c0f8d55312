/** Lists: by number, page by page, and no more rows visited than a page has. */
import { rmSync } from 'node:fs';
import { define, E, openVats, spawn, type Table } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { facts, goldenState } from '../../test/golden.ts';
import { code, scratch, testHost } from '../../test/test-host.ts';
import { type Grant, type Granter, openHost } from '../index.ts';
import { HostStateActor, tablesOf } from './host-state.ts';
import { addGrant, grantsFrom, numberOf } from './order.ts';
import type { GrantRecord, HostTables } from './records.ts';

type Filter = Parameters<Granter['list']>[0];
async function pages(granter: object, filter: NonNullable<Filter> = {}): Promise<readonly Grant[]> {
  const all: Grant[] = [];
  for (let after: string | undefined; ; after = all.at(-1)?.id) {
    const page = (await E(granter as Granter).list({ ...filter, ...(after === undefined ? {} : { after }) })) as readonly Grant[]; // biome-ignore format: one line
    if (page.length === 0) return all;
    all.push(...page);
  }
}

test('lists continue by number after the 999th grant, for one session and for all; so do lists of sturdyrefs and sessions', async () => {
  const home = await testHost();
  onTestFinished(() => home.close());
  await home.host.offer('bell', { ring: async () => 'ding' });
  const other = await home.host.openSession({ name: 'another', granters: ['owner'] });
  for (let n = 0; n < 1012; n += 1)
    await E(home.granter).grant(n % 2 === 0 ? home.session.id : other.id, `p${n}`, 'bell', {});
  const numbers = (grants: readonly Grant[]): readonly number[] =>
    grants.map(({ id }) => Number(/^g(\d+)-/.exec(id)?.[1]));
  const upTo = (step: number): readonly number[] => Array.from({ length: 1012 / step }, (_, n) => n * step + 1);
  expect(numbers(await pages(home.granter))).toEqual(upTo(1));
  expect(numbers(await pages(home.granter, { live: true }))).toEqual(upTo(1));
  expect(numbers(await pages(home.granter, { session: home.session.id, limit: 7 }))).toEqual(upTo(2));
  for (const petname of ['p1010', 'p0']) await E(home.granter).mint(home.session.id, petname);
  expect(numbers((await E(home.granter).sturdyrefs()) as readonly Grant[])).toEqual([1013, 1014]);
  for (const name of ['b', 'a', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) await home.host.openSession({ name, granters: ['owner'] }); // biome-ignore format: one line
  const names = ['work', 'another', 'b', 'a', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
  expect((await home.host.sessions()).map(({ name }) => name)).toEqual(names);
  const sessions = await E(home.granter).sessions();
  expect(sessions.map(({ name }) => name)).toEqual(names);
  expect((await E(home.granter).sessions(sessions[8]?.id as string)).map(({ name }) => name)).toEqual(['h', 'i']);
  for (const after of ['zzz', 'g1', '../x', 'g001-abcd/']) expect(await code(E(home.granter).list({ after })), after).toBe('invalid'); // biome-ignore format: one line
  // An ended grant is in no list.
  await other.end();
  expect(numbers(await pages(home.granter))).toEqual([...upTo(2), 1013, 1014]);
});

test('a page reads its own rows and one more, wherever it begins', async () => {
  const vats = await openVats({});
  onTestFinished(() => vats.close());
  const Thing = define<object, []>('Thing', () => ({}));
  await vats.vat('host').turn(() => {
    const tables = tablesOf(spawn(HostStateActor({})));
    const gate = spawn(Thing()) as GrantRecord['gate'];
    for (let n = 1; n <= 5000; n += 1)
      addGrant(tables, { id: `g${String(n).padStart(3, '0')}-abcd`, session: `s-abcd${n % 5}`, petname: 'p', granter: 'o', offered: 'b', parent: undefined, gate }); // biome-ignore format: one line
    let visited = 0;
    const counted = new Proxy(tables.grantIndex, {
      get: (index, name) =>
        name !== 'entries'
          ? Reflect.get(index, name, index)
          : function* (from?: string): Generator<readonly [string, string]> {
              for (const row of index.entries(from)) {
                visited += 1;
                yield row;
              }
            },
    }) as Table<string>;
    const seen: HostTables = { ...tables, grants: tables.grants, grantIndex: counted };
    for (const [session, count] of [
      ['s-abcd3', 1000],
      [undefined, 5000],
    ] as const) {
      let listed = 0;
      for (let after: string | undefined; ; ) {
        visited = 0;
        const page: GrantRecord[] = [];
        for (const grant of grantsFrom(seen, session, after)) if (page.push(grant) === 100) break;
        expect(visited).toBeLessThanOrEqual(101);
        listed += page.length;
        after = page.at(-1)?.id;
        if (after === undefined) break;
      }
      expect(listed).toBe(count);
    }
  });
});

test('the number of a row is read from its id only', () => {
  for (const [id, number] of [['g001-ab27', 1], ['g1000-ab27', 1000], ['q012-zzzz', 12]] as const) expect(numberOf(id)).toBe(number); // biome-ignore format: one line
  for (const id of ['', 'g', 'g1-ab27', 'g001', 'g001-ab2', 'x001-ab27', 'g-01-ab27', ' g001-ab27', 'g001-ab27 ']) expect(numberOf(id)).toBeUndefined(); // biome-ignore format: one line
});

test('a state of the version before has its indexes after the first start, and lists the same rows', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  goldenState(folder);
  for (let start = 0; start < 2; start += 1) {
    const host = await openHost({ stateDir: folder });
    try {
      const owner = await host.granter('owner');
      const all = await pages(owner);
      expect(all).toHaveLength(18);
      expect(all.map(({ id }) => numberOf(id))).toEqual(Array.from({ length: 18 }, (_, n) => n + 1));
      const mine = await pages(owner, { session: facts.ids.work });
      expect(mine).toEqual(all.filter(({ session }) => session === facts.ids.work));
      expect((await pages(owner, { session: facts.ids.child })).map(({ petname }) => petname)).toEqual(['owner']);
      expect(await E(owner).sturdyrefs()).toHaveLength(1);
      expect((await host.sessions()).map(({ id }) => id)).toEqual([facts.ids.work, facts.ids.theirs, facts.ids.child, facts.ids.approved]); // biome-ignore format: one line
      expect(await E(await host.granter('stranger')).list()).toEqual([]);
    } finally {
      await host.close();
    }
  }
});
