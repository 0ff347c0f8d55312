/** The way from a verb of `hob` to a cluster, by its database. No machine of it needs to live. */
import type { ManagedCluster } from '@hob/cluster';
import { Mistake } from '../../line/mistake.ts';
import type { Given } from '../../line/verb.ts';
import { clusterFileOf, readCluster } from './file.ts';

/** The package of clusters is optional: a host without one does not need it. Errors: `Mistake`. */
export async function clusterPackage(): Promise<typeof import('@hob/cluster')> {
  try {
    return await import('@hob/cluster');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Mistake('a cluster needs one package more, beside this one: npm install -g @hob/cluster');
  }
}

/** Reaches the cluster of a file, calls `act`, and leaves. Errors: `Mistake`, those of `manageCluster` and of `act`. */
export async function withCluster<R>(given: Given, act: (cluster: ManagedCluster) => Promise<R>): Promise<R> {
  const { database } = readCluster(clusterFileOf(given));
  const { manageCluster } = await clusterPackage();
  await using cluster = await manageCluster(database.at);
  return await act(cluster);
}
