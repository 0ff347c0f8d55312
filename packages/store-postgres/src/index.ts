/** `@hob/store-postgres`: the durable store of Hob in PostgreSQL. */
export { type PostgresStoreOptions, postgresStore } from './postgres-store.ts';
