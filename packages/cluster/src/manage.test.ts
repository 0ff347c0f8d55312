/** A process that manages a cluster and serves none of its tenants: what it sees, and what it can change. */
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { serverOfFile } from '../../../test/postgres-cluster.ts';
import { databaseOn } from '../../../test/postgres-database.ts';
import { machine, serves } from '../test/machines.ts';
import { type ManagedCluster, manageCluster } from './index.ts';

const test = requires('postgres');
const server = serverOfFile(test);

async function managed(url: string): Promise<ManagedCluster> {
  const cluster = await manageCluster({ url });
  onTestFinished(() => cluster.close());
  return cluster;
}

test('a process that manages a cluster sees its machines and changes its tenants; no tenant is ever placed at this process', async () => {
  const { url, sql } = await databaseOn(server.cluster);
  const one = await machine(url, 'one');
  const outside = await managed(url);
  await outside.addTenant('acme');
  await serves(one, 'acme');
  const { connected, member, hosts, tenants } = await outside.status();
  expect([connected, member, hosts.map(({ name, live }) => [name, live])]).toEqual([true, false, [['one', true]]]);
  expect(tenants).toMatchObject([{ name: 'acme', place: 'one', here: 'closed', store: { holder: { name: 'one' } } }]);
  await outside.pin('acme', 'two');
  const two = await machine(url, 'two');
  await serves(two, 'acme');
  expect(await outside.verify()).toMatchObject({ ok: true, tenants: { acme: { ok: true } } });
  await one.cluster.close();
  await two.cluster.close();
  // No machine is left. The process that only manages does not serve the tenant either.
  await expect.poll(async () => (await outside.status()).tenants).toMatchObject([{ place: undefined }]);
  expect(await sql`SELECT name FROM hob_cluster.host`).toHaveLength(0);
  await outside.removeTenant('acme');
  expect((await outside.status()).tenants).toEqual([]);
});

test('a tenant that is added while no machine lives is served when a machine joins again', async () => {
  const { url } = await databaseOn(server.cluster);
  await (await machine(url, 'one')).cluster.close();
  await (await managed(url)).addTenant('acme');
  await serves(await machine(url, 'one'), 'acme');
});

test('a database without a cluster is refused with an error that says so, and nothing is made in it', async () => {
  const { url, sql } = await databaseOn(server.cluster);
  await expect(manageCluster({ url })).rejects.toMatchObject({
    code: 'no-such-object',
    message: expect.stringContaining('no cluster'),
  });
  expect(await sql`SELECT 1 FROM pg_namespace WHERE nspname = 'hob_cluster'`).toHaveLength(0);
});

test('a wrong option or a server that does not answer is an error that says so', async () => {
  await expect(manageCluster({ url: 'postgres://127.0.0.1:1/hob', name: 'one' } as never)).rejects.toMatchObject({ code: 'invalid' }); // biome-ignore format: one line
  await expect(manageCluster({ url: 'postgres://hob@127.0.0.1:1/hob' })).rejects.toMatchObject({ code: 'unavailable' });
});
