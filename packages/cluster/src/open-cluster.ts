/** Joins a cluster: checks the options, and brings its parts together. */
import { join } from 'node:path';
import { postgresStore } from '@hob/store-postgres';
import { serverAt } from '@hob/store-postgres/connection';
import { CapError, systemClock, systemRandom } from '@hob/vat';
import { base32, type OptionNames, takeOptions } from '@hob/vat/forwarder';
import { LiveCluster } from './cluster.ts';
import type { Given } from './drivers/member-thread.ts';
import { MEMBER_THREAD } from './drivers/thread-place.ts';
import { Member } from './member.ts';
import { checkAddress, checkHost, schemaOf } from './names.ts';
import type { Cluster, ClusterOptions } from './types.ts';

const names: OptionNames<ClusterOptions> = {
  url: true,
  password: true,
  ca: true,
  name: true,
  stateDir: true,
  address: true,
  open: true,
  leaseMs: true,
  sentinel: true,
  clock: true,
};

/**
 * Joins the cluster of a database, and serves the tenants that are placed at this host. Errors: `invalid` (an option,
 * the server's configuration, a newer cluster), `unavailable` (the server does not answer, or another process has the
 * name).
 */
export async function openCluster(given: ClusterOptions): Promise<Cluster> {
  const options = takeOptions(given, 'openCluster', names);
  const {
    url,
    password,
    ca,
    name,
    stateDir,
    address,
    open,
    leaseMs = 10_000,
    sentinel,
    clock = systemClock(),
  } = options;
  checkHost(name);
  if (address !== undefined) checkAddress(address);
  if (typeof stateDir !== 'string' || stateDir === '')
    throw new CapError('invalid', 'stateDir names a folder of this machine');
  if (typeof open !== 'function') throw new CapError('invalid', 'open is the function that opens the host of a tenant');
  if (!(Number.isInteger(leaseMs) && leaseMs >= 1000 && leaseMs <= 3_600_000))
    throw new CapError('invalid', 'leaseMs is a number of ms, from 1000 to an hour');
  const secrets = { ...(password !== undefined && { password }), ...(ca !== undefined && { ca }) };
  const parts: Given = {
    server: { ...serverAt(url, secrets), name },
    self: { name, address, member: base32(systemRandom(10)) },
  };
  const at = { url, ...secrets, name };
  const cluster = new LiveCluster(name, {
    clock,
    openStore: (tenant) =>
      postgresStore({
        ...{ ...at, schema: schemaOf(tenant), leaseMs, shared: true },
        ...(sentinel !== undefined && { sentinel }),
      }),
    look: (tenant) => postgresStore({ ...at, schema: schemaOf(tenant), look: true }),
    open: async (tenant, store) => {
      const onCheckpoint = (note: string): Promise<void> => cluster.checkpoint(tenant, note);
      return await open({ name: tenant, store, stateDir: join(stateDir, tenant), onCheckpoint });
    },
  });
  await cluster.start((see) => Member.open(MEMBER_THREAD, { given: parts, clock, see }));
  return cluster;
}
