/** The way from a verb of `hob` to a cluster, by its database. No machine of it needs to live. */
import type { ManagedCluster } from '@hob/cluster';
import { loadBeside } from '../../drivers/beside.ts';
import type { Given } from '../../line/verb.ts';
import { clusterFileOf, readCluster } from './file.ts';

/** A host without a cluster does not need the package. Errors: `Mistake`. */
export const clusterPackage = (): Promise<typeof import('@hob/cluster')> =>
  loadBeside('@hob/cluster', 'a cluster', () => import('@hob/cluster'));

/** Reaches the cluster of a file, calls `act`, and leaves. Errors: `Mistake`, those of `manageCluster` and of `act`. */
export async function withCluster<R>(given: Given, act: (cluster: ManagedCluster) => Promise<R>): Promise<R> {
  const { database } = readCluster(clusterFileOf(given));
  const { manageCluster } = await clusterPackage();
  await using cluster = await manageCluster(database.at);
  return await act(cluster);
}
