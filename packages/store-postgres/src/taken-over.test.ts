/** Vats whose store is taken over, put back, closed or cut off: what they still say. */
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Clock,
  type Definition,
  define,
  E,
  type Far,
  openVats,
  type Store,
  type Table,
  table,
  type Vats,
} from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { serverOfFile } from '../../../test/postgres-cluster.ts';
import { copyTables, putBack } from '../../../test/postgres-put-back.ts';
import { wayTo } from '../../../test/postgres-way.ts';
import { closing, engineOf } from '../../../test/store-suite.ts';
import { postgresStore } from './index.ts';
import { lockClass } from './schema.ts';

const test = requires('postgres');
const server = serverOfFile(test);

interface Pages {
  add(): number;
  count(): readonly [count: number, pages: number];
}
const Pages: Definition<Pages, [count: number, pages: Table<boolean>]> = define('Pages', (bcom, count, pages) => ({
  add() {
    pages.set(String(count + 1), true);
    return bcom(Pages(count + 1, pages), count + 1) as never;
  },
  count: () => [count, [...pages.entries()].length],
}));

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((error: { readonly code?: string }) => error.code ?? error);
const commitsOf = async (schema: string): Promise<number> => {
  const [row] = await server.cluster.sql.unsafe(`SELECT commits::int FROM ${schema}.store`);
  return row?.['commits'] as number;
};

interface Life {
  readonly vats: Vats;
  readonly store: Store;
  readonly pages: Far<Pages>;
  close(): Promise<void>;
}
interface Opening {
  /** The server, or a way to it. */
  readonly url?: string;
  readonly leaseMs?: number;
  readonly clock?: Clock;
}
/** Vats on the store of a schema, with an actor in the vat `one`. */
async function open(
  schema: string,
  { url = server.cluster.url, leaseMs = 10_000, clock }: Opening = {},
): Promise<Life> {
  const store = await postgresStore({ url, schema, leaseMs });
  const vats = await openVats({ store, definitions: [Pages], ...(clock && { clock }) });
  const pages = await pagesIn(vats, 'one');
  return { vats, store, pages, close: () => vats.close().then(() => store.close()) };
}
const pagesIn = (vats: Vats, vat: string): Promise<Far<Pages>> =>
  vats.vat(vat).root<Pages>('pages', () => Pages(0, table()));
/** Takes the store in place of the host that has it. */
const takeOver = async (schema: string): Promise<unknown> =>
  closing(engineOf(await postgresStore({ url: server.cluster.url, schema })));
/** Ends the session that has the store. */
const endSession = (schema: string): Promise<unknown> =>
  server.cluster.sql.unsafe(`SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND application_name = 'hob' AND classid::bigint = (SELECT ${lockClass(schema)}::bigint & 4294967295)`); // biome-ignore format: one line

test('vats whose database was put back halt, whichever actor writes first, and the next host finds only whole turns', async () => {
  const schema = server.nextSchema();
  const first = await open(schema);
  const other = await pagesIn(first.vats, 'other');
  await E(first.pages).add();
  await first.vats.settled();
  await copyTables(server.cluster.sql, schema);
  for (let n = 0; n < 3; n += 1) await E(first.pages).add();
  await first.vats.settled();
  await putBack(server.cluster.sql, schema);
  // The turns of this actor are all there. Those of the other one are not, and it has them in its memory.
  await expect(E(other).add()).rejects.toMatchObject({
    code: expect.stringMatching(/unknown-outcome|vat-halted/),
  });
  await expect(E(first.pages).add()).rejects.toMatchObject({ code: 'vat-halted' });
  await first.close();
  const second = await open(schema);
  expect(second.vats.restored).toBe(true);
  expect(await E(second.pages).count()).toEqual([1, 1]);
  await E(second.pages).add();
  expect(await E(second.pages).count()).toEqual([2, 2]);
  await second.close();
});

test('vats whose store was taken over while they did nothing halt at the next renewal of the lease, and their program is told', async () => {
  const [schema, way] = [server.nextSchema(), await wayTo(server.cluster)];
  onTestFinished(() => way.close());
  const { vats, pages, close } = await open(schema, { url: way.url, leaseMs: 1000 });
  await E(pages).add();
  await vats.settled();
  const told = new Promise<void>((resolve) => vats.onLoss(() => resolve()));
  await way.is('swallows');
  await takeOver(schema);
  await way.is('open');
  await told;
  await expect(E(pages).count()).rejects.toMatchObject({ code: 'vat-halted' });
  await close();
});

