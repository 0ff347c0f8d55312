/**
 * Three processes of a cluster and its server are killed, stopped, cut off and started at random, and tenants are
 * pinned, while each tenant uses its grant. After each fault every tenant is served again. No use is spent twice, and
 * some order of the calls explains all answers: `test/history`.
 *
 * `HOB_FAULTS=100` makes 100 faults. `HOB_SEED=any` draws other ones.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { postgresStore } from '@hob/store-postgres';
import { verifyLedger } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { openCluster as openServer } from '../../../test/postgres-cluster.ts';
import { databaseOn } from '../../../test/postgres-database.ts';
import { type Way, wayTo } from '../../../test/postgres-way.ts';
import { chanceSeed } from '../../../test/seed.ts';
import { Life, Said } from '../test/processes.ts';

const FAULTS = Number(process.env['HOB_FAULTS'] ?? 8);
const TENANTS = ['a', 'b', 'c', 'd'];
const NAMES = ['one', 'two', 'three'];
const LEASE_MS = 1000;
const SILENCE_MS = 60_000;

/** Returns a function that draws numbers below `below`. */
function numbers(): (below: number) => number {
  const drawn = fc.sample(fc.noBias(fc.nat(999_999)), { seed: chanceSeed, numRuns: 8 * FAULTS + 10 });
  return (below) => Math.floor(((drawn.pop() ?? 0) / 1_000_000) * below);
}

const test = requires('postgres');

test('over kills, stops, cuts, pins, joins and crashes of the server every tenant is served again, and no use is spent twice', async () => {
  const random = numbers();
  const server = await openServer();
  onTestFinished(() => server.remove());
  const { sql, url, name: database } = await databaseOn(server);
  const ways = await Promise.all(NAMES.map(() => wayTo(server)));
  onTestFinished(async () => void (await Promise.all(ways.map((way) => way.close()))));
  const said = new Said();
  const start = (n: number): Life => {
    const through = (ways[n] as Way).url.replace('/postgres?', `/${database}?`);
    return new Life(said, { url: through, name: NAMES[n] as string, leaseMs: LEASE_MS });
  };
  const lives = NAMES.map((_, n) => start(n));
  await Promise.all(lives.map((life) => life.joined));
  for (const tenant of TENANTS) await sql`INSERT INTO hob_cluster.tenant VALUES (${tenant}, NULL)`;
  const counts: Record<string, number> = {};
  const seen = (): string => `seed ${chanceSeed}: ${JSON.stringify(counts)}`;
  /** The process that is not to be started again yet. */
  let down: number | undefined;
  /** Resolves when each tenant has answered. Starts processes that have ended: one may find no server as it starts. */
  const works = async (): Promise<void> => {
    const before = TENANTS.map((tenant) => said.count('answer', tenant));
    const end = performance.now() + SILENCE_MS;
    while (!TENANTS.every((tenant, n) => said.count('answer', tenant) > (before[n] as number) + 2)) {
      if (performance.now() > end) throw new Error(`a tenant is not served: ${seen()}`);
      for (const [n, life] of lives.entries()) if (life.isOver && n !== down) lives[n] = start(n);
      await wait(10);
    }
  };
  const faults: Readonly<Record<string, (n: number) => Promise<void>>> = {
    async 'kill -9'(n) {
      await lives[n]?.kill();
      down = n;
      if (random(2) === 0) await works();
      down = undefined;
      lives[n] = start(n);
    },
    async 'stopped for longer than its lease'(n) {
      lives[n]?.child.kill('SIGSTOP');
      await wait(LEASE_MS + random(4000));
      if (random(2) === 0) await works();
      lives[n]?.child.kill('SIGCONT');
    },
    async 'leaves and joins'(n) {
      await lives[n]?.leave();
      lives[n] = start(n);
    },
    async 'cut off'(n) {
      await ways[n]?.is(random(2) === 0 ? 'cut' : 'swallows');
      await wait(random(5000));
      if (random(2) === 0) await works();
      await ways[n]?.is('open');
    },
    async pinned(n) {
      const tenant = TENANTS[random(TENANTS.length)] as string;
      await sql`UPDATE hob_cluster.tenant SET pin = ${random(2) === 0 ? null : (NAMES[n] as string)} WHERE name = ${tenant}`;
    },
    async 'the server ends the sessions'() {
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'hob%'`;
    },
    async 'the server crashes'() {
      await server.stop('immediate');
      await server.start();
      await sql`SELECT 1`.catch(() => {});
    },
  };
  const names = Object.keys(faults);
  for (let fault = 0; fault < FAULTS; fault += 1) {
    await works();
    await wait(random(30));
    const name = names[random(names.length)] as string;
    counts[name] = (counts[name] ?? 0) + 1;
    await faults[name]?.(random(NAMES.length));
  }
  await works();
  await Promise.all(lives.map((life) => life.leave()));
  const { answers, effects } = said.check();
  for (const tenant of TENANTS) {
    const store = await postgresStore({ url, schema: `hob_tenant_${tenant}`, look: true });
    expect(await verifyLedger(store), seen()).toMatchObject({ ok: true });
    await store.close();
  }
  if (process.env['HOB_FAULTS'] !== undefined) console.log(`${seen()}; ${answers} answers, ${effects} effects`);
}, 3_600_000);
