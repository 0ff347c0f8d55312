/** The ledgers of a cluster as one stream: random streams that are merged, and real ledgers of two tenants. */
import { type Host, openHost } from '@hob/host';
import { systemClock } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test as plain } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { serverOfFile } from '../../../test/postgres-cluster.ts';
import { databaseOn } from '../../../test/postgres-database.ts';
import { machine, serves } from '../test/machines.ts';
import { type ClusterLine, merged, timed } from './export.ts';
import { manageCluster } from './index.ts';

const test = requires('postgres');
const server = serverOfFile(test);

async function all(lines: AsyncIterable<ClusterLine>): Promise<ClusterLine[]> {
  const found: ClusterLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

plain(
  'each line of each tenant comes once, in the order of its ledger; tenants are merged by time, also if a clock goes back',
  async () => {
    const times = fc.array(fc.option(fc.nat(20), { nil: undefined }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(times, { maxLength: 4 }), async (given) => {
        const ledgers = new Map(given.map((of, n) => [`t${n}`, of.map((t, seq) => JSON.stringify({ seq, t }))]));
        const timed = (lines: readonly string[]) => lines.map((line) => [line, (JSON.parse(line) as { readonly t?: number }).t ?? 0] as const); // biome-ignore format: one line
        const streams = new Map([...ledgers].map(([name, lines]) => [name, (async function* () { yield* timed(lines); })()])); // biome-ignore format: one line
        const found = await all(merged(streams));
        for (const [name, lines] of ledgers)
          expect(found.filter(({ tenant }) => tenant === name).map(({ line }) => line)).toEqual(lines);
        expect(found).toHaveLength([...ledgers.values()].flat().length);
        const latest = new Map<string, number>();
        const shown = found.map(({ tenant, line }) => {
          const { t = 0 } = JSON.parse(line) as { readonly t?: number };
          latest.set(tenant, Math.max(latest.get(tenant) ?? 0, t));
          return latest.get(tenant) as number;
        });
        expect(shown).toEqual([...shown].sort((a, b) => a - b));
      }),
    );
  },
);

plain(
  'each line gets its time with one question for a thousand lines, also if lines are missing or have no time',
  async () => {
    const line = fc.record({ gap: fc.constantFrom(1, 1, 1, 500), ms: fc.option(fc.nat(99), { nil: undefined }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 2500, size: 'max' }),
        fc.boolean(),
        async (given, isOlder) => {
          let seq = 0;
          const kept = given.map(({ gap, ms }) => [(seq += gap), ms] as const);
          const lines = (async function* () { for (const [at] of kept) yield JSON.stringify({ seq: at, t: 7 }); })(); // biome-ignore format: one line
          let asked = 0;
          const found: number[] = [];
          const times = async (from: number, limit: number) => {
            asked += 1;
            return isOlder ? [] : kept.filter(([at]) => at >= from).slice(0, limit);
          };
          for await (const [, ms] of timed(lines, times)) found.push(ms);
          expect(found).toEqual(kept.map(([, ms]) => (isOlder ? 7 : (ms ?? 7))));
          expect(asked).toBeLessThanOrEqual(1 + kept.length / 1000);
        },
      ),
      { numRuns: 30 },
    );
  },
);

plain('when the reader stops, the streams of all tenants are ended', async () => {
  const ended: string[] = [];
  const endless = (name: string): AsyncIterable<readonly [string, number]> =>
    (async function* () {
      try {
        for (;;) yield ['{}', 1] as const;
      } finally {
        ended.push(name);
      }
    })();
  const lines = merged(new Map(['a', 'b'].map((name) => [name, endless(name)])));
  await lines.next();
  await lines.return();
  expect(ended).toEqual(['a', 'b']);
});

test('lines of tenants come in the order of their commits, whatever the clocks of the machines say; older lines by their own times', async () => {
  const { url, sql } = await databaseOn(server.cluster);
  const HOUR = 3_600_000;
  const late = { ...systemClock(), wall: () => Date.now() - HOUR };
  const one = await machine(url, 'one');
  const two = await machine(url, 'two', { open: ({ store, stateDir, onCheckpoint }) => openHost({ stateDir, store, onCheckpoint, clock: late }) }); // biome-ignore format: one line
  for (const [name, at] of [['acme', one], ['globex', two]] as const) {
    await one.cluster.addTenant(name);
    await one.cluster.pin(name, at === one ? 'one' : 'two');
    await serves(at, name);
  } // biome-ignore format: a list
  const opened: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    const host = (n % 2 === 0 ? one.hosts.get('acme') : two.hosts.get('globex')) as Host;
    opened.push((await host.openSession({ name: `s${n}` })).id);
  }
  const begun = async (): Promise<readonly number[]> => {
    const lines = (await all(one.cluster.ledgers())).map(({ line }) => JSON.parse(line) as Readonly<Record<string, string>>); // biome-ignore format: one line
    return lines.flatMap(({ k, what, session = '' }) => (k === 'session' && what === 'open' ? [opened.indexOf(session)] : [])); // biome-ignore format: one line
  };
  expect(await begun()).toEqual([0, 1, 2, 3, 4, 5]);
  // As tables of an earlier version have it. The clock of the second machine is behind.
  for (const tenant of ['acme', 'globex']) await sql`UPDATE ${sql(`hob_tenant_${tenant}`)}.line SET at = NULL`;
  expect(await begun()).toEqual([1, 3, 5, 0, 2, 4]);
}, 60_000);

test('an export has the ledgers of served and of removed tenants; a tenant that nobody has opened yet does not stop it', async () => {
  const { url } = await databaseOn(server.cluster);
  const one = await machine(url, 'one');
  for (const name of ['acme', 'globex']) await one.cluster.addTenant(name);
  await serves(one, 'acme', 'globex');
  for (let n = 0; n < 3; n += 1) for (const name of ['acme', 'globex']) await one.count(name);
  await one.cluster.removeTenant('globex');
  await serves(one, 'acme');
  const outside = await manageCluster({ url });
  onTestFinished(() => outside.close());
  await outside.pin('acme', 'nowhere');
  await outside.addTenant('later');
  await outside.pin('later', 'nowhere');
  const found = await all(outside.ledgers());
  for (const name of ['acme', 'globex']) {
    const seqs = found.filter(({ tenant }) => tenant === name).map(({ line }) => (JSON.parse(line) as { readonly seq: number }).seq); // biome-ignore format: one line
    expect(seqs.length, name).toBeGreaterThan(0);
    expect(seqs).toEqual(seqs.map((_, n) => n + 1));
  }
});