test('a host that was replaced answers no read: a read waits until the server says which host has the store', async () => {
  const [schema, way] = [server.nextSchema(), await wayTo(server.cluster)];
  onTestFinished(() => way.close());
  const first = await open(schema, { url: way.url });
  expect(await E(first.pages).add()).toBe(1);
  expect(await E(first.pages).count()).toEqual([1, 1]);
  // Its session ends, it does not hear of that, and the other host begins half a second later.
  await way.is('swallows');
  await endSession(schema);
  const second = await open(schema);
  const sent = Promise.withResolvers<unknown>();
  const failed = first.vats.vat('one').turn(() => {
    sent.resolve(codeOf(E(first.pages).count()));
    // The error of this turn undoes it, and breaks the promise of the call that it has sent.
    throw new Error(`it read ${(first.pages as unknown as Pages).count()}`);
  });
  const reads = [codeOf(failed), sent.promise, codeOf(E(first.pages).count())];
  expect(await E(second.pages).add()).toBe(2);
  await way.is('open');
  expect(await Promise.all(reads)).toEqual(['unknown-outcome', 'unknown-outcome', 'unknown-outcome']);
  await expect(E(first.pages).count()).rejects.toMatchObject({ code: 'vat-halted' });
  expect(await E(second.pages).count()).toEqual([2, 2]);
  await first.close();
  await second.close();
});

test('attack: if the answer to a commit comes after another host has taken the store, neither the commit nor a read that came meanwhile is answered', async () => {
  const [schema, way] = [server.nextSchema(), await wayTo(server.cluster)];
  onTestFinished(() => way.close());
  const first = await open(schema, { url: way.url });
  let [added, isDone]: [Promise<unknown> | undefined, boolean] = [undefined, false];
  // If a renewal of the lease is under way, the commit waits for its answer, which is held back. Then try again.
  while (!isDone) {
    await way.is('open');
    await added;
    await first.vats.sweep();
    const before = await commitsOf(schema);
    await way.is('late');
    added = codeOf(E(first.pages).add());
    for (let n = 0; n < 100 && !isDone; n += 1) {
      await wait(5);
      isDone = (await commitsOf(schema)) > before;
    }
  }
  await endSession(schema);
  const second = await open(schema);
  await E(second.pages).add();
  const read = codeOf(E(first.pages).count());
  await way.is('open');
  const outcomes = await Promise.all([added, read]);
  await first.close();
  await second.close();
  expect(outcomes).toEqual(['unknown-outcome', 'unknown-outcome']);
});

test('attack: vats whose store was closed under them answer no read any more, because the next host begins at once', async () => {
  // The clock of these vats stands still. So their last commit always seems to be recent.
  const [schema, clock] = [server.nextSchema(), testClock()];
  const { vats, store, pages } = await open(schema, { clock });
  await E(pages).add();
  await vats.settled();
  await store.close();
  await takeOver(schema);
  const read = await codeOf(E(pages).count());
  await vats.close();
  expect(read).toBe('unknown-outcome');
});

test('a host that did nothing for a while reads at once, and one that is cut off lets no read through after two seconds', async () => {
  const [schema, way] = [server.nextSchema(), await wayTo(server.cluster)];
  onTestFinished(() => way.close());
  const { vats, pages, close } = await open(schema, { url: way.url });
  expect(await E(pages).add()).toBe(1);
  await vats.settled();
  const before = await commitsOf(schema);
  await wait(1000);
  expect(await E(pages).count()).toEqual([1, 1]);
  // A read writes nothing.
  expect(await commitsOf(schema)).toBe(before);
  await way.is('cut');
  await wait(500);
  await expect(E(pages).count()).rejects.toMatchObject({ code: 'unknown-outcome' });
  await way.is('open');
  await close();
});

test('vats learn of a take-over also if the first commit that meets it is one that nobody waits for, such as that of their time', async () => {
  const [schema, clock] = [server.nextSchema(), testClock()];
  const { vats, store, pages, close } = await open(schema, { leaseMs: 6000, clock });
  await E(pages).add();
  await vats.settled();
  const told = new Promise<void>((resolve) => vats.onLoss(() => resolve()));
  // As the opening by another host does.
  await server.cluster.sql.unsafe(
    `UPDATE ${schema}.store SET epoch = epoch + 1, opening = 'other'; UPDATE ${schema}.owner SET opening = 'other'`,
  );
  clock.advance(5000);
  await expect.poll(() => engineOf(store).failed).toBe(true);
  await told;
  await expect(E(pages).count()).rejects.toMatchObject({ code: 'vat-halted' });
  await close();
});
