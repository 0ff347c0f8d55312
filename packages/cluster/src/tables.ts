/**
 * The tables of a cluster, in the schema `hob_cluster`, and how they change from one version of Hob to the next.
 *
 * Promise: tables of an older version are changed in one transaction. They record the oldest version of a program that
 * may use them. An older program is refused before it writes anything.
 */
import type { Connection } from '@hob/store-postgres/connection';
import { CapError } from '@hob/vat/errors';

export const SCHEMA = 'hob_cluster';

/** One version of the tables. */
export interface Step {
  /** Changes the tables of the previous version into these. */
  readonly sql: string;
  /** The oldest version of a program that may use them. */
  readonly serves: number;
}

const TABLES = `
  CREATE TABLE cluster (
    id      int PRIMARY KEY CHECK (id = 1),
    version int NOT NULL,            -- the oldest version of a program that may use these tables
    tables  int NOT NULL             -- the version of these tables
  );
  INSERT INTO cluster VALUES (1, 1, 1);
  CREATE TABLE host (
    name    text PRIMARY KEY,
    address text,                    -- where other machines reach it
    member  text NOT NULL,           -- a random name of the process: two processes may have one name
    heard   timestamptz NOT NULL
  );
  CREATE TABLE tenant (name text PRIMARY KEY, pin text);
  CREATE TABLE checkpoint (          -- the merged chain: checkpoints.ts
    n      bigint PRIMARY KEY,
    tenant text NOT NULL,
    note   text NOT NULL,
    hash   text NOT NULL
  );
  CREATE INDEX ON checkpoint (tenant, n)`;

/** All versions of the tables, oldest first. The version of a program is the number of steps that it knows. */
export const STEPS: readonly Step[] = [{ sql: TABLES, serves: 1 }];

/** The time limit of a change, and of the wait for another host that makes one, in ms. */
const LONG_MS = 60_000;

/** Creates the tables, or changes them to the version of this program. Errors: `invalid` (they need a newer one). */
export async function makeTables(connection: Connection, steps: readonly Step[] = STEPS): Promise<void> {
  // Without the lock in the usual case: a host that is stopped while it has the lock would keep all others out.
  if ((await versionOf(connection, steps.length)) >= steps.length) return;
  await connection.query('BEGIN');
  try {
    // Only one host at a time makes or changes them.
    await connection.query(`SELECT pg_advisory_xact_lock(hashtext('hob cluster'))`, [], LONG_MS);
    const from = await versionOf(connection, steps.length);
    if (from === 0) await connection.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
    const left = steps.slice(from);
    for (const { sql } of left) await connection.query(sql, [], LONG_MS);
    const last = left.at(-1);
    if (last !== undefined)
      await connection.query('UPDATE cluster SET version = $1::int, tables = $2::int', [last.serves, steps.length]);
    await connection.query('COMMIT');
  } catch (error) {
    if (!connection.lost) await connection.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** Checks that the tables are there. Errors: `no-such-object` (they are not), `invalid` (they need a newer program). */
export async function needTables(connection: Connection): Promise<void> {
  if ((await versionOf(connection, STEPS.length)) > 0) return;
  throw new CapError('no-such-object', 'this database has no cluster yet: start a machine first, which makes one');
}

/** Returns the version of the tables; 0 if there are none. */
async function versionOf(connection: Connection, ours: number): Promise<number> {
  // Read as rows. In a transaction, `to_regclass` may still say that there is no table after another host has made it.
  const [found] = await connection.query(
    `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = '${SCHEMA}' AND tablename = 'cluster') AS found`,
  );
  if (found?.['found'] !== true) return 0;
  const [row] = await connection.query('SELECT version, tables FROM cluster');
  const serves = Number(row?.['version']);
  if (serves > ours)
    throw new CapError(
      'invalid',
      `a newer version of Hob wrote the tables of this cluster. They need version ${serves}, and this program has ${ours}: use the newer version`,
    );
  return Number(row?.['tables']);
}
