/** Which hosts use a store, as the server tells it. Each test has a schema of its own on one server. */
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { serverOfFile, urlOf } from '../../../test/postgres-cluster.ts';
import { wayTo } from '../../../test/postgres-way.ts';
import { closing, engineOf, linesAfter } from '../../../test/store-suite.ts';
import { mirrorOf } from '../test/mirror.ts';
import { type PostgresStoreOptions, postgresStore, type StoreHosts, storeHosts } from './index.ts';
import { STEPS } from './schema.ts';

const test = requires('postgres');
const server = serverOfFile(test);

const open = (schema: string, more: Partial<PostgresStoreOptions> = {}) =>
  postgresStore({ url: server.cluster.url, schema, ...more });

/** Returns the hosts as a program sees them that only looks. */
async function seen(schema: string, more: Partial<PostgresStoreOptions> = {}): Promise<StoreHosts> {
  await using store = await open(schema, { look: true, name: 'onlooker', ...more });
  return await storeHosts(store);
}

test('storeHosts names the host that has the store and those that wait, and none that has ended or only looks', async () => {
  const schema = server.nextSchema();
  // The hosts of another store are not those of this one.
  await using other = await open(server.nextSchema(), { name: 'elsewhere' });
  const first = await open(schema, { name: 'alpha.1', leaseMs: 5000 });
  const second = open(schema, { name: 'beta-2', standby: true });
  await expect.poll(async () => (await seen(schema)).standbys.length).toBe(1);
  const now = await seen(schema);
  expect(now).toEqual({
    ...{ epoch: 1, versions: { tables: STEPS.length, serves: 1 } },
    holder: { name: 'alpha.1', leaseMs: expect.any(Number), connected: true },
    standbys: [{ name: 'beta-2', heardMs: expect.any(Number) }],
    replication: { mode: 'none', standbys: [], hidden: 0 },
  });
  expect(now.holder?.leaseMs).toBeGreaterThan(0);
  expect(now.holder?.leaseMs).toBeLessThanOrEqual(5000);
  expect(now.standbys[0]?.heardMs).toBeLessThan(2000);
  // The host itself sees the same.
  expect((await storeHosts(first)).standbys).toEqual([{ name: 'beta-2', heardMs: expect.any(Number) }]);
  expect((await storeHosts(other)).standbys).toEqual([]);

  await first.close();
  const taken = await second;
  expect(await seen(schema)).toMatchObject({ epoch: 2, holder: { name: 'beta-2', connected: true }, standbys: [] });
  await taken.close();
  const over = await seen(schema);
  expect([over.holder, over.standbys]).toEqual([undefined, []]);
  await expect(storeHosts(taken)).rejects.toMatchObject({ code: 'unavailable' });
});

test('a host that was cut off is listed as not connected, until its lease ends', async () => {
  const schema = server.nextSchema();
  const way = await wayTo(server.cluster);
  const store = await open(schema, { url: way.url, name: 'far', leaseMs: 8000 });
  onTestFinished(async () => {
    await store.close();
    await way.close();
  });
  await way.is('cut');
  // Its lease runs for seconds more, and looking takes long on a busy machine.
  const holder = async () => (await seen(schema)).holder;
  await expect.poll(holder, { timeout: 8000 }).toEqual({ leaseMs: expect.any(Number), connected: false });
  await expect.poll(holder, { timeout: 30_000 }).toBeUndefined();
}, 60_000);

test('storeHosts refuses a store of another kind, and a name of a host has only plain characters', async () => {
  const { openStore } = await import('@hob/vat');
  await using memory = await openStore({ memory: true });
  await expect(storeHosts(memory)).rejects.toMatchObject({ code: 'invalid' });
  for (const name of ['', 'a b', 'a\n', '/tmp', 'x'.repeat(41)])
    await expect(open(server.nextSchema(), { name }), name).rejects.toMatchObject({ code: 'invalid' });
});

/** Changes the server for one test. */
async function set(setting: string): Promise<void> {
  await server.cluster.sql.unsafe(`ALTER SYSTEM ${setting}`);
  await server.cluster.sql`SELECT pg_reload_conf()`;
}

test('storeHosts says how far a standby of the server is behind, and whether commits wait for it', async () => {
  const schema = server.nextSchema();
  const mirror = await mirrorOf(server.cluster, 'mirror one');
  onTestFinished(async () => {
    await set('RESET synchronous_standby_names');
    await mirror.remove();
  });
  const one = closing(engineOf(await open(schema)));
  const replication = async () => (await seen(schema)).replication;
  await expect.poll(async () => (await replication()).standbys[0]?.state, { timeout: 10_000 }).toBe('streaming');
  // Odd characters in a name are replaced.
  expect(await replication()).toMatchObject({ mode: 'asynchronous', standbys: [{ name: 'mirror?one', sync: 'async' }], hidden: 0 }); // biome-ignore format: one line

  const [sender] = await server.cluster.sql`SELECT pid FROM pg_stat_replication`;
  process.kill(Number(sender?.['pid']), 'SIGSTOP');
  try {
    one.commit(one.epoch, { lines: linesAfter(one.head(), 20) });
    const [behind] = (await replication()).standbys;
    expect([behind?.unsentBytes, behind?.unflushedBytes].map((bytes) => Number(bytes) > 0)).toEqual([true, true]);
  } finally {
    process.kill(Number(sender?.['pid']), 'SIGCONT');
  }
  await expect.poll(async () => (await replication()).standbys[0]?.unflushedBytes, { timeout: 10_000 }).toBe(0);

  await set(`SET synchronous_standby_names = '*'`);
  await expect.poll(async () => (await replication()).standbys[0]?.sync, { timeout: 10_000 }).toBe('sync');
  expect((await replication()).mode).toBe('synchronous');

  // Another user of the database, who may read the tables, sees neither names nor lag.
  await server.cluster.sql.unsafe(`
    CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA ${schema} TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO reader`);
  const url = urlOf(server.cluster.socket).replace('user=hob', 'user=reader');
  expect(await seen(schema, { url })).toMatchObject({
    holder: { leaseMs: expect.any(Number), connected: true },
    replication: { mode: 'synchronous', standbys: [], hidden: 1 },
  });
}, 60_000);
