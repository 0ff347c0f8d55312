/** Joins a cluster, or connects to one to manage it: checks the options, and brings the parts together. */
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
import type { Cluster, ClusterOptions, ManagedCluster, ManageOptions } from './types.ts';

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

const managed: OptionNames<ManageOptions> = { url: true, password: true, ca: true, clock: true };

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
  const at = { url, ...secretsOf({ password, ca }), name };
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
  const self = { name, address, member: base32(systemRandom(10)) };
  await cluster.start((see) => Member.open(MEMBER_THREAD, { given: { server: serverOf(at), self }, clock, see }));
  return cluster;
}

/**
 * Connects to the cluster of a database, to look at it and to change it. Serves no tenant. Errors: `invalid` (an
 * option, the server's configuration, a newer cluster), `unavailable` (the server does not answer), `no-such-object` (no
 * machine has joined a cluster of this database yet).
 */
export async function manageCluster(given: ManageOptions): Promise<ManagedCluster> {
  const { url, password, ca, clock = systemClock() } = takeOptions(given, 'manageCluster', managed);
  const at = { url, ...secretsOf({ password, ca }), name: 'look' };
  const nothing = (): Promise<never> => Promise.reject(new CapError('denied', 'this process serves no tenant'));
  const cluster = new LiveCluster('', {
    ...{ clock, openStore: nothing, open: nothing },
    look: (tenant) => postgresStore({ ...at, schema: schemaOf(tenant), look: true }),
  });
  await cluster.start((see) => Member.open(MEMBER_THREAD, { given: { server: serverOf(at), self: undefined }, clock, see })); // biome-ignore format: one line
  return cluster;
}

type Secrets = Pick<ManageOptions, 'password' | 'ca'>;

const secretsOf = ({ password, ca }: { readonly [Key in keyof Secrets]: string | undefined }): Secrets => ({
  ...(password !== undefined && { password }),
  ...(ca !== undefined && { ca }),
});

const serverOf = ({ url, name, ...secrets }: ManageOptions & { readonly name: string }): Given['server'] => ({
  ...serverAt(url, secrets),
  name,
});
