/** `@hob/store-postgres`: the durable store of Hob in PostgreSQL. */
export type { Holder, Replication, ServerStandby, StoreHosts, WaitingHost } from './hosts.ts';
export { lineTimes, type PostgresStoreOptions, postgresStore, storeHosts } from './postgres-store.ts';
export type { LineTime } from './reads.ts';
export type { Versions } from './schema.ts';
