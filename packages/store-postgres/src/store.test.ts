/** The contract of every engine, and what a database server adds. Each test has a schema of its own on one server. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Definition, define, E, type Far, openVats, verifyLedger } from '@hob/vat';
import { retainLedger } from '@hob/vat/store';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { serverOfFile } from '../../../test/postgres-cluster.ts';
import { closing, engineOf, linesAfter, storeSuite, unavailable } from '../../../test/store-suite.ts';
import { type PostgresStoreOptions, postgresStore } from './index.ts';

const test = requires('postgres');
const server = serverOfFile(test);

const open = (schema: string, more: Partial<PostgresStoreOptions> = {}) =>
  postgresStore({ url: server.cluster.url, schema, ...more });
const engine = async (schema: string, more: Partial<PostgresStoreOptions> = {}) =>
  closing(engineOf(await open(schema, more)));

/** The server says that its disk is full at the 100th line, until the reserve is given back. */
async function fullAt100(schema: string): Promise<void> {
  await server.cluster.sql.unsafe(`
    CREATE FUNCTION ${schema}.fill() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER fill BEFORE INSERT ON ${schema}.line FOR EACH ROW WHEN (NEW.seq > 100) EXECUTE FUNCTION ${schema}.fill()`);
}

storeSuite(
  'postgres',
  {
    open: async () => engineOf(await open(server.nextSchema())),
    async small() {
      const schema = server.nextSchema();
      const made = engineOf(await open(schema));
      await fullAt100(schema);
      return made;
    },
    reserve: true,
  },
  test,
);

const Counter: Definition<Counter, [n: number]> = define('Counter', (bcom, n) => ({
  add: () => bcom(Counter(n + 1), n + 1) as never,
}));
interface Counter {
  add(): number;
}

/** One life of a host with a counter. */
async function life<R>(given: PostgresStoreOptions, body: (counter: Far<Counter>) => Promise<R>): Promise<R> {
  const store = await postgresStore(given);
  const vats = await openVats({ store, definitions: [Counter] });
  try {
    return await body((await vats.vat('a').root('counter', () => Counter(0))) as Far<Counter>);
  } finally {
    await vats.close();
    await store.close();
  }
}

test('on a full disk what ends authority is committed in the room that is kept for it, and all goes on when there is room again', async () => {
  const schema = server.nextSchema();
  const one = await engine(schema);
  const pieces = async (): Promise<number> => {
    const [found] = await server.cluster.sql.unsafe(`SELECT to_regclass('${schema}.reserve') IS NOT NULL AS there`);
    if (found?.['there'] !== true) return 0;
    return (await server.cluster.sql.unsafe(`SELECT count(*)::int AS pieces FROM ${schema}.reserve`))[0]?.[
      'pieces'
    ] as number;
  };
  await expect.poll(pieces).toBe(4);
  await server.cluster.sql.unsafe(`
    CREATE FUNCTION ${schema}.fill() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF to_regclass('${schema}.reserve') IS NOT NULL THEN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER fill BEFORE INSERT ON ${schema}.line FOR EACH ROW EXECUTE FUNCTION ${schema}.fill()`);
  const commit = (urgency?: 'ends'): void =>
    one.commit(one.epoch, { lines: linesAfter(one.head(), 1).map((line) => ({ ...line, urgency })) });
  commit('ends');
  expect([one.full, await pieces()]).toEqual([true, 0]);
  expect(() => commit()).toThrow(unavailable);
  commit('ends');
  await server.cluster.sql.unsafe(`DROP TRIGGER fill ON ${schema}.line`);
  await new Promise<void>((then) => one.makeRoom(then));
  expect(await pieces()).toBe(4);
  commit();
  expect(one.lines(1, 9).length).toBe(3);
});

test('on a full disk the lease is renewed in the reserved room: reads go on, and a revocation is still committed', async () => {
  const schema = server.nextSchema();
  const one = await engine(schema);
  const room = `SELECT to_regclass('${schema}.reserve') IS NOT NULL AS kept`;
  const kept = async (): Promise<unknown> => (await server.cluster.sql.unsafe(room))[0]?.['kept'];
  await expect.poll(kept).toBe(true);
  await server.cluster.sql.unsafe(`
    CREATE FUNCTION ${schema}.fill() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF to_regclass('${schema}.reserve') IS NOT NULL THEN RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER fill BEFORE UPDATE ON ${schema}.owner FOR EACH ROW EXECUTE FUNCTION ${schema}.fill()`);
  const check = (): Promise<unknown> => new Promise((then) => one.confirmLater(then));
  expect(await check()).toBe(undefined);
  expect([one.full, one.failed, await kept()]).toEqual([true, false, false]);
  expect(await check()).toBe(undefined);
  one.commit(one.epoch, { lines: linesAfter(one.head(), 1).map((line) => ({ ...line, urgency: 'ends' })) });
  expect(() => one.commit(one.epoch, { lines: linesAfter(one.head(), 1) })).toThrow(unavailable);
});

