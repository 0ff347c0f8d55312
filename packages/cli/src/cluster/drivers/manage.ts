/** Connects a verb of `hob` to a cluster by its database. It works while no machine of the cluster lives. */
import type { ManagedCluster } from '@hob/cluster';
import { loadBeside } from '../../drivers/beside.ts';
import type { Given } from '../../line/verb.ts';
import { clusterFileOf, readCluster } from './file.ts';

/** Loads `@hob/cluster`, which only `hob cluster` needs. Errors: `Mistake` (it is not installed). */
export const clusterPackage = (): Promise<typeof import('@hob/cluster')> =>
  loadBeside('@hob/cluster', 'a cluster', () => import('@hob/cluster'));

/** Connects to the cluster of a file, calls `act`, and closes. Errors: `Mistake`, those of `manageCluster` and of `act`. */
export async function withCluster<R>(given: Given, act: (cluster: ManagedCluster) => Promise<R>): Promise<R> {
  const { database } = readCluster(clusterFileOf(given));
  const { manageCluster } = await clusterPackage();
  await using cluster = await manageCluster(database.at);
  return await act(cluster);
}
