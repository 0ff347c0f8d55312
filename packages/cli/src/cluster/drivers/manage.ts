/** Connects a verb of `hob` to a cluster by its database. It works while no machine of the cluster lives. */
import type { ManagedCluster } from '@hob/cluster';
import { Mistake } from '../../line/mistake.ts';
import type { Given } from '../../line/verb.ts';
import { clusterFileOf, readCluster } from './file.ts';

/** Loads `@hob/cluster`, which is optional: only `hob cluster` needs it. Errors: `Mistake` (it is not installed). */
export async function clusterPackage(): Promise<typeof import('@hob/cluster')> {
  try {
    return await import('@hob/cluster');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Mistake('a cluster needs two more packages: npm install -g @hob/cluster @hob/store-postgres');
  }
}

/** Connects to the cluster of a file, calls `act`, and closes. Errors: `Mistake`, those of `manageCluster` and of `act`. */
export async function withCluster<R>(given: Given, act: (cluster: ManagedCluster) => Promise<R>): Promise<R> {
  const { database } = readCluster(clusterFileOf(given));
  const { manageCluster } = await clusterPackage();
  await using cluster = await manageCluster(database.at);
  return await act(cluster);
}
