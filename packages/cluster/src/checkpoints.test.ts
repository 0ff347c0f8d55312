/** The merged chain of checkpoints, on a real server. */
import fc from 'fast-check';
import { expect, test as plain } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { serverOfFile } from '../../../test/postgres-cluster.ts';
import { databaseOn } from '../../../test/postgres-database.ts';
import { copyTables, putBack } from '../../../test/postgres-put-back.ts';
import { type Machine, machine, serves } from '../test/machines.ts';
import { type Entry, faultOf, hashOf } from './checkpoints.ts';
import type { LiveCluster } from './cluster.ts';

const test = requires('postgres');
const server = serverOfFile(test);

/** A whole chain of these tenants and notes. */
function chainOf(given: readonly (readonly [tenant: string, note: string])[]): Entry[] {
  let before = '';
  return given.map(([tenant, note], index) => {
    const entry = { n: index + 1, tenant, note };
    before = hashOf(before, entry);
    return { ...entry, hash: before };
  });
}

plain('a chain from which an entry is changed, taken out, put in or moved is not whole', () => {
  const text = fc.string({ maxLength: 5 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(text, text), { minLength: 2, maxLength: 6 }),
      fc.nat(),
      text,
      fc.nat(3),
      (given, at, other, how) => {
        // biome-ignore format: one line
        const chain = chainOf(given);
        expect(faultOf(chain)).toBe(undefined);
        const n = at % (chain.length - 1);
        const entry = chain[n] as Entry;
        const changed = [...chain];
        if (how === 0) changed[n] = { ...entry, note: `${entry.note}${other}x` };
        else if (how === 1) changed.splice(n, 1);
        else if (how === 2) changed.splice(n, 0, entry);
        else [changed[n], changed[n + 1]] = [changed[n + 1] as Entry, entry];
        expect(faultOf(changed)).toMatch(/^entry \d+ /);
      },
    ),
  );
});

plain('a chain that was written anew, or cut, does not have the entry that was kept', () => {
  const chain = chainOf([
    ['acme', 'one'],
    ['globex', 'two'],
  ]);
  const { n, hash } = chain[1] as Entry;
  expect(faultOf(chain, { n, hash })).toBe(undefined);
  expect(faultOf(chainOf([['acme', 'one'], ['globex', 'other']]), { n, hash })).toBe('entry 2 is not the one that was kept'); // biome-ignore format: one line
  expect(faultOf(chain.slice(0, 1), { n, hash })).toBe('entry 2 is not the one that was kept');
});

/** Two hosts with a tenant each, whose checkpoints are in the chain. */
async function scene() {
  const { url, sql } = await databaseOn(server.cluster);
  const [one, two] = [await machine(url, 'one'), await machine(url, 'two')];
  for (const [tenant, at] of [
    ['acme', one],
    ['globex', two],
  ] as const) {
    // biome-ignore format: one line
    await one.cluster.addTenant(tenant);
    await one.cluster.pin(tenant, at.cluster.name);
    await serves(at, tenant);
    await at.count(tenant);
  }
  return { url, sql, one, two };
}

/** Gives a tenant to another host: the one that closes it sends its last checkpoint. */
async function move(tenant: string, to: Machine): Promise<void> {
  await to.cluster.pin(tenant, to.cluster.name);
  await expect.poll(() => to.hosts.has(tenant), { interval: 10 }).toBe(true);
  await to.count(tenant);
}

test('the checkpoints of all hosts are one chain, and each ledger agrees with it', async () => {
  const { sql, one, two } = await scene();
  await move('acme', two);
  await move('globex', one);
  await move('acme', one);
  const verdict = await one.cluster.verify();
  expect(verdict).toMatchObject({ ok: true, why: undefined, tenants: { acme: { ok: true }, globex: { ok: true } } });
  const rows = await sql`SELECT n::int, tenant, note, hash FROM hob_cluster.checkpoint ORDER BY n`;
  // Made by the server, and by this program.
  expect(faultOf(rows as unknown as Entry[])).toBe(undefined);
  expect(verdict.entries).toBe(rows.length);
  expect(new Set(rows.map(({ tenant }) => tenant))).toEqual(new Set(['acme', 'globex']));
  expect(rows.length).toBeGreaterThanOrEqual(3);
  // Both say the same, and what is kept stays true.
  expect(await two.cluster.verify({ kept: verdict.last as NonNullable<typeof verdict.last> })).toMatchObject({
    ok: true,
  });
  await expect(one.cluster.verify({ kept: { n: 0, hash: '' } })).rejects.toMatchObject({ code: 'invalid' });
});

test('checkpoints that several hosts add at the same moment are all in the chain, once each', async () => {
  const { sql, one, two } = await scene();
  const notes = Array.from({ length: 20 }, (_, n) => `note ${n}`);
  const add = (at: Machine, note: string): Promise<void> => (at.cluster as LiveCluster).checkpoint(note, note);
  await Promise.all(notes.flatMap((note) => [add(one, note), add(two, note)]));
  const rows = await sql`SELECT n::int, tenant, note, hash FROM hob_cluster.checkpoint ORDER BY n`;
  expect(faultOf(rows as unknown as Entry[])).toBe(undefined);
  expect(
    rows
      .map(({ note }) => note)
      .filter((note) => notes.includes(note))
      .sort(),
  ).toEqual([...notes].sort());
});

test('attack: a ledger that is put back alone, replaced or dropped does not agree with the chain', async () => {
  const { sql, one, two } = await scene();
  await one.cluster.close();
  await serves(two, 'acme', 'globex');
  await two.cluster.removeTenant('acme');
  await serves(two, 'globex');
  const schema = 'hob_tenant_acme';
  await copyTables(sql, schema);
  await two.cluster.addTenant('acme');
  await serves(two, 'acme', 'globex');
  for (let n = 0; n < 3; n += 1) await two.count('acme');
  await two.cluster.removeTenant('acme');
  await serves(two, 'globex');
  expect(await two.cluster.verify()).toMatchObject({ ok: true });
  await putBack(sql, schema);
  expect(await two.cluster.verify()).toMatchObject({
    ok: false,
    tenants: { acme: { ok: false }, globex: { ok: true } },
  });
  // Another ledger, which is good by itself.
  await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
  expect(await two.cluster.verify()).toMatchObject({ ok: false, tenants: { acme: 'missing' } });
  await two.cluster.addTenant('acme');
  await serves(two, 'acme', 'globex');
  expect(await two.cluster.verify()).toMatchObject({ ok: false, tenants: { acme: { ok: false } } });
  await sql`UPDATE hob_cluster.checkpoint SET tenant = 'globex' WHERE n = 1 AND tenant = 'acme'`;
  expect((await two.cluster.verify()).why).toMatch(/^entry 1 was changed/);
});
