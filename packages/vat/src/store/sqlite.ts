/**
 * Rows in SQLite: the tables, and the one transaction that a commit is.
 *
 * The head stands beside the lines and is written with them. So a ledger whose end was cut off, or whose last line was
 * changed, does not verify, although no later line vouches for it.
 */
import { folderSigner } from '../drivers/keys.ts';
import { dropKey, unpackKey, writeBackup } from './drivers/backup.ts';
import { reserveIn } from './drivers/reserve.ts';
import { oldSentinel, sentinelIn } from './drivers/sentinel.ts';
import { isFull, openSqlite, type SqliteOptions } from './drivers/sqlite.ts';
import { openHistory } from './history.ts';
import type { StoredArgs, StoredLine } from './records.ts';
import { type Era, Full, type Rows } from './rows.ts';

/** Counts up with each change of the tables; a newer store is refused. 1 was never released. */
const VERSION = 4;

const SCHEMA = `
  CREATE TABLE store (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL,                     -- how often it was opened
    seq   INTEGER NOT NULL,                     -- the head: the last line's number and hash
    hash  TEXT    NOT NULL,
    mark  BLOB                                  -- what the ledger goes on from
  ) STRICT;
  INSERT INTO store VALUES (1, 0, 0, '', NULL);
  CREATE TABLE line (
    seq   INTEGER PRIMARY KEY,
    bytes BLOB    NOT NULL                      -- exactly what was hashed
  ) STRICT;
  CREATE TABLE args (
    seq   INTEGER PRIMARY KEY,                  -- of the line that commits to them
    salt  BLOB    NOT NULL,
    bytes BLOB    NOT NULL
  ) STRICT;
  CREATE TABLE cell (
    key   BLOB    PRIMARY KEY,                  -- UTF-8, so that the order of bytes is the order of keys
    value TEXT    NOT NULL
  ) STRICT, WITHOUT ROWID`;

/** Which store it is and how far it came: what its sentinel is compared with. */
const HISTORY = `
  CREATE TABLE history (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    store   TEXT    NOT NULL,                   -- made once, copied with every backup
    commits INTEGER NOT NULL,                   -- over all openings
    watched INTEGER NOT NULL,                   -- it has a sentinel: 1 beside its folder, 2 in a folder of its own
    era     INTEGER NOT NULL,                   -- how often it was found to have been put back
    trusted INTEGER NOT NULL                    -- the era that a person has looked at
  ) STRICT;
  INSERT INTO history VALUES (1, '', 0, 0, 0, 0)`;

/** Whether the cell is there that says which line is the last: stores of before get it with their next commit. */
const BOUND = 'ALTER TABLE history ADD COLUMN bound INTEGER NOT NULL DEFAULT 0';

export interface RowsOptions extends SqliteOptions {
  /** The folder of the sentinel. */
  readonly sentinel?: string | undefined;
  /** To be read only: nothing is counted, and no commit is taken. */
  readonly look?: boolean | undefined;
}

