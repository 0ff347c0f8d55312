/** `@hob/cluster`: several machines serve the tenants of one database. */
export { openCluster } from './open-cluster.ts';
export type {
  Cluster,
  ClusterHost,
  ClusterOptions,
  ClusterStatus,
  ClusterTenant,
  TenantParts,
  Where,
} from './types.ts';
