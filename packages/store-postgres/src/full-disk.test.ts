/** A server whose disk is full: its tables lie on a small disk, which another table fills to the last page. */
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { type Cluster, openCluster } from '../../../test/postgres-cluster.ts';
import { closing, engineOf, linesAfter, type StoreEngine } from '../../../test/store-suite.ts';
import { postgresStore } from './index.ts';

const test = requires('postgres', 'unshare');

async function commit(engine: StoreEngine, urgency?: 'ends'): Promise<string> {
  const lines = linesAfter(engine.head(), 20, 'x'.repeat(1000)).map((line) => ({ ...line, urgency }));
  return new Promise((then) =>
    engine.commitLater(engine.epoch, { lines }, (error) =>
      then(error === undefined ? 'done' : (error as { code: string }).code),
    ),
  );
}

/** Fills the disk until it has no room for another page. */
async function fill({ sql }: Cluster): Promise<void> {
  await sql.unsafe('CREATE TABLE filler (bytes text); ALTER TABLE filler ALTER COLUMN bytes SET STORAGE EXTERNAL');
  for (const size of [1 << 20, 1 << 13, 1])
    for (;;) {
      const code = await sql`INSERT INTO filler VALUES (repeat('x', ${size}))`.then(
        () => 'done',
        (error: { code?: string }) => String(error.code),
      );
      if (code === 'done') continue;
      expect(code).toBe('53100');
      break;
    }
}

test('a store on a disk that is really full takes only commits that end authority, and takes all again when there is room', async () => {
  const cluster = await openCluster({ diskMiB: 96 });
  onTestFinished(() => cluster.remove());
  const engine = closing(engineOf(await postgresStore({ url: cluster.url })));
  const pieces = async (): Promise<number> => {
    const [found] = await cluster.sql`SELECT to_regclass('hob.reserve') IS NOT NULL AS there`;
    if (found?.['there'] !== true) return 0;
    return (await cluster.sql`SELECT count(*)::int AS pieces FROM hob.reserve`)[0]?.['pieces'] as number;
  };
  await expect.poll(pieces).toBe(4);
  expect(await commit(engine)).toBe('done');
  await fill(cluster);
  // The pages that the table already has may have room for a few commits.
  let said = 'done';
  for (let tries = 0; said === 'done' && tries < 100; tries += 1) said = await commit(engine);
  expect([said, engine.full, engine.failed]).toEqual(['unavailable', true, false]);
  const { seq } = engine.head();
  for (let times = 0; times < 5; times += 1) expect(await commit(engine, 'ends')).toBe('done');
  expect(await commit(engine)).toBe('unavailable');
  expect([engine.head().seq, engine.lines(1, 9999).length, await pieces()]).toEqual([seq + 100, seq + 100, 0]);
  await cluster.sql`DROP TABLE filler`;
  await new Promise<void>((then) => engine.makeRoom(then));
  expect([engine.full, await pieces()]).toEqual([false, 4]);
  expect(await commit(engine)).toBe('done');
});