test('vats on it go on after a restart, and the ledger verifies', async () => {
  const given = { url: server.cluster.url, schema: server.nextSchema() };
  for (const expected of [3, 6, 9])
    await life(given, async (counter) => {
      await Promise.all([E(counter).add(), E(counter).add()]);
      expect(await E(counter).add()).toBe(expected);
    });
  const store = await postgresStore({ ...given, look: true });
  expect(await verifyLedger(store)).toMatchObject({ ok: true });
  await store.close();
});

test('any text and any bytes come back as they were: zeros, quotes, backslashes, letters of four bytes', async () => {
  const one = await engine(server.nextSchema());
  const texts = ['', '\0', '"\\{},', '\\x00', 'ä€😀', "'; DROP TABLE store; --", 'NULL'];
  const cells = new Map(texts.map((text, n) => [`a/${n}${text}`, text]));
  const salt = new Uint8Array(32).fill(0);
  const lines = linesAfter(one.head(), 2).map((line) => ({
    ...line,
    args: { salt, bytes: Buffer.from([0, 255, 92]) },
  }));
  one.commit(one.epoch, { lines, cells });
  expect(new Map(one.scan('a/'))).toEqual(cells);
  // A limit below 0 is none, as in SQLite.
  expect([one.lines(1, -1).length, one.page('a/', 'a/', -5).length]).toEqual([2, texts.length]);
  expect(one.args(1, 9).map(({ seq, bytes }) => [seq, [...bytes]])).toEqual([[1, [0, 255, 92]], [2, [0, 255, 92]]]); // biome-ignore format: one line
  one.commit(one.epoch, { lines: [], cells: new Map([...cells.keys()].map((key) => [key, undefined])) });
  expect(one.scan('a/')).toEqual([]);
});

test('a commit takes keys with half of a surrogate pair: two keys with the same bytes are one cell, with the last value', async () => {
  const one = await engine(server.nextSchema());
  const cells = [
    ['a/\ud800', 'first'],
    ['a/\udfff', 'second'],
  ] as const;
  one.commit(one.epoch, { lines: [], cells: new Map(cells) });
  expect(one.scan('a/')).toEqual([['a/\ufffd', 'second']]);
  one.commit(one.epoch, { lines: [], cells: new Map([['a/\ud800', undefined]]) });
  expect(one.scan('a/')).toEqual([]);
});

test('arguments that are forgotten and lines that are dropped go with the commit that says so, also within one', async () => {
  const one = await engine(server.nextSchema());
  const args = { salt: new Uint8Array(32), bytes: new Uint8Array([1]) };
  const [first, second, third, fourth] = linesAfter(one.head(), 4);
  one.commit(one.epoch, { lines: [first!, { ...second!, args }, { ...third!, args, forgets: 2 }] });
  expect(one.args(1, 9).map(({ seq }) => seq)).toEqual([3]);
  one.commit(one.epoch, { lines: [{ ...fourth!, drops: 3 }] });
  expect(one.args(1, 9)).toEqual([]);
  expect(one.lines(1, 9).map(({ seq }) => seq)).toEqual([1, 4]);
});

