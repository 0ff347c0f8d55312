/** Two versions of the tables: hosts of both take turns, and a program leaves tables alone that it may not serve. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Definition, define, E, type Far, openVats, type Store, verifyLedger } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { inherited } from '../../../test/mutants/environment.ts';
import { requires } from '../../../test/needs.ts';
import { serverOfFile } from '../../../test/postgres-cluster.ts';
import { storeOfSteps } from '../test/versions.ts';
import { lineTimes, postgresStore, storeHosts } from './index.ts';
import { STEPS, type Step } from './schema.ts';

const test = requires('postgres');
const server = serverOfFile(test);

const ours = STEPS.length;
/** A version to come: it changes a table that commits write, and has a new one. */
const COMING = `
  ALTER TABLE line ADD COLUMN host text NOT NULL DEFAULT '';
  ALTER TABLE cell ADD COLUMN coming int NOT NULL DEFAULT 7;
  CREATE TABLE coming (id int PRIMARY KEY)`;
/** The next version, which this one may serve, too. */
const next: readonly Step[] = [...STEPS, { sql: COMING, serves: ours }];
/** A next version, which this one may not serve. */
const apart: readonly Step[] = [...STEPS, { sql: COMING, serves: ours + 1 }];

const open = (
  schema: string,
  steps: readonly Step[],
  more: { readonly standby?: boolean; readonly look?: boolean } = {},
) => storeOfSteps({ url: server.cluster.url, schema, ...more }, steps);

interface Counter {
  add(): number;
}
const Counter: Definition<Counter, [n: number]> = define('Counter', (bcom, n) => ({
  add: () => bcom(Counter(n + 1), n + 1) as never,
}));

/** A host with a counter on a store. */
async function serve(store: Store): Promise<{ add(): Promise<number>; close(): Promise<void> }> {
  const vats = await openVats({ store, definitions: [Counter] });
  const counter = (await vats.vat('a').root('counter', () => Counter(0))) as Far<Counter>;
  return {
    add: async () => (await E(counter).add()) as number,
    async close() {
      await vats.close();
      await store.close();
    },
  };
}

/** Runs `sql` on the tables of a schema, and returns the rows. */
const ask = async (schema: string, sql: string): Promise<readonly Record<string, unknown>[]> => [
  ...(await server.cluster.sql.unsafe(sql.replaceAll('$schema', schema))),
];
const versions = async (schema: string) => (await ask(schema, 'SELECT version, tables FROM $schema.store'))[0];

test('while a version is rolled out, hosts of the old and the new one take turns on one store, forwards and back', async () => {
  const schema = server.nextSchema();
  let host = await serve(await open(schema, STEPS));
  expect(await host.add()).toBe(1);
  let count = 1;
  // The old one, then the new one, the old one again, and the new one for good.
  for (const [steps, tables] of [
    [next, ours + 1],
    [STEPS, ours + 1],
    [next, ours + 1],
  ] as const) {
    const standby = open(schema, steps, { standby: true });
    // Longer than a look of a standby. The tables of a host that serves are not changed under it.
    await new Promise((then) => setTimeout(then, 600));
    expect(await host.add()).toBe((count += 1));
    expect(await versions(schema)).toEqual(count === 2 ? { version: 1, tables: ours } : { version: ours, tables: ours + 1 }); // biome-ignore format: one line
    await host.close();
    host = await serve(await standby);
    expect(await host.add()).toBe((count += 1));
    expect(await versions(schema)).toEqual({ version: ours, tables });
  }
  await host.close();
  for (const steps of [STEPS, next]) {
    const store = await open(schema, steps, { look: true });
    expect(await verifyLedger(store)).toMatchObject({ ok: true });
    await store.close();
  }
}, 60_000);

test('a program that the newer tables do not serve is refused with the remedy, also as a standby, and writes nothing', async () => {
  const schema = server.nextSchema();
  await (await serve(await open(schema, STEPS))).close();
  const host = await serve(await open(schema, apart));
  // One of the old version has waited since before.
  const waiting = open(schema, STEPS, { standby: true });
  await expect(waiting).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(/^a newer version of Hob wrote this store\. Its tables need version \d, and this program has \d: use the newer version, or another schema$/) }); // biome-ignore format: one line
  expect(await host.add()).toBe(1);
  await host.close();
  const all = () => ask(schema, 'SELECT s::text, o::text, (SELECT count(*) FROM $schema.line) FROM $schema.store s, $schema.owner o'); // biome-ignore format: one line
  const before = await all();
  for (const more of [{}, { standby: true }, { look: true }])
    await expect(open(schema, STEPS, more)).rejects.toMatchObject({ code: 'invalid' });
  expect(await all()).toEqual(before);
}, 60_000);

test('each version of the tables has a golden store, also this one', () => {
  const names = STEPS.map((_, n) => `store-v${n + 1}.sql`);
  expect(readdirSync(join(import.meta.dirname, '..', 'golden')).sort()).toEqual(names);
});

