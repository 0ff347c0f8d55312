/** A server that goes away: connections that are cut or swallowed, kills, restarts, a host that is late. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Write } from '@hob/vat/engine';
import postgres from 'postgres';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { openCluster, serverOfFile } from '../../../test/postgres-cluster.ts';
import { copyTables, putBack } from '../../../test/postgres-put-back.ts';
import { type Way, wayTo } from '../../../test/postgres-way.ts';
import { closing, engineOf, linesAfter, type StoreEngine, unavailable } from '../../../test/store-suite.ts';
import { connect } from './drivers/connection.ts';
import { postgresStore } from './index.ts';
import { openLive } from './live-store.ts';
import { STEPS } from './schema.ts';
import { checkServer } from './server.ts';

const test = requires('postgres');
const server = serverOfFile(test);

async function scene(
  leaseMs = 10_000,
  on = server.cluster,
): Promise<{ engine: StoreEngine; way: Way; schema: string }> {
  const schema = server.nextSchema();
  const way = await wayTo(on);
  onTestFinished(() => way.close());
  return { engine: closing(engineOf(await postgresStore({ url: way.url, schema, leaseMs }))), way, schema };
}
const later = (engine: StoreEngine, count = 1): Promise<string> =>
  new Promise((then) =>
    engine.commitLater(engine.epoch, { lines: linesAfter(engine.head(), count) }, (error) =>
      then(error === undefined ? 'done' : (error as { code: string }).code),
    ),
  );
/** Resolves with the value of a promise, or with the code of its error. */
const stored = async (schema: string, on = server.cluster): Promise<number> => {
  const [row] = await on.sql.unsafe(`SELECT count(*)::int AS lines FROM ${schema}.line`);
  return row?.['lines'] as number;
};

test('a connection that ends between two commits, or during one, is made anew, and no commit is lost or done twice', async () => {
  const { engine, way, schema } = await scene();
  for (let round = 1; round <= 20; round += 1) {
    const commit = later(engine);
    if (round % 2 === 0) await wait(Math.random() * 3);
    await way.is('cut');
    await way.is('open');
    expect(await commit).toBe('done');
    expect(await stored(schema)).toBe(round);
  }
});

test('an answer that was swallowed is asked for again: the commit was done, and is not done twice', async () => {
  const { engine, way, schema } = await scene();
  expect(await later(engine)).toBe('done');
  // The statement arrives, and nothing comes back.
  await way.is('mute');
  const commit = later(engine);
  while ((await stored(schema)) < 2) await wait(10);
  await way.is('open');
  expect(await commit).toBe('done');
  expect(await stored(schema)).toBe(2);
  expect(await later(engine)).toBe('done');
});

test('a host that is cut off lets nothing through after two seconds, says so, and goes on when the server is back', async () => {
  const { engine, way, schema } = await scene();
  expect(await later(engine)).toBe('done');
  await way.is('cut');
  const [one, two] = [later(engine), later(engine)];
  expect(await Promise.all([one, two])).toEqual(['unavailable', 'unavailable']);
  expect(engine.failed).toBe(true);
  expect(() => engine.commit(engine.epoch, { lines: linesAfter(engine.head(), 1) })).toThrow(unavailable);
  await way.is('open');
  engine.reopen();
  expect(engine.head().seq).toBe(1);
  expect(await later(engine)).toBe('done');
  expect(await stored(schema)).toBe(2);
});

test('the server ends our session, or is started again: the host goes on', async () => {
  const own = await openCluster();
  onTestFinished(() => own.remove());
  const { engine, schema } = await scene(10_000, own);
  expect(await later(engine)).toBe('done');
  await own.sql.unsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hob'");
  expect(await later(engine)).toBe('done');
  await own.stop('immediate');
  await own.start();
  if ((await later(engine)) === 'unavailable') engine.reopen(); // the server was away for longer than two seconds
  expect(await later(engine)).toBe('done');
  expect(await stored(schema, own)).toBe(engine.head().seq);
});