export function sqliteRows(folder: string, options: RowsOptions = {}): Rows {
  const schema = {
    version: VERSION,
    oldest: 2,
    sql: `${SCHEMA};${HISTORY};${BOUND}`,
    upgrades: { 2: HISTORY, 3: BOUND },
  };
  const sqlite = openSqlite(folder, schema, options);
  const sentinel = options.sentinel === undefined ? undefined : sentinelIn(options.sentinel, folder);
  try {
    const backup = unpackKey(sqlite, folder);
    const signer = folderSigner(folder); // the lock is ours: nobody else makes one at the same time
    const reserve = reserveIn(folder);
    sqlite.emptyLog(); // a crash may have left in it what was deleted
    const also = (): void => {
      if (backup) dropKey(sqlite);
    };
    const history = openHistory({
      sqlite,
      sentinel,
      old: oldSentinel(folder),
      backup,
      look: options.look === true,
      also,
      signer,
    });
    if (backup) sqlite.emptyLog(); // it had the key in it
    if (options.look !== true) reserve.fill();
    const [row] = sqlite.all('SELECT epoch, seq, hash, mark FROM store');
    const get = (key: string): string | undefined =>
      sqlite.all('SELECT value FROM cell WHERE key = ?', Buffer.from(key))[0]?.['value'] as string | undefined;
    return {
      epoch: Number(row?.['epoch']),
      head: Object.freeze({
        seq: Number(row?.['seq']),
        hash: String(row?.['hash']),
        mark: (row?.['mark'] as Uint8Array | null) ?? undefined,
      }),
      signer,
      get era(): Era {
        return history.era;
      },
      doubt: history.doubt,
      trust() {
        sqlite.transaction(() => sqlite.run('UPDATE history SET trusted = era'));
        history.trusted();
      },
      backup: (file) => writeBackup(sqlite, folder, file),
      append(epoch, lines, head, cells) {
        if (options.look === true) throw new Error('opened to be read only');
        try {
          const cut = lines.reduce((most, { drops = 0 }) => Math.max(most, drops), 0);
          if (cut > 0) history.beforeCut();
          sqlite.transaction(() => {
            for (const { seq, bytes, args, forgets } of lines) {
              sqlite.run('INSERT INTO line VALUES (?, ?)', seq, bytes);
              if (args !== undefined) sqlite.run('INSERT INTO args VALUES (?, ?, ?)', seq, args.salt, args.bytes);
              if (forgets !== undefined) sqlite.run('DELETE FROM args WHERE seq = ?', forgets);
            }
            if (cut > 0) {
              sqlite.run('DELETE FROM line WHERE seq BETWEEN 2 AND ?', cut);
              sqlite.run('DELETE FROM args WHERE seq <= ?', cut);
            }
            for (const [key, value] of cells) {
              if (value === undefined) sqlite.run('DELETE FROM cell WHERE key = ?', Buffer.from(key));
              else
                sqlite.run(
                  'INSERT INTO cell VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
                  Buffer.from(key),
                  value,
                );
            }
            const { seq, hash, mark = null } = head;
            // The fence is in the same transaction as the rows: what an engine for several hosts needs, and costs nothing here.
            if (
              sqlite.run('UPDATE store SET seq = ?, hash = ?, mark = ? WHERE epoch = ?', seq, hash, mark, epoch) !== 1
            )
              throw new Error('fenced');
            history.count(head, cut);
          });
          history.counted(head, cut);
        } catch (error) {
          throw isFull(error) ? new Full() : error;
        }
      },
      lines: (from, limit) =>
        sqlite.all(
          'SELECT seq, bytes FROM line WHERE seq >= ? ORDER BY seq LIMIT ?',
          from,
          limit,
        ) as unknown as readonly StoredLine[],
      get,
      getAll: (keys) => keys.map(get),
      scan: (prefix) =>
        sqlite
          .all(
            'SELECT key, value FROM cell WHERE key >= ? AND key < ? ORDER BY key',
            Buffer.from(prefix),
            after(prefix),
          )
          .map(({ key, value }) => [Buffer.from(key as Uint8Array).toString('utf8'), value as string] as const),
      page: (prefix, from, limit) =>
        sqlite
          .all(
            'SELECT key, value FROM cell WHERE key > ? AND key < ? ORDER BY key LIMIT ?',
            Buffer.from(from),
            after(prefix),
            limit,
          )
          .map(({ key, value }) => [Buffer.from(key as Uint8Array).toString('utf8'), value as string] as const),
      args: (from, to) =>
        sqlite.all(
          'SELECT seq, salt, bytes FROM args WHERE seq BETWEEN ? AND ? ORDER BY seq',
          from,
          to,
        ) as unknown as readonly StoredArgs[],
      scrub: () => sqlite.emptyLog(),
      release: () => reserve.release(),
      refill: () => reserve.renew(),
      close() {
        history.note();
        sentinel?.close();
        sqlite.close();
      },
    };
  } catch (error) {
    sentinel?.close();
    sqlite.close();
    throw error;
  }
}

/** The first key that does not begin with `prefix`: every prefix of ours ends in a slash, and what follows a slash is no byte of 0xff. */
const after = (prefix: string): Buffer => Buffer.concat([Buffer.from(prefix), Buffer.from([0xff])]);
