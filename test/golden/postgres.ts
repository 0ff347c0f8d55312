/** The golden stores in PostgreSQL: dumps of the schema, as each released version wrote it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { postgresStore } from '../../packages/store-postgres/src/index.ts';
import type { Store } from '../../packages/vat/src/index.ts';
import { type Cluster, urlOf } from '../postgres-cluster.ts';

export const FOLDER: string = join(import.meta.dirname, '..', '..', 'packages', 'store-postgres', 'golden');

/** Restores a dump into a database of its own, and opens the store. */
export async function openGolden(cluster: Cluster, name: string, database: string): Promise<Store> {
  await cluster.sql.unsafe(`CREATE DATABASE ${database}`);
  const { socket: host, port } = cluster;
  const sql = postgres({ host, port, user: 'hob', database, max: 1, max_lifetime: null, fetch_types: false });
  await sql.unsafe(readFileSync(join(FOLDER, `${name}.sql`), 'utf8'));
  await sql.end({ timeout: 0 });
  return postgresStore({ url: urlOf(host, database) });
}
