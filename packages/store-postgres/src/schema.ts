/**
 * The tables of a store, and how they change from one version of Hob to the next. They lie in a schema of their own, so
 * that a database may have several stores.
 *
 * Promise: a program brings older tables forward when it takes the store, in the transaction in which it takes it. Newer
 * ones say which programs may still serve them; any other is refused before it has written anything.
 */

import { newKey } from '@hob/vat/engine';
import { CapError } from '@hob/vat/errors';
import { type Connection, ServerError } from './drivers/connection.ts';

/** One version of the tables. */
export interface Step {
  /** Makes them of those of the version before. */
  readonly sql: string;
  /**
   * The oldest version of a program that may serve them. It does not know what is new in them: it leaves out new columns,
   * and neither reads nor writes new tables.
   */
  readonly serves: number;
}

/** Text of ours is kept as bytes: a text of PostgreSQL takes no zero, and bytes compare as the keys of a store do. */
const TABLES = `
  CREATE TABLE store (
    id      int    PRIMARY KEY CHECK (id = 1),
    version int    NOT NULL,         -- the oldest version of a program that may serve these tables
    key     text   NOT NULL,         -- signs the ledger (PKCS #8 as PEM)
    epoch   bigint NOT NULL,         -- how often it was opened
    opening text   NOT NULL,         -- by chance, for the newest opening: a copy of the tables repeats an epoch
    last    text   NOT NULL,         -- by chance, for the last commit
    seq     bigint NOT NULL,         -- the head: the last line's number and hash
    hash    text   NOT NULL,
    mark    bytea,                   -- the state that the ledger continues from
    name    text   NOT NULL,         -- an id, made once and copied with every backup
    commits bigint NOT NULL,         -- over all openings
    watched int    NOT NULL,         -- it has a sentinel
    era     int    NOT NULL,         -- how often it was found to have been put back
    trusted int    NOT NULL,         -- the era that a person has looked at
    bound   text                     -- which line is the last, sealed with the key
  );
  -- Apart from the store, so that a commit and the renewal of the lease do not wait for one another.
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
 * The versions: the first, and each that came later. The version of a program is their number.
 *
 * Add a step with each change of the tables, or of what the cells hold. The version before has to be among those that may
 * serve it, or hosts of both versions cannot take turns while they are upgraded.
 */
export const STEPS: readonly Step[] = [
  { sql: TABLES, serves: 1 },
  // Programs of version 1 know one number, `version`, and refuse a store where it is above their own.
  { sql: 'ALTER TABLE store ADD COLUMN tables int NOT NULL DEFAULT 1', serves: 1 },
];

/** A backup may leave it out: see `reserve.ts`. */
export const RESERVE = `
  CREATE TABLE IF NOT EXISTS reserve (bytes bytea NOT NULL);
  ALTER TABLE reserve ALTER COLUMN bytes SET STORAGE EXTERNAL`;

/** Names the advisory locks of a store: the class, in which each session that has the store holds a lock of its own. */
export const lockClass = (schema: string): string => `hashtext('hob ${schema}')`;

/** The version of tables that are there. */
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
      `a newer version of Hob wrote this store, whose tables need version ${serves}, and this program has ${steps.length}: use that one, or another schema`,
    );
  return { tables: Number(row?.['tables'] ?? 1), serves };
}

/** Makes the tables of the first version, in the transaction of the caller. `bringForward` makes the others. */
export async function makeStore(connection: Connection, schema: string, [first]: readonly Step[]): Promise<void> {
  await connection.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  await connection.query(first?.sql ?? '');
  await connection.query(`INSERT INTO store VALUES (1, 1, $1, 0, '', '', 0, '', NULL, '', 0, 0, 0, 0, NULL)`, [
    newKey(),
  ]);
}

/** A change of a large table takes long. */
const LONG_MS = 3_600_000;
const IN_USE = '55P03';

/**
 * Brings the tables to the version of this program, in the transaction of the caller, who has the store. Newer ones stay
 * as they are. Errors: `unavailable` (somebody else uses them, such as a backup).
 */
export async function bringForward(connection: Connection, steps: readonly Step[], from: number): Promise<void> {
  const left = steps.slice(from);
  const last = left.at(-1);
  if (last === undefined) return;
  try {
    // Not for ever: a later reader waits behind a change that waits.
    await connection.query(`SET LOCAL lock_timeout = '3s'`);
    for (const { sql } of left) await connection.query(sql, [], LONG_MS);
    await connection.query('UPDATE store SET version = $1::int, tables = $2::int', [last.serves, steps.length]);
    await connection.query('SET LOCAL lock_timeout = 0');
  } catch (error) {
    if (!(error instanceof ServerError) || error.state !== IN_USE) throw error;
    throw new CapError(
      'unavailable',
      'somebody uses the tables of the store, such as a backup, so they cannot be brought to the version of this program: start it again when that has ended',
    );
  }
}
