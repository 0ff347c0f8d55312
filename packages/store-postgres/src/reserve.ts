/**
 * Room that is held for the commits that end authority: on a full disk a grant can still be revoked.
 *
 * `TRUNCATE` gives the file of a table back to the disk as soon as it is committed; deleted rows would not.
 */

import { bytesText } from './bytes.ts';
import type { Connection } from './drivers/connection.ts';
import { systemBytes } from './drivers/random.ts';

const PIECES = 4;
const PIECE = 1 << 20;

export async function fillReserve(connection: Connection): Promise<void> {
  const [row] = await connection.query('SELECT count(*)::int AS pieces FROM reserve');
  for (let pieces = Number(row?.['pieces']); pieces < PIECES; pieces += 1)
    await connection.query('INSERT INTO reserve VALUES ($1::text::bytea)', [bytesText(systemBytes(PIECE))]);
}

/** Gives the room back. Returns false if there was none. */
export async function releaseReserve(connection: Connection): Promise<boolean> {
  const [row] = await connection.query('SELECT count(*)::int AS pieces FROM reserve');
  if (Number(row?.['pieces']) === 0) return false;
  await connection.query('TRUNCATE reserve');
  return true;
}

/** Holds room again. Returns false if there is none. */
export async function renewReserve(connection: Connection): Promise<boolean> {
  try {
    await fillReserve(connection);
    return true;
  } catch {
    if (!connection.lost) await connection.query('TRUNCATE reserve').catch(() => {});
    return false;
  }
}
