/** `@hob/cluster`: several machines serve the tenants of one database. */
export type { KeptEntry } from './checkpoints.ts';
export type { ClusterLine } from './export.ts';
export { openLink } from './link/drivers/link.ts';
export { routesOf } from './link/routes.ts';
export type { Link, LinkOptions, LinkPeer, LinkPins } from './link/types.ts';
export { manageCluster, openCluster } from './open-cluster.ts';
export type {
  Cluster,
  ClusterHost,
  ClusterOptions,
  ClusterStatus,
  ClusterTenant,
  ManagedCluster,
  ManageOptions,
  TenantHost,
  TenantParts,
  Where,
} from './types.ts';
export type { ClusterVerdict } from './verify.ts';
