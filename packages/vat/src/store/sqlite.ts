/**
 * Rows in SQLite: the tables, and the one transaction that a commit is.
 *
 * The head stands beside the lines and is written with them. So a ledger whose end was cut off, or whose last line was
 * changed, does not verify, although no later line vouches for it.
 */
import { openSqlite, type SqliteOptions } from '../drivers/sqlite.ts';
import type { Rows } from './engine.ts';
import type { StoredLine } from './store.ts';

/** Counts up with each change of the tables; a newer store is refused, an older one migrated. */
const VERSION = 1;

const SCHEMA = `
  CREATE TABLE store (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL,                     -- how often it was opened
    seq   INTEGER NOT NULL,                     -- the head: the last line's number and hash
    hash  TEXT    NOT NULL
  ) STRICT;
  INSERT INTO store VALUES (1, 0, 0, '');
  CREATE TABLE line (
    seq   INTEGER PRIMARY KEY,
    bytes BLOB    NOT NULL                      -- exactly what was hashed
  ) STRICT;
  CREATE TABLE cell (
    key   BLOB    PRIMARY KEY,                  -- UTF-8, so that the order of bytes is the order of keys
    value TEXT    NOT NULL
  ) STRICT, WITHOUT ROWID`;

export function sqliteRows(folder: string, options: SqliteOptions = {}): Rows {
  const sqlite = openSqlite(folder, { version: VERSION, sql: SCHEMA }, options);
  try {
    sqlite.transaction(() => sqlite.run('UPDATE store SET epoch = epoch + 1'));
    const [row] = sqlite.all('SELECT epoch, seq, hash FROM store');
    return {
      epoch: Number(row?.['epoch']),
      head: Object.freeze({ seq: Number(row?.['seq']), hash: String(row?.['hash']) }),
      append(epoch, lines, head, cells) {
        sqlite.transaction(() => {
          for (const { seq, bytes } of lines) sqlite.run('INSERT INTO line VALUES (?, ?)', seq, bytes);
          for (const [key, value] of cells) {
            if (value === undefined) sqlite.run('DELETE FROM cell WHERE key = ?', Buffer.from(key));
            else sqlite.run('INSERT INTO cell VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value', Buffer.from(key), value);
          }
          // The fence is in the same transaction as the rows: what an engine for several hosts needs, and costs nothing here.
          if (sqlite.run('UPDATE store SET seq = ?, hash = ? WHERE epoch = ?', head.seq, head.hash, epoch) !== 1)
            throw new Error('fenced');
        });
      },
      lines: (from, limit) =>
        sqlite.all(
          'SELECT seq, bytes FROM line WHERE seq >= ? ORDER BY seq LIMIT ?',
          from,
          limit,
        ) as unknown as readonly StoredLine[],
      get: (key) => sqlite.all('SELECT value FROM cell WHERE key = ?', Buffer.from(key))[0]?.['value'] as string | undefined,
      scan: (prefix) =>
        sqlite
          .all('SELECT key, value FROM cell WHERE key >= ? AND key < ? ORDER BY key', Buffer.from(prefix), after(prefix))
          .map(({ key, value }) => [Buffer.from(key as Uint8Array).toString('utf8'), value as string] as const),
      close: () => sqlite.close(),
    };
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** The first key that does not begin with `prefix`: every prefix of ours ends in a slash, and what follows a slash is no byte of 0xff. */
const after = (prefix: string): Buffer => Buffer.concat([Buffer.from(prefix), Buffer.from([0xff])]);
