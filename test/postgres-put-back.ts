/** Puts the tables of one store back to an earlier state, as the restore of a backup does. A host may run meanwhile. */
import type { Cluster } from './postgres-cluster.ts';

const TABLES = ['store', 'owner', 'line', 'args', 'cell'];

/** Copies the tables of a store beside them. */
export async function copyTables(sql: Cluster['sql'], schema: string): Promise<void> {
  await sql.unsafe(TABLES.map((name) => `CREATE TABLE ${schema}.old_${name} AS TABLE ${schema}.${name}`).join(';'));
}

/** Puts back what `copyTables` has copied. */
export async function putBack(sql: Cluster['sql'], schema: string): Promise<void> {
  const one = (name: string): string =>
    `DELETE FROM ${schema}.${name}; INSERT INTO ${schema}.${name} TABLE ${schema}.old_${name}`;
  await sql.unsafe(TABLES.map(one).join(';'));
}