test('a standby is refused, also when it takes the place of the server of an open store', async () => {
  const own = await openCluster();
  onTestFinished(() => own.remove());
  const { engine } = await scene(10_000, own);
  expect(await later(engine)).toBe('done');
  await own.becomeStandby();
  expect(await later(engine)).toBe('unavailable');
  expect(() => engine.reopen()).toThrow(expect.objectContaining({ message: expect.stringContaining('is a standby') }));
});

test('a host whose lease has run out is taken over, and writes nothing any more', async () => {
  const { engine, way, schema } = await scene(1000);
  expect(await later(engine)).toBe('done');
  // It cannot renew its lease, and its session lives on at the server.
  await way.is('swallows');
  const second = closing(engineOf(await postgresStore({ url: server.cluster.url, schema })));
  expect(second.epoch).toBe(engine.epoch + 1);
  expect(await later(second)).toBe('done');
  await way.is('open');
  expect(await later(engine)).toBe('unavailable');
  expect(() => engine.reopen()).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(await stored(schema)).toBe(2);
  expect(await later(second)).toBe('done');
});

test('a commit that a host sent before it was taken over, and that arrives after, changes nothing', async () => {
  const { engine, way, schema } = await scene(1000);
  await way.is('holds');
  const commit = later(engine);
  const second = closing(engineOf(await postgresStore({ url: server.cluster.url, schema })));
  expect(await later(second, 3)).toBe('done');
  await way.is('open');
  expect(await commit).toBe('unavailable');
  expect(await stored(schema)).toBe(3);
});

const cells = (engine: StoreEngine, key: string): Promise<string> =>
  new Promise((then) =>
    engine.commitLater(engine.epoch, { lines: [], cells: new Map([[key, 'x']]) }, (error) =>
      then(error === undefined ? 'done' : (error as { code: string }).code),
    ),
  );

test('a host whose database was put back writes nothing more, also when another host has reached the same epoch', async () => {
  const { engine, schema } = await scene();
  await copyTables(server.cluster.sql, schema);
  for (const key of ['a/1', 'a/2', 'a/3']) expect(await cells(engine, key)).toBe('done');
  await putBack(server.cluster.sql, schema);
  // As when the copy was made before this host opened the store, on another server.
  await server.cluster.sql.unsafe(`UPDATE ${schema}.owner SET until = clock_timestamp(), opening = 'other'; UPDATE ${schema}.store SET epoch = epoch - 1, opening = 'other'`); // biome-ignore format: one line
  const second = closing(engineOf(await postgresStore({ url: server.cluster.url, schema })));
  expect(second.epoch).toBe(engine.epoch);
  // Its opening and two commits: the count is that of the first host.
  for (const key of ['b/1', 'b/2']) expect(await cells(second, key)).toBe('done');
  expect(await cells(engine, 'a/4')).toBe('unavailable');
  expect(() => engine.reopen()).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(await cells(second, 'b/3')).toBe('done');
  expect(second.scan('b/').length).toBe(3);
  expect(second.scan('a/')).toEqual([]);
});

test('a host whose database was put back fails, and the next host finds that the store was put back', async () => {
  const { engine, way, schema } = await scene();
  await copyTables(server.cluster.sql, schema);
  expect(await cells(engine, 'a/1')).toBe('done');
  await putBack(server.cluster.sql, schema);
  expect(await cells(engine, 'a/2')).toBe('unavailable');
  expect(() => engine.reopen()).toThrow(expect.objectContaining({ message: expect.stringContaining('was put back') }));
  expect(await cells(engine, 'a/2')).toBe('unavailable');
  await engine.close();
  const next = closing(engineOf(await postgresStore({ url: way.url, schema })));
  expect(next.era).toMatchObject({ now: 1, trusted: 0 });
  expect(await cells(next, 'a/2')).toBe('done');
});

