/** Several hosts of one cluster, in the process of a test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '@hob/host';
import { expect, onTestFinished } from 'vitest';
import { type Cluster, type ClusterOptions, type ClusterTenant, openCluster, type TenantParts } from '../src/index.ts';
import { count, openCounting } from './counting.ts';

export interface Machine {
  readonly cluster: Cluster;
  /** The hosts that are open here, by their tenants. */
  readonly hosts: ReadonlyMap<string, Host>;
  /** The number of hosts that were opened here, by their tenants. */
  readonly openings: ReadonlyMap<string, number>;
  /** Counts once in a tenant that is open here. */
  count(tenant: string): Promise<number>;
}

/** Opens a host of a cluster. It leaves when the test has finished. */
export async function machine(url: string, name: string, more: Partial<ClusterOptions> = {}): Promise<Machine> {
  const stateDir = mkdtempSync(join(tmpdir(), 'hob-cluster-'));
  // Hooks run last to first: the folder goes after the cluster has left.
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const hosts = new Map<string, Host>();
  const openings = new Map<string, number>();
  const open = async (parts: TenantParts): Promise<Host> => {
    const host = (await (more.open ?? openCounting)(parts)) as Host;
    const { name: tenant } = parts;
    openings.set(tenant, (openings.get(tenant) ?? 0) + 1);
    if (hosts.has(tenant)) throw new Error(`${tenant} is open twice in one process`);
    hosts.set(tenant, host);
    const close = async (): Promise<void> => {
      await host.close();
      hosts.delete(tenant);
    };
    return new Proxy(host, {
      get: (of, key) => {
        if (key === 'close') return close;
        const value = Reflect.get(of, key, of) as unknown;
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
  };
  const cluster = await openCluster({ url, name, stateDir, leaseMs: 2000, ...more, open });
  onTestFinished(() => cluster.close());
  return { cluster, hosts, openings, count: async (tenant) => await count(hosts.get(tenant) as Host) };
}

/** A tenant, as this host sees it. */
export const tenantAt = async ({ cluster }: Machine, name: string): Promise<ClusterTenant | undefined> =>
  (await cluster.status()).tenants.find((each) => each.name === name);

/** Resolves when the tenants that are open at `one` are these. */
export const serves = (one: Machine, ...tenants: readonly string[]): Promise<void> =>
  expect.poll(() => [...one.hosts.keys()].sort(), { interval: 10 }).toEqual([...tenants].sort());
