/** A process of a cluster with a counter in each tenant, for `cluster.ts`. */
import { type Cluster, openCluster } from '@hob/cluster';
import { type Host, openHost } from '@hob/host';
import { E, type Far } from '@hob/vat';
import { Counter, definitions } from './durable-actors.ts';

interface Joined {
  readonly cluster: Cluster;
  /** Counts once in a tenant, as soon as it is open here. */
  next(tenant: string): Promise<void>;
}

export async function joinCluster(
  url: string,
  name: string,
  stateDir: string,
  opened: () => unknown = () => {},
): Promise<Joined> {
  const hosts = new Map<string, PromiseWithResolvers<Host>>();
  const hostOf = (tenant: string): PromiseWithResolvers<Host> => {
    const known = hosts.get(tenant) ?? Promise.withResolvers<Host>();
    hosts.set(tenant, known);
    return known;
  };
  const cluster = await openCluster({
    ...{ url, name, stateDir },
    async open({ name: tenant, store, stateDir: folder }) {
      const host = await openHost({ stateDir: folder, store, definitions });
      hostOf(tenant).resolve(host);
      opened();
      return host;
    },
  });
  cluster.onChange(() => {
    for (const tenant of hosts.keys()) if (cluster.where(tenant) !== 'here') hosts.delete(tenant);
  });
  return {
    cluster,
    async next(tenant) {
      const host = await hostOf(tenant).promise;
      await E((await host.vats.vat('bench').root('counter', () => Counter(0))) as Far<Counter>).next();
    },
  };
}
