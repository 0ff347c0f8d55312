/** The tables of a store. They lie in a schema of their own, so that a database may have several stores. */

import { newKey } from '@hob/vat/engine';
import { CapError } from '@hob/vat/errors';
import type { Connection } from './drivers/connection.ts';

/** Increases with each change of the tables. A newer store is refused. */
const VERSION = 1;

/** Text of ours is kept as bytes: a text of PostgreSQL takes no zero, and bytes compare as the keys of a store do. */
const TABLES = `
  CREATE TABLE store (
    id      int    PRIMARY KEY CHECK (id = 1),
    version int    NOT NULL,
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

/** A backup may leave it out: see `reserve.ts`. */
export const RESERVE = `
  CREATE TABLE IF NOT EXISTS reserve (bytes bytea NOT NULL);
  ALTER TABLE reserve ALTER COLUMN bytes SET STORAGE EXTERNAL`;

/** Names the advisory locks of a store: the class, in which each session that has the store holds a lock of its own. */
export const lockClass = (schema: string): string => `hashtext('hob ${schema}')`;

/** Whether there is a store. Errors: `invalid` (a newer Hob wrote it). */
export async function hasStore(connection: Connection): Promise<boolean> {
  const [found] = await connection.query(`SELECT to_regclass('store') IS NOT NULL AS found`);
  if (found?.['found'] !== true) return false;
  const [row] = await connection.query('SELECT version FROM store');
  const version = Number(row?.['version']);
  if (version > VERSION)
    throw new CapError('invalid', 'a newer version of Hob wrote this store: use that one, or another schema');
  return true;
}

/** Makes the tables, in the transaction of the caller. */
export async function makeStore(connection: Connection, schema: string): Promise<void> {
  await connection.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  await connection.query(TABLES);
  await connection.query(`INSERT INTO store VALUES (1, $1::int, $2, 0, '', '', 0, '', NULL, '', 0, 0, 0, 0, NULL)`, [
    VERSION,
    newKey(),
  ]);
}