test('a server that may forget a commit is refused, and the error says why: fsync off, synchronous_commit off', async () => {
  const refused = async (setting: string): Promise<string> => {
    await server.cluster.sql.unsafe(`ALTER SYSTEM SET ${setting}`);
    await server.cluster.sql.unsafe('SELECT pg_reload_conf()');
    const name = setting.split(' ')[0] as string;
    try {
      for (;;) {
        const [row] = await server.cluster.sql.unsafe(`SELECT setting FROM pg_settings WHERE name = '${name}'`);
        if (row?.['setting'] === 'off') break;
      }
      return await open(server.nextSchema()).then(
        () => 'opened',
        (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
      );
    } finally {
      await server.cluster.sql.unsafe(`ALTER SYSTEM RESET ${name}`);
      await server.cluster.sql.unsafe('SELECT pg_reload_conf()');
    }
  };
  expect(await refused('fsync = off')).toMatch(/^invalid: .*fsync off.*turn it on$/);
  expect(await refused('synchronous_commit = off')).toMatch(/^invalid: .*synchronous_commit off.*turn it on$/);
});

test('if the server turns synchronous_commit off later, an open store keeps it on', async () => {
  const schema = server.nextSchema();
  const one = await engine(schema);
  await server.cluster.sql.unsafe('ALTER SYSTEM SET synchronous_commit = off');
  await server.cluster.sql.unsafe('SELECT pg_reload_conf()');
  try {
    one.commit(one.epoch, { lines: linesAfter(one.head(), 1) });
    const [row] = await server.cluster.sql.unsafe("SELECT setting FROM pg_settings WHERE name = 'synchronous_commit'");
    expect(row?.['setting']).toBe('off');
    // A trigger reads the setting of that session.
    await server.cluster.sql.unsafe(`
      CREATE FUNCTION ${schema}.said() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF current_setting('synchronous_commit') <> 'on' THEN RAISE EXCEPTION 'off'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER said BEFORE INSERT ON ${schema}.line FOR EACH ROW EXECUTE FUNCTION ${schema}.said()`);
    one.commit(one.epoch, { lines: linesAfter(one.head(), 1) });
  } finally {
    await server.cluster.sql.unsafe('ALTER SYSTEM RESET synchronous_commit');
    await server.cluster.sql.unsafe('SELECT pg_reload_conf()');
  }
});

test('no other host opens a store that is in use, and a program that only looks disturbs nobody', async () => {
  const schema = server.nextSchema();
  const one = await engine(schema, { leaseMs: 1500 });
  one.commit(one.epoch, { lines: linesAfter(one.head(), 1) });
  await expect(open(schema)).rejects.toThrow(expect.objectContaining({ code: 'unavailable', message: expect.stringContaining('another process uses this store') })); // biome-ignore format: one line
  const look = await engine(schema, { look: true });
  expect(look.lines(1, 9).length).toBe(1);
  expect(() => look.commit(look.epoch, { lines: linesAfter(look.head(), 1) })).toThrow(unavailable);
  one.commit(one.epoch, { lines: linesAfter(one.head(), 1) });
});

test('a wrong user, database, server, url or option gives an error with its reason, without the password', async () => {
  await server.cluster.sql`CREATE ROLE poor LOGIN`;
  const url = (text: string, more: object = {}): Promise<string> =>
    postgresStore({ url: text, ...more }).then(
      () => 'opened',
      ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
    );
  const said = [
    await url(`${server.cluster.url.replace('/postgres?', '/nothing?')}`, { password: 's3cret' }),
    await url('postgres://hob:s3cret@127.0.0.1:1/postgres'),
    await url('mysql://hob:s3cret@127.0.0.1/x'),
    await url('postgres:///postgres?host=/tmp&user=hob&password=s3cret'),
    await url('postgres://127.0.0.1/postgres'),
    await url(server.cluster.url, { schema: 'x"; DROP SCHEMA public; --' }),
    await url(server.cluster.url, { schema: 'pg_catalog' }),
    await url(server.cluster.url, { leaseMs: 10 }),
    await url(server.cluster.url, { lease: 10 }),
    await url('postgres://hob:100%@127.0.0.1/x'),
    await url(server.cluster.url.replace('user=hob', 'user=poor'), { schema: 'others' }),
  ];
  expect(said.join('\n')).not.toMatch(/s3cret|hob-pg|opened/);
  expect(said.map((each) => each.slice(0, 40))).toEqual([
    'invalid: there is no database of this na',
    'unavailable: the database server does no',
    'invalid: url is postgres://user@host:por',
    'invalid: the url may have the options ho',
    'invalid: url names a user, a host and a ',
    'invalid: schema is a name of small lette',
    'invalid: schema is a name of small lette',
    'invalid: leaseMs is a number of ms, from',
    expect.stringMatching(/^invalid: postgresStore has no option/),
    'invalid: a % in the url must stand befor',
    'invalid: this user of the database may n',
  ]);
});

test('nothing is taken from the environment', async () => {
  process.env['PGTARGETSESSIONATTRS'] = 'standby';
  process.env['PGPORT'] = '1';
  onTestFinished(() => {
    for (const name of ['PGTARGETSESSIONATTRS', 'PGPORT']) delete process.env[name];
  });
  const one = await engine(server.nextSchema());
  one.commit(one.epoch, { lines: linesAfter(one.head(), 1) });
});

test('opening notices a newer store, one that was emptied, and one that was put back', async () => {
  const sentinel = mkdtempSync(join(tmpdir(), 'hob-pg-sentinel-'));
  onTestFinished(() => rmSync(sentinel, { recursive: true, force: true }));
  const schema = server.nextSchema();
  const given = { url: server.cluster.url, schema, sentinel };
  await life(given, (counter) => E(counter).add());
  const copied = ['store', 'line', 'args', 'cell'];
  for (const table of copied)
    await server.cluster.sql.unsafe(`CREATE TABLE ${schema}.old_${table} AS TABLE ${schema}.${table}`);
  await life(given, (counter) => E(counter).add());
  const era = async (): Promise<unknown> => {
    const store = await postgresStore(given);
    const found = engineOf(store).era;
    await store.close();
    return found;
  };
  expect(await era()).toEqual({ now: 0, trusted: 0 });
  for (const table of copied)
    await server.cluster.sql.unsafe(
      `TRUNCATE ${schema}.${table}; INSERT INTO ${schema}.${table} TABLE ${schema}.old_${table}`,
    );
  expect(await era()).toMatchObject({ now: 1, trusted: 0, why: 'older' });
  await server.cluster.sql.unsafe(`UPDATE ${schema}.store SET version = 99`);
  await expect(postgresStore(given)).rejects.toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringContaining('newer version') })); // biome-ignore format: one line
  await server.cluster.sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
  await expect(postgresStore(given)).rejects.toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringContaining('was emptied') })); // biome-ignore format: one line
});

