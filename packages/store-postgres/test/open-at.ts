/** Opens a store of a test in another process: an `Opener` of `packages/vat/crash/here.ts`. */
import type { Store } from '@hob/vat';
import { type PostgresStoreOptions, postgresStore } from '../src/index.ts';

export type At = Pick<PostgresStoreOptions, 'url' | 'schema' | 'leaseMs'>;

export const open = (at: At, sentinel: string): Promise<Store> => postgresStore({ ...at, sentinel });
