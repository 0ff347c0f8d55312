/** A server that goes away: connections that are cut or swallowed, kills, restarts, a host that is late. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { type Cluster, openCluster } from '../../../test/postgres-cluster.ts';
import { closing, engineOf, linesAfter, type StoreEngine, unavailable } from '../../../test/store-suite.ts';
import { type Way, wayTo } from '../test/way.ts';
import { postgresStore } from './index.ts';

const test = requires('postgres');
let cluster: Cluster;
test.beforeAll(async () => {
  cluster = await openCluster();
});
test.afterAll(() => cluster.remove());

let schemas = 0;
async function scene(leaseMs = 10_000, on = cluster): Promise<{ engine: StoreEngine; way: Way; schema: string }> {
  const schema = `f${(schemas += 1)}`;
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
const stored = async (schema: string, on = cluster): Promise<number> => {
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
  const second = closing(engineOf(await postgresStore({ url: cluster.url, schema })));
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
  const second = closing(engineOf(await postgresStore({ url: cluster.url, schema })));
  expect(await later(second, 3)).toBe('done');
  await way.is('open');
  expect(await commit).toBe('unavailable');
  expect(await stored(schema)).toBe(3);
});