test('machines that take turns have a sentinel each: a new one begins its own, and each notices a store that was put back', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-pg-sentinel-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const schema = server.nextSchema();
  const on = (machine: string) => ({ url: server.cluster.url, schema, shared: true, sentinel: join(folder, machine) });
  const era = async (given: Parameters<typeof postgresStore>[0]): Promise<unknown> => {
    const store = await postgresStore(given);
    const found = engineOf(store).era;
    await store.close();
    return found;
  };
  const sound = { now: 0, trusted: 0 };
  await life(on('one'), (counter) => E(counter).add());
  const copied = ['store', 'line', 'args', 'cell'];
  for (const table of copied)
    await server.cluster.sql.unsafe(`CREATE TABLE ${schema}.old_${table} AS TABLE ${schema}.${table}`);
  for (const machine of ['two', 'one', 'two', 'three']) {
    await life(on(machine), (counter) => E(counter).add());
    expect(await era(on(machine)), machine).toEqual(sound);
  }
  // Machine two drops lines, the last one that machine three saw among them.
  await life(on('two'), (counter) => E(counter).add());
  const store = await postgresStore(on('two'));
  const vats = await openVats({ store });
  expect((await retainLedger(store, { before: Date.now() + 60_000, by: 'two' })).dropped).toBeGreaterThan(0);
  await vats.close();
  await store.close();
  expect(await era({ ...on('three'), look: true })).toEqual(sound);
  // Without it, a missing sentinel counts as a store that was put back.
  expect(await era({ ...on('four'), shared: false, look: true })).toMatchObject({ now: 1, why: 'lost' });
  for (const table of copied)
    await server.cluster.sql.unsafe(
      `TRUNCATE ${schema}.${table}; INSERT INTO ${schema}.${table} TABLE ${schema}.old_${table}`,
    );
  for (const machine of ['one', 'two', 'three'])
    expect(await era({ ...on(machine), look: true }), machine).toMatchObject({ now: 1, why: 'older' });
});

test('opening notices a ledger that was changed in the database', async () => {
  const schema = server.nextSchema();
  const given = { url: server.cluster.url, schema };
  await life(given, (counter) => E(counter).add());
  await server.cluster.sql.unsafe(`DELETE FROM ${schema}.line WHERE seq = (SELECT max(seq) FROM ${schema}.line)`);
  const store = await postgresStore({ ...given, look: true });
  expect(engineOf(store).doubt).toMatchObject({ refused: true });
  await store.close();
});