test('a store of the first version is looked at as it is, and is brought forward once by the host that takes it', async () => {
  const schema = server.nextSchema();
  const first = STEPS.slice(0, 1);
  const old = await serve(await open(schema, first));
  expect(await old.add()).toBe(1);
  const look = await open(schema, STEPS, { look: true });
  expect(await verifyLedger(look)).toMatchObject({ ok: true });
  await look.close();
  await using beside = await postgresStore({ url: server.cluster.url, schema, look: true });
  expect((await storeHosts(beside)).versions).toEqual({ tables: 1, serves: 1 });
  expect(await lineTimes(beside, 1, 10)).toEqual([]);
  const columns = () => ask(schema, `SELECT table_name, column_name, data_type, column_default, is_nullable FROM information_schema.columns WHERE table_schema = '$schema' ORDER BY 1, 2`); // biome-ignore format: one line
  expect((await columns()).some(({ column_name }) => column_name === 'tables')).toBe(false);
  await old.close();
  const host = await serve(await open(schema, STEPS));
  expect(await host.add()).toBe(2);
  await host.close();
  expect(await versions(schema)).toEqual({ version: 1, tables: ours });
  // The first version still serves them.
  const back = await serve(await open(schema, first));
  expect(await back.add()).toBe(3);
  await back.close();
  const brought = await columns();
  // Lines of both versions have times since the tables were changed. The lines before have none.
  await using after = await postgresStore({ url: server.cluster.url, schema, look: true });
  const seqs = (await ask(schema, 'SELECT seq::int FROM $schema.line ORDER BY seq')).map(({ seq }) => seq);
  const times = await lineTimes(after, 1, 100);
  expect(times.map(([seq]) => seq)).toEqual(seqs);
  const isTimed = times.map(([, ms]) => ms !== undefined);
  expect(isTimed).toEqual([...isTimed].sort());
  expect(new Set(isTimed).size).toBe(2);
  // A new store has the same tables as one that came all the way.
  await server.cluster.sql.unsafe(`ALTER SCHEMA ${schema} RENAME TO ${schema}_old`);
  await (await open(schema, STEPS)).close();
  expect(await columns()).toEqual(brought);
}, 60_000);

test('the version before each version may serve its tables', () => {
  STEPS.forEach(({ serves }, at) => {
    expect(serves).toBeGreaterThanOrEqual(Math.max(1, STEPS[at - 1]?.serves ?? 1));
    expect(serves).toBeLessThanOrEqual(Math.max(1, at));
  });
});

/** Steps that take so long that other hosts try to open the store meanwhile. */
const slowly = (seconds: number): readonly Step[] => [
  ...STEPS,
  { sql: `${COMING}; SELECT pg_sleep(${seconds}); CREATE TABLE last (id int)`, serves: ours },
];

const isMigrating = async (): Promise<boolean> =>
  (await ask('', `SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(_)%' AND pid <> pg_backend_pid()`)).length > 0; // biome-ignore format: one line

test('a host that is killed while it changes the tables leaves them as they were, and any version goes on', async () => {
  const schema = server.nextSchema();
  const first = await serve(await open(schema, STEPS));
  expect(await first.add()).toBe(1);
  await first.close();
  const child = program(schema, slowly(3));
  await expect.poll(isMigrating, { timeout: 20_000 }).toBe(true);
  child.kill('SIGKILL');
  // The server notices it when the statement is over. Until then nobody opens the store half changed.
  const host = await serve(await open(schema, STEPS, { standby: true }));
  expect([await host.add(), await versions(schema)]).toEqual([2, { version: 1, tables: ours }]);
  expect(await ask(schema, `SELECT to_regclass('$schema.coming') AS coming, to_regclass('$schema.last') AS last`)).toEqual([{ coming: null, last: null }]); // biome-ignore format: one line
  await host.close();
  const later = await serve(await open(schema, slowly(0)));
  expect([await later.add(), await versions(schema)]).toEqual([3, { version: ours, tables: ours + 1 }]);
  await later.close();
}, 60_000);

test('of two hosts that would change the tables at once, one does, and the other waits or is refused', async () => {
  const schema = server.nextSchema();
  await (await serve(await open(schema, STEPS))).close();
  const opened = await Promise.allSettled(Array.from({ length: 2 }, () => open(schema, slowly(1))));
  const stores = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const whys = opened.flatMap((each) => (each.status === 'rejected' ? [(each.reason as { code: string }).code] : []));
  expect([stores.length, whys]).toEqual([1, ['unavailable']]);
  const waits = open(schema, slowly(1), { standby: true });
  const host = await serve(stores[0] as Store);
  expect([await host.add(), await versions(schema)]).toEqual([1, { version: ours, tables: ours + 1 }]);
  await host.close();
  const second = await serve(await waits);
  expect(await second.add()).toBe(2);
  await second.close();
}, 60_000);

test('a backup that reads the tables holds up no host for long: it says why it cannot change them', async () => {
  const schema = server.nextSchema();
  const first = await serve(await open(schema, STEPS));
  expect(await first.add()).toBe(1);
  await first.close();
  const backup = await server.cluster.sql.reserve();
  await backup.unsafe(`BEGIN; LOCK TABLE ${schema}.line IN ACCESS SHARE MODE`);
  await expect(open(schema, next)).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(/such as a backup/) }); // biome-ignore format: one line
  await backup.unsafe('COMMIT');
  backup.release();
  expect(await versions(schema)).toEqual({ version: 1, tables: ours });
  const host = await serve(await open(schema, next));
  expect(await host.add()).toBe(2);
  await host.close();
}, 20_000);

const main = fileURLToPath(new URL('../test/version-child.ts', import.meta.url));

/** A host with these steps, in a process of its own. */
function program(schema: string, steps: readonly Step[]): ChildProcess {
  const words = [main, server.cluster.url, schema, JSON.stringify(steps)];
  const child = spawn(process.execPath, words, { stdio: 'ignore', env: { PATH: process.env['PATH'], ...inherited() } });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}