test('a commit whose wait for a standby was ended is not reported before a standby has it', async () => {
  const own = await openCluster();
  onTestFinished(() => own.remove());
  const { engine } = await scene(10_000, own);
  expect(await cells(engine, 'a/1')).toBe('done');
  await own.sql.unsafe("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await own.sql.unsafe('SELECT pg_reload_conf()');
  // Wait until the setting holds: then a commit of another session waits.
  const other = postgres({ host: own.socket, user: 'hob', database: 'postgres', max: 1, max_lifetime: null, fetch_types: false, onnotice: () => {} }); // biome-ignore format: one line
  const waits = (): Promise<boolean> =>
    Promise.race([other.unsafe('CREATE TABLE IF NOT EXISTS t (); DROP TABLE t').then(() => false), wait(300, true)]);
  while (!(await waits()));
  await own.sql.unsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  await other.end({ timeout: 0 });
  const ends = [`pg_cancel_backend(pid)`, `pg_terminate_backend(pid)`];
  const waiting = cells(engine, 'a/2');
  const over = waiting.then(() => true);
  // End the wait again and again.
  for (let n = 0; !(await Promise.race([over, wait(100, false)])); n += 1)
    await own.sql.unsafe(`SELECT ${ends[n % 2]} FROM pg_stat_activity WHERE application_name = 'hob' AND wait_event = 'SyncRep'`); // biome-ignore format: one line
  expect(await waiting).toBe('unavailable');
});

test('a host relies on its store for less than another host waits, and no longer than its lease', async () => {
  const schema = server.nextSchema();
  let time = 0;
  const place = { host: server.cluster.socket, port: server.cluster.port, database: 'postgres', user: 'hob' };
  const store = await openLive(
    {
      async connect() {
        const connection = await connect(place);
        await checkServer(connection, schema);
        return connection;
      },
      sentinel: () => undefined,
      now: () => time,
      sleep: async () => {},
      // The lease is renewed by the test alone.
      every: () => () => {},
      onFailure: () => {},
    },
    { schema, leaseMs: 10_000, look: false, steps: STEPS },
  );
  const follow = (): Write => ({
    follows: done,
    epoch: 1,
    lines: [],
    head,
    cells: new Map([['a/1', 'x']]),
    ends: false,
  });
  const { head } = store.opened;
  let done = 0;
  time = 1000;
  expect(await store.confirm()).toMatchObject({ status: 'done', heldMs: 400 });
  time = 10_900;
  expect(await store.write(follow())).toMatchObject({ status: 'done', heldMs: 100 });
  done = 1;
  // As after a pause of this process. Its lease is over, and it is the first to come back.
  time = 15_000;
  expect(await store.write(follow())).toMatchObject({ status: 'done', heldMs: 0 });
  done = 2;
  expect(await store.confirm()).toMatchObject({ status: 'done', heldMs: 400 });
  // After a check that failed nothing is written before the store is opened again.
  await server.cluster.sql.unsafe(`ALTER TABLE ${schema}.owner RENAME TO away`);
  expect(await store.confirm()).toMatchObject({ status: 'failed', heldMs: 0 });
  await server.cluster.sql.unsafe(`ALTER TABLE ${schema}.away RENAME TO owner`);
  expect(await store.write(follow())).toMatchObject({ status: 'failed' });
  await store.close();
});

/** Starts a host that waits for a store. `looks` moves its clock, and lets it look again. */
async function waiter(schema: string): Promise<{ waiting: Promise<string>; looks(): Promise<void> }> {
  let time = 0;
  let goOn = (): void => {};
  let slept = Promise.withResolvers<void>();
  const place = { host: server.cluster.socket, port: server.cluster.port, database: 'postgres', user: 'hob' };
  const waiting = openLive(
    {
      async connect() {
        const connection = await connect(place);
        await checkServer(connection, schema);
        return connection;
      },
      sentinel: () => undefined,
      now: () => time,
      sleep: (ms) =>
        new Promise((then) => {
          goOn = () => {
            time += ms;
            then();
          };
          slept.resolve();
        }),
      every: () => () => {},
      onFailure: () => {},
    },
    { schema, leaseMs: 10_000, look: false, steps: STEPS },
  ).then(
    async (store) => {
      await store.close();
      return 'opened';
    },
    ({ code }: { code: string }) => code,
  );
  const over = waiting.then(() => 'over');
  const looks = async (): Promise<void> => {
    slept = Promise.withResolvers();
    goOn();
    await Promise.race([slept.promise, over]);
  };
  await slept.promise;
  return { waiting, looks };
}

/** Ends the sessions of the hosts that have a store. */
async function endSessions(): Promise<void> {
  const holders = "FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND application_name = 'hob'"; // biome-ignore format: one line
  await server.cluster.sql.unsafe(`SELECT pg_terminate_backend(pid) ${holders}`);
  while ((await server.cluster.sql.unsafe(`SELECT 1 ${holders}`)).length > 0);
}

test('a host that was cut off for a moment is not pushed aside by one that waits', async () => {
  const { engine, schema } = await scene();
  expect(await later(engine)).toBe('done');
  const { waiting, looks } = await waiter(schema);
  await endSessions();
  for (let n = 0; n < 4; n += 1) await looks();
  expect(await later(engine)).toBe('done');
  await looks();
  expect(await waiting).toBe('unavailable');
  expect(await later(engine)).toBe('done');
});

test('attack: a host that was back for a moment, between two looks of one that waits, is not pushed aside', async () => {
  const { engine, schema } = await scene();
  expect(await later(engine)).toBe('done');
  const { waiting, looks } = await waiter(schema);
  await endSessions();
  for (let n = 0; n < 10; n += 1) await looks();
  // The host has shown that it has its store, so it may answer reads for 0.4 s. The one that waits has seen the store
  // free for half a second at its next look.
  expect(await later(engine)).toBe('done');
  await endSessions();
  await looks();
  expect(await waiting).toBe('unavailable');
  expect(await later(engine)).toBe('done');
});

test('a program that looks at a store in use sees one moment of it, whole and not put back', async () => {
  const sentinel = mkdtempSync(join(tmpdir(), 'hob-pg-look-'));
  onTestFinished(() => rmSync(sentinel, { recursive: true, force: true }));
  const schema = server.nextSchema();
  const engine = closing(engineOf(await postgresStore({ url: server.cluster.url, schema, sentinel })));
  let isOver = false;
  const busy = (async () => {
    while (!isOver) expect(await later(engine)).toBe('done');
  })();
  for (let n = 0; n < 10; n += 1) {
    const look = closing(engineOf(await postgresStore({ url: server.cluster.url, schema, sentinel, look: true })));
    await later(engine);
    expect(look.doubt).toBe(undefined);
    expect(look.era).toEqual({ now: 0, trusted: 0 });
    expect(look.lines(1, 1_000_000).at(-1)?.seq ?? 0).toBe(look.head().seq);
  }
  isOver = true;
  await busy;
});

test('a program that closes each connection is not flooded with new ones, and one that is no server counts as no answer', async () => {
  let count = 0;
  const closes = createServer((socket) => {
    count += 1;
    socket.destroy();
  });
  const talks = createServer((socket) => {
    socket.on('error', () => {});
    // It asks for a password by SASL, and goes on with nonsense.
    const says = ['520000000f0000000a4e4f5045000000', '52000000090000000b78'];
    socket.on('data', () => socket.write(Buffer.from(says.shift() ?? '', 'hex')));
  });
  for (const server of [closes, talks]) {
    await new Promise<void>((then) => server.listen(0, '127.0.0.1', then));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    await expect(postgresStore({ url: `postgres://hob@127.0.0.1:${port}/x` })).rejects.toThrow(expect.objectContaining({ message: expect.stringMatching(/does not answer/) })); // biome-ignore format: one line
  }
  expect(count).toBeLessThan(5);
});

test('a person who trusts a store that another host has taken over is told so', async () => {
  const { engine, way, schema } = await scene(1000);
  await way.is('swallows');
  closing(engineOf(await postgresStore({ url: server.cluster.url, schema })));
  await way.is('open');
  expect(() => engine.trust()).toThrow(unavailable);
});
