/** `@hob/store-postgres`: the durable store of Hob in PostgreSQL. */
export type { Holder, Replication, ServerStandby, StoreHosts, WaitingHost } from './hosts.ts';
export { type PostgresStoreOptions, postgresStore, storeHosts } from './postgres-store.ts';
export type { Versions } from './schema.ts';
