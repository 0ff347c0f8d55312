/** A host of the cluster by itself, with a time that the test decides, and the thread that it runs in. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { type Connection, checkServer, connect, serverAt } from '@hob/store-postgres/connection';
import { testClock } from '@hob/vat/testing';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { serverOfFile } from '../../../test/postgres-cluster.ts';
import { databaseOn } from '../../../test/postgres-database.ts';
import { Member } from './member.ts';
import { join } from './membership.ts';
import { makeTables, SCHEMA, STEPS } from './tables.ts';

const test = requires('postgres');
const server = serverOfFile(test);

test('a hint makes a host read the rows at once, and names the tenant that another host has freed', async () => {
  const { url, sql } = await databaseOn(server.cluster);
  const one = await join(
    {
      async connect(heard) {
        const connection = await connect(serverAt(url, {}), heard);
        await checkServer(connection, SCHEMA);
        return connection;
      },
      now: () => 0,
      // The time for the next look without a hint never comes.
      after: (ms, then) => {
        if (ms < 1000) then();
        return () => {};
      },
    },
    { name: 'one', address: undefined, member: 'm1' },
  );
  onTestFinished(() => one.close());
  const { version } = await one.look();
  await sql`INSERT INTO hob_cluster.tenant VALUES ('acme', NULL)`;
  await sql.notify('hob_cluster', 'anything');
  const seen = await one.watch(version);
  expect(seen).toMatchObject({ tenants: [{ name: 'acme' }], freed: [] });
  await one.freed('own'); // its own hints are not for it
  await sql.notify('hob_cluster', 'free acme m2');
  expect(await one.watch(seen.version)).toMatchObject({ freed: ['acme'] });
});

test('hosts that could not be heard while the database was away get time to be heard again', async () => {
  const { url, sql, name } = await databaseOn(server.cluster);
  let time = 0;
  const powers = {
    async connect(heard: (text: string) => void) {
      const connection = await connect(serverAt(url, {}), heard);
      await checkServer(connection, SCHEMA);
      return connection;
    },
    now: () => time,
    after: (ms: number, then: () => void) => {
      const timer = setTimeout(then, Math.min(ms, 50));
      return () => clearTimeout(timer);
    },
  };
  const one = await join(powers, { name: 'one', address: undefined, member: 'm1' });
  onTestFinished(() => one.close());
  const live = async () => (await one.look()).hosts.filter((each) => each.live).map((each) => each.name);
  await sql`INSERT INTO hob_cluster.host VALUES ('two', NULL, 'm2', clock_timestamp() - interval '20 seconds')`;
  expect(await live()).toEqual(['one']);
  // The database is away for 30 s: no host can be heard meanwhile.
  await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`).catch(() => {});
  await server.cluster.sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND application_name = 'hob'`;
  await server.cluster.sql.unsafe(end);
  await expect.poll(async () => (await one.watch(0)).connected).toBe(false);
  time += 30_000;
  await server.cluster.sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await expect.poll(async () => (await one.watch(0)).connected).toBe(true);
  expect(await live()).toEqual(['one', 'two']);
  time += 3000;
  expect(await live()).toEqual(['one']);
});

test('tables of an older version are changed, and an older program goes on if they serve it', async () => {
  const { url } = await databaseOn(server.cluster);
  const connection = await connect(serverAt(url, {}));
  onTestFinished(() => connection.close());
  await checkServer(connection, SCHEMA);
  await makeTables(connection);
  const newer = [...STEPS, { sql: 'ALTER TABLE host ADD COLUMN load int', serves: 1 }];
  await makeTables(connection, newer);
  await makeTables(connection, STEPS);
  expect(await connection.query('SELECT version, tables FROM cluster')).toEqual([{ version: 1, tables: 2 }]);
  const newest = [...newer, { sql: 'ALTER TABLE host ADD COLUMN most int', serves: 3 }];
  await makeTables(connection, newest);
  for (const steps of [STEPS, newer])
    await expect(makeTables(connection, steps)).rejects.toMatchObject({ code: 'invalid' });
  // A change that fails changes nothing.
  const bad = [...newest, { sql: 'ALTER TABLE host ADD COLUMN twice int; ALTER TABLE nothing ADD x int', serves: 3 }]; // biome-ignore format: one line
  await expect(makeTables(connection, bad)).rejects.toThrow();
  expect(await connection.query(`SELECT tables FROM cluster WHERE NOT EXISTS (SELECT FROM information_schema.columns WHERE column_name = 'twice')`)).toEqual([{ tables: 3 }]); // biome-ignore format: one line
});

test('hosts that join a new cluster at the same moment all join: the tables are made once', async () => {
  const { url } = await databaseOn(server.cluster);
  const connections = await Promise.all([1, 2, 3, 4, 5].map(() => connect(serverAt(url, {}))));
  onTestFinished(async () => void (await Promise.all(connections.map((each) => each.close()))));
  for (const each of connections) await checkServer(each, SCHEMA);
  const [first, ...others] = connections as [Connection, ...Connection[]];
  // The first one makes them while the others have seen that there are none, and wait.
  await first.query('BEGIN');
  await first.query(`SELECT pg_advisory_xact_lock(hashtext('hob cluster'))`);
  const made = others.map((each) => makeTables(each));
  const waiting = `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
  await expect.poll(async () => (await first.query(waiting))[0]?.['n']).toBe(4);
  await first.query(`CREATE SCHEMA ${SCHEMA}`);
  for (const { sql } of STEPS) await first.query(sql);
  await first.query('COMMIT');
  await Promise.all(made);
  expect(await first.query('SELECT tables FROM cluster')).toEqual([{ tables: STEPS.length }]);
});

test('if the thread of a cluster dies, nothing is given up, and another one joins in its place', async () => {
  const folder = mkdtempSync(joinPath(tmpdir(), 'hob-cluster-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clock = testClock();
  const seen: boolean[] = [];
  const member = await Member.open(new URL('../test/dying-thread.ts', import.meta.url), {
    given: { marks: joinPath(folder, 'mark') } as never,
    clock,
    see: ({ connected }) => seen.push(connected),
  });
  onTestFinished(() => member.close());
  for (let n = 1; n <= 2; n += 1) {
    await expect.poll(() => seen.filter((connected) => !connected).length).toBe(n);
    expect(member.view.member).toBe(true);
    clock.advance(1000);
  }
  await expect.poll(() => seen.at(-1)).toBe(true);
});
