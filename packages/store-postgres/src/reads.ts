/** Reads the last committed state. */
import type { Query } from '@hob/vat/engine';
import { bytesList, bytesText, textOf, utf8 } from './bytes.ts';
import { type Connection, type Row, ServerError } from './drivers/connection.ts';

/**
 * An upper bound for the keys that begin with `prefix`. No byte of a key is 0xff, because keys are UTF-8. Every prefix
 * ends in a slash.
 */
const after = (prefix: string): string => bytesText(Buffer.concat([utf8(prefix), Buffer.from([0xff])]));
/** A negative limit means no limit, as in SQLite. */
const LIMIT = 'nullif(greatest($2::bigint, -1), -1)';

const cellOf = ({ key, value }: Row): readonly [string, string] => [textOf(key), textOf(value)];

/** Reads from the store. Leaves out the ledger lines after `last`. */
export async function read(connection: Connection, query: Query, last: number): Promise<unknown> {
  switch (query[0]) {
    case 'get':
      return (await valuesOf(connection, [query[1]]))[0];
    case 'getAll':
      return await valuesOf(connection, query[1]);
    case 'scan': {
      const cells = 'SELECT key, value FROM cell WHERE key >= $1::text::bytea AND key < $2::text::bytea ORDER BY key';
      return (await connection.query(cells, [bytesText(utf8(query[1])), after(query[1])])).map(cellOf);
    }
    case 'page': {
      const cells = `SELECT key, value FROM cell WHERE key > $1::text::bytea AND key < $2::text::bytea
        ORDER BY key LIMIT ${LIMIT.replace('$2', '$3')}`;
      const [, prefix, from, limit] = query;
      return (await connection.query(cells, [bytesText(utf8(from)), after(prefix), limit])).map(cellOf);
    }
    case 'lines': {
      const lines = `SELECT seq, bytes FROM line WHERE seq BETWEEN $1::bigint AND $3::bigint ORDER BY seq LIMIT ${LIMIT}`;
      const found = await connection.query(lines, [query[1], query[2], last]);
      return found.map(({ seq, bytes }) => ({ seq: Number(seq), bytes }));
    }
    case 'args': {
      const between = 'SELECT seq, salt, bytes FROM args WHERE seq BETWEEN $1::bigint AND $2::bigint ORDER BY seq';
      const found = await connection.query(between, [query[1], Math.min(query[2], last)]);
      return found.map(({ seq, salt, bytes }) => ({ seq: Number(seq), salt, bytes }));
    }
  }
}

/** When the server got a line, in ms since 1970 by its clock. Undefined for a line of an earlier version of the tables. */
export type LineTime = readonly [seq: number, ms: number | undefined];

const NO_COLUMN = '42703';

/** The times of at most `limit` lines from `from` on. None if the tables are of an earlier version. */
export async function timesOf(connection: Connection, from: number, limit: number): Promise<readonly LineTime[]> {
  const times = `SELECT seq, (extract(epoch FROM at) * 1000)::float8 AS ms FROM line
    WHERE seq >= $1::bigint ORDER BY seq LIMIT ${LIMIT}`;
  try {
    const found = await connection.query(times, [from, limit]);
    return found.map(({ seq, ms }) => [Number(seq), ms === null ? undefined : Number(ms)] as const);
  } catch (error) {
    if (error instanceof ServerError && error.state === NO_COLUMN) return [];
    throw error;
  }
}

async function valuesOf(connection: Connection, keys: readonly string[]): Promise<readonly (string | undefined)[]> {
  const cells = 'SELECT key, value FROM cell WHERE key = ANY ($1::text::bytea[])';
  const found = await connection.query(cells, [bytesList(keys.map(utf8))]);
  const values = new Map(found.map(cellOf));
  return keys.map((key) => values.get(key));
}
