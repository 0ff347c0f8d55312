/** Stores of crash tests in one server. Each has a schema, and a folder for its sentinel. */
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { At } from '../../packages/store-postgres/test/open-at.ts';
import type { Place } from '../../packages/vat/crash/here.ts';
import type { Cluster } from '../postgres-cluster.ts';

const OPENER = join(import.meta.dirname, '..', '..', 'packages', 'store-postgres', 'test', 'open-at.ts');
/** The tables to copy. The store makes the table `reserve` again if it is missing. */
const TABLES = ['store', 'owner', 'line', 'args', 'cell'];

/**
 * Makes a place in `schema`, with its sentinel in `folder`. `url` is the address at which a process reaches the server.
 */
export function placeIn(cluster: Cluster, schema: string, folder: string, url: string = cluster.url): Place {
  mkdirSync(folder, { recursive: true });
  const at: At = { url, schema };
  return { folder: join(folder, 'store'), opener: OPENER, at };
}

/** Copies the store as it is at one moment, if there is one, with its sentinel. The copy can be opened at once. */
export async function copyStore(cluster: Cluster, from: Place, to: Place): Promise<void> {
  const [old, made] = [from, to].map(({ at }) => (at as At).schema) as [string, string];
  // The sentinel is copied first: a store may be ahead of its sentinel, and not behind it.
  rmSync(dirname(to.folder), { recursive: true, force: true });
  cpSync(dirname(from.folder), dirname(to.folder), { recursive: true });
  const [found] = await cluster.sql`SELECT to_regclass(${`${old}.store`}) IS NOT NULL AS there`;
  if (found?.['there'] !== true) return;
  const copies = TABLES.map(
    (name) => `
    CREATE TABLE ${made}.${name} (LIKE ${old}.${name} INCLUDING ALL);
    INSERT INTO ${made}.${name} TABLE ${old}.${name};`,
  );
  await cluster.sql.unsafe(`
    BEGIN ISOLATION LEVEL REPEATABLE READ; DROP SCHEMA IF EXISTS ${made} CASCADE; CREATE SCHEMA ${made};
    ${copies.join('')}
    UPDATE ${made}.owner SET until = clock_timestamp(); COMMIT`);
}

export async function dropStore(cluster: Cluster, place: Place): Promise<void> {
  await cluster.sql.unsafe(`DROP SCHEMA IF EXISTS ${(place.at as At).schema} CASCADE`);
  rmSync(dirname(place.folder), { recursive: true, force: true });
}
