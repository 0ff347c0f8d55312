/**
 * Keeps disk space for the commits that end authority, so that a grant can still be revoked when the disk is full.
 *
 * A committed `DROP TABLE` gives the file of a table back to the disk at once. A `DELETE` would not. `TRUNCATE` first
 * makes new files, and the new file of an index has a page from the start. On a disk without a free page it fails
 * (`full-disk.test.ts`).
 */

import { bytesText } from './bytes.ts';
import type { Connection } from './drivers/connection.ts';
import { randomData } from './drivers/random.ts';
import { RESERVE } from './schema.ts';

const PIECES = 4;
const PIECE = 1 << 20;

/** Creates the table if it is missing: its space was given back, or a backup has left it out. */
async function haveReserve(connection: Connection): Promise<void> {
  const [found] = await connection.query(`SELECT to_regclass('reserve') IS NOT NULL AS found`);
  if (found?.['found'] !== true) await connection.query(RESERVE);
}

/** Fills the table up to its size. Rejects if the disk has no room. */
export async function fillReserve(connection: Connection): Promise<void> {
  await haveReserve(connection);
  const [row] = await connection.query('SELECT count(*)::int AS pieces FROM reserve');
  for (let pieces = Number(row?.['pieces']); pieces < PIECES; pieces += 1)
    await connection.query('INSERT INTO reserve VALUES ($1::text::bytea)', [bytesText(randomData(PIECE))]);
}

/** Gives the space back. If `pg_dump` reads the table at this time, the space stays taken. */
export async function releaseReserve(connection: Connection): Promise<void> {
  try {
    await connection.query("BEGIN; SET LOCAL lock_timeout = '500ms'; DROP TABLE IF EXISTS reserve; COMMIT");
  } catch (error) {
    if (connection.lost) throw error;
    await connection.query('ROLLBACK');
  }
}

/** Takes the space again. Returns false if the disk is still full. */
export async function renewReserve(connection: Connection): Promise<boolean> {
  try {
    await fillReserve(connection);
    return true;
  } catch {
    if (!connection.lost) await releaseReserve(connection);
    return false;
  }
}
