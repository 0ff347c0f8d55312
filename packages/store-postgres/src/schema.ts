/**
 * The tables of a store, and how they change from one version of Hob to the next. Each store has its own schema, so a
 * database may hold several stores.
 *
 * Promise: a program changes older tables to its version in the transaction in which it takes the store. Tables record
 * the oldest version of a program that may serve them. An older program is refused before it writes anything.
 */

import { newKey } from '@hob/vat/engine';
import { CapError } from '@hob/vat/errors';
import { type Connection, ServerError } from './drivers/connection.ts';

/** One version of the tables. */
export interface Step {
  /** Changes the tables of the previous version into these. */
  readonly sql: string;
  /**
   * The oldest version of a program that may serve them. Such a program does not know what is new: it writes no value
   * into new columns, and does not use new tables.
   */
  readonly serves: number;
}

/** Keys and values are bytes: a `text` of PostgreSQL holds no zero, and a store orders its keys as bytes. */
const TABLES = `
  CREATE TABLE store (
    id      int    PRIMARY KEY CHECK (id = 1),
    version int    NOT NULL,         -- the oldest version of a program that may serve these tables
    key     text   NOT NULL,         -- signs the ledger (PKCS #8 as PEM)
    epoch   bigint NOT NULL,         -- how often it was opened
    opening text   NOT NULL,         -- a random name of the newest opening: a copy of the tables repeats an epoch
    last    text   NOT NULL,         -- a random name of the last commit
    seq     bigint NOT NULL,         -- the head: the last line's number and hash
    hash    text   NOT NULL,
    mark    bytea,                   -- the state that the ledger continues from
    name    text   NOT NULL,         -- an id, made once and copied with every backup
    commits bigint NOT NULL,         -- over all openings
    watched int    NOT NULL,         -- 0 if it has no sentinel
    era     int    NOT NULL,         -- how often it was found to have been put back
    trusted int    NOT NULL,         -- the era that a person has looked at
    bound   text                     -- which line is the last, sealed with the key
  );
  -- A table of its own, so that a commit and the renewal of the lease do not wait for each other.
  CREATE TABLE owner (
    id int PRIMARY KEY CHECK (id = 1), opening text NOT NULL,
    lock  int         NOT NULL,      -- the advisory lock that its session holds
    until timestamptz NOT NULL       -- the end of its lease
  );
  INSERT INTO owner VALUES (1, '', 0, clock_timestamp());
  CREATE TABLE line (seq bigint PRIMARY KEY, bytes bytea NOT NULL);   -- exactly what was hashed
  CREATE TABLE args (seq bigint PRIMARY KEY, salt bytea NOT NULL, bytes bytea NOT NULL);
  CREATE TABLE cell (key bytea PRIMARY KEY, value bytea NOT NULL)`;

/**
 * All versions of the tables, oldest first. The version of a program is the number of steps that it knows.
 *
 * Add a step with each change of the tables, or of what the cells hold. Let `serves` admit the previous version.
 * Otherwise hosts of both versions cannot take turns during an upgrade.
 */
export const STEPS: readonly Step[] = [
  { sql: TABLES, serves: 1 },
  // Programs of version 1 know only the column `version`, and refuse a store if that number is above 1.
  { sql: 'ALTER TABLE store ADD COLUMN tables int NOT NULL DEFAULT 1', serves: 1 },
  // `at` is when the server got a line, by its clock. A second statement sets the default, so that older lines have no
  // time. The default also fills the column for lines of an older program, which does not know it.
  {
    sql: 'ALTER TABLE line ADD COLUMN at timestamptz; ALTER TABLE line ALTER COLUMN at SET DEFAULT clock_timestamp()',
    serves: 1,
  },
];

/** Creates the table `reserve`. A backup may leave it out: see `reserve.ts`. */
export const RESERVE = `
  CREATE TABLE IF NOT EXISTS reserve (bytes bytea NOT NULL);
  ALTER TABLE reserve ALTER COLUMN bytes SET STORAGE EXTERNAL`;

/** SQL for the first half of the advisory locks of a store. The second half says what the lock is for. */
export const lockClass = (schema: string): string => `hashtext('hob ${schema}')`;

/** The versions that existing tables record. */
export interface Versions {
  readonly tables: number;
  /** The oldest version of a program that may serve them. */
  readonly serves: number;
}

/** Returns the version of the tables; undefined if there are none. Errors: `invalid` (they need a newer program). */
export async function versionsOf(connection: Connection, steps: readonly Step[]): Promise<Versions | undefined> {
  const [found] = await connection.query(`SELECT to_regclass('store') IS NOT NULL AS found`);
  if (found?.['found'] !== true) return undefined;
  const [row] = await connection.query('SELECT * FROM store');
  const serves = Number(row?.['version']);
  if (serves > steps.length)
    throw new CapError(
      'invalid',
      `a newer version of Hob wrote this store. Its tables need version ${serves}, and this program has ${steps.length}: use the newer version, or another schema`,
    );
  return { tables: Number(row?.['tables'] ?? 1), serves };
}

/** Creates tables of the first version, in the transaction of the caller. `bringForward` then changes them. */
export async function makeStore(connection: Connection, schema: string, [first]: readonly Step[]): Promise<void> {
  await connection.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  await connection.query(first?.sql ?? '');
  await connection.query(`INSERT INTO store VALUES (1, 1, $1, 0, '', '', 0, '', NULL, '', 0, 0, 0, 0, NULL)`, [
    newKey(),
  ]);
}

/** The time limit of a change: a large table takes long. */
const LONG_MS = 3_600_000;
const IN_USE = '55P03';

/**
 * Changes the tables to the version of this program, in the transaction in which the caller takes the store. Newer
 * tables stay as they are. Errors: `unavailable` (another session uses them, such as a backup).
 */
export async function bringForward(connection: Connection, steps: readonly Step[], from: number): Promise<void> {
  const left = steps.slice(from);
  const last = left.at(-1);
  if (last === undefined) return;
  try {
    // The change must not wait for long: every later reader would wait behind it.
    await connection.query(`SET LOCAL lock_timeout = '3s'`);
    for (const { sql } of left) await connection.query(sql, [], LONG_MS);
    await connection.query('UPDATE store SET version = $1::int, tables = $2::int', [last.serves, steps.length]);
    await connection.query('SET LOCAL lock_timeout = 0');
  } catch (error) {
    if (!(error instanceof ServerError) || error.state !== IN_USE) throw error;
    throw new CapError(
      'unavailable',
      'another session uses the tables of the store, such as a backup, so they cannot be changed to the version of this program: start the program again when that session has ended',
    );
  }
}
