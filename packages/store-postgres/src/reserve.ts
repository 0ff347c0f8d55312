/**
 * Room that is held for the commits that end authority: on a full disk a grant can still be revoked.
 *
 * `DROP TABLE` gives the file of a table back to the disk as soon as it is committed. Deleted rows would not. `TRUNCATE` makes
 * new files first, and an index has a page from its begin: on a disk without a free page that fails (`full-disk.test.ts`).
 */

import { bytesText } from './bytes.ts';
import type { Connection } from './drivers/connection.ts';
import { randomData } from './drivers/random.ts';
import { RESERVE } from './schema.ts';

const PIECES = 4;
const PIECE = 1 << 20;

/** Makes the table where it is missing: it was given back, or a backup left it out. */
async function haveReserve(connection: Connection): Promise<void> {
  const [found] = await connection.query(`SELECT to_regclass('reserve') IS NOT NULL AS found`);
  if (found?.['found'] !== true) await connection.query(RESERVE);
}

export async function fillReserve(connection: Connection): Promise<void> {
  await haveReserve(connection);
  const [row] = await connection.query('SELECT count(*)::int AS pieces FROM reserve');
  for (let pieces = Number(row?.['pieces']); pieces < PIECES; pieces += 1)
    await connection.query('INSERT INTO reserve VALUES ($1::text::bytea)', [bytesText(randomData(PIECE))]);
}

/** Gives the room back. Whoever copies the database meanwhile (`pg_dump`) may hold the table: then it stays. */
export async function releaseReserve(connection: Connection): Promise<void> {
  try {
    await connection.query("BEGIN; SET LOCAL lock_timeout = '500ms'; DROP TABLE IF EXISTS reserve; COMMIT");
  } catch (error) {
    if (connection.lost) throw error;
    await connection.query('ROLLBACK');
  }
}

/** Holds room again. Returns false if there is none. */
export async function renewReserve(connection: Connection): Promise<boolean> {
  try {
    await fillReserve(connection);
    return true;
  } catch {
    if (!connection.lost) await releaseReserve(connection);
    return false;
  }
}
