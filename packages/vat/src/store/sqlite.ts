/**
 * Rows in SQLite: the tables, and the one transaction of a commit.
 *
 * The head is stored beside the lines and written with them. So a ledger whose end was cut off, or whose last
 * line was changed, does not verify, although no later line names its hash.
 */
import { CapError } from '../core/errors.ts';
import { folderSigner, hasKey } from '../drivers/keys.ts';
import { BOUND_KEY, lineHash } from './bound.ts';
import { dropKey, unpackKey, writeBackup } from './drivers/backup.ts';
import { reserveIn } from './drivers/reserve.ts';
import { oldSentinel, type Sentinel, sentinelIn } from './drivers/sentinel.ts';
import { isFull, openSqlite, type Sqlite, type SqliteOptions } from './drivers/sqlite.ts';
import { History, type Marks, seenOf } from './history.ts';
import type { Head, LedgerLine, StoredArgs, StoredLine } from './records.ts';
import { type Cells, type Era, Full, type Reads, type Rows, type StoreFacts } from './rows.ts';

/** Increases with each change of the tables. A newer store is refused. 1 was never released. */
const VERSION = 4;

const SCHEMA = `
  CREATE TABLE store (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL,                     -- how often it was opened
    seq   INTEGER NOT NULL,                     -- the head: the last line's number and hash
    hash  TEXT    NOT NULL,
    mark  BLOB                                  -- the state that the ledger continues from
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

/** The identity of the store and how far it has come, for the comparison with its sentinel. */
const HISTORY = `
  CREATE TABLE history (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    store   TEXT    NOT NULL,                   -- an id, made once and copied with every backup
    commits INTEGER NOT NULL,                   -- over all openings
    watched INTEGER NOT NULL,                   -- it has a sentinel: 1 beside its folder, 2 in a folder of its own
    era     INTEGER NOT NULL,                   -- how often it was found to have been put back
    trusted INTEGER NOT NULL                    -- the era that a person has looked at
  ) STRICT;
  INSERT INTO history VALUES (1, '', 0, 0, 0, 0)`;

/** 1 if the cell of `bound.ts` is there. Older stores get it with their next commit. */
const BOUND = 'ALTER TABLE history ADD COLUMN bound INTEGER NOT NULL DEFAULT 0';

export interface RowsOptions extends SqliteOptions {
  /** The folder of the sentinel. */
  readonly sentinel?: string | undefined;
  /** Opens the store for reading only: nothing is counted, and no commit is taken. */
  readonly look?: boolean | undefined;
}

export function sqliteRows(folder: string, options: RowsOptions = {}): Rows {
  const sentinel = options.sentinel === undefined ? undefined : sentinelIn(options.sentinel, folder);
  const schema = {
    checkNew: () => {
      // The key is made after the tables: a store without them beside its key was emptied, and its grants, revocations
      // and ledger would silently be forgotten.
      if (hasKey(folder))
        throw new CapError(
          'invalid',
          'this store was emptied: its key is there, and nothing that it signed. Restore a backup, or give another --state folder',
        );
      const before = sentinel?.storeHere();
      if (before !== undefined)
        throw new CapError(
          'invalid',
          `this store was emptied: its sentinel saw ${before.commits} commits in this folder, and none of them is here. Restore a backup, or give another --state folder`,
        );
      // A program that only looks must not create a store. An empty file has no ledger that it could check.
      if (options.look === true)
        throw new CapError(
          'invalid',
          'there is no store in this folder: its file is empty. Name another --state folder',
        );
    },
    version: VERSION,
    oldest: 2,
    sql: `${SCHEMA};${HISTORY};${BOUND}`,
    upgrades: { 2: HISTORY, 3: BOUND },
  };
  const sqlite = openSqlite(folder, schema, options);
  try {
    return rowsOf(folder, sqlite, sentinel, options.look === true);
  } catch (error) {
    sentinel?.close();
    sqlite.close();
    throw error;
  }
}

function rowsOf(folder: string, sqlite: Sqlite, sentinel: Sentinel | undefined, look: boolean): Rows {
  const backup = unpackKey(sqlite, folder);
  // Makes the key if there is none. The lock is ours, so nobody else makes one at the same time.
  const signer = folderSigner(folder);
  const reserve = reserveIn(folder);
  // After a crash, the log may still hold deleted data.
  sqlite.emptyLog();
  const found = { facts: factsOf(sqlite), sentinel, old: oldSentinel(folder) };
  const hashOf = (seq: number): string => hashOfLine(sqlite, seq);
  const history = new History({ ...found, seen: seenOf(found), signer, backup, hashOf });
  if (!look) begin(sqlite, history, backup);
  // The log held the key of the backup.
  if (backup) sqlite.emptyLog();
  if (!look) reserve.fill();
  const [row] = sqlite.all('SELECT epoch, seq, hash, mark FROM store');
  return {
    ...readsOf(sqlite),
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
      if (look) throw new Error('opened to be read only');
      append(sqlite, history, { epoch, lines, head, cells });
    },
    scrub: () => sqlite.emptyLog(),
    release: () => reserve.release(),
    refill: () => reserve.renew(),
    close() {
      if (!look) history.note();
      sentinel?.close();
      sqlite.close();
    },
  };
}

/** What the store says of itself, before this opening changes it. */
function factsOf(sqlite: Sqlite): StoreFacts {
  const [row] = sqlite.all('SELECT store, commits, watched, era, trusted, bound FROM history');
  const [head] = sqlite.all('SELECT seq, hash FROM store');
  const [last] = sqlite.all('SELECT max(seq) AS seq FROM line');
  const [second] = sqlite.all('SELECT min(seq) AS seq FROM line WHERE seq > 1');
  const number = (value: unknown): number => Number(value ?? 0);
  return {
    store: String(row?.['store']),
    commits: number(row?.['commits']),
    watched: number(row?.['watched']),
    era: { now: number(row?.['era']), trusted: number(row?.['trusted']) },
    isBound: row?.['bound'] === 1,
    bound: readsOf(sqlite).get(BOUND_KEY),
    head: { seq: number(head?.['seq']), hash: String(head?.['hash']) },
    ledger: {
      firstHash: hashOfLine(sqlite, 1),
      last: number(last?.['seq']),
      lastHash: hashOfLine(sqlite, number(last?.['seq'])),
      second: number(second?.['seq']),
    },
  };
}

const hashOfLine = (sqlite: Sqlite, seq: number): string =>
  lineHash(sqlite.all('SELECT bytes FROM line WHERE seq = ?', seq)[0]?.['bytes'] as Uint8Array | undefined);

/** Counts this opening. `backup`: it is the first one of a store made from a backup, which brought its key in a table. */
function begin(sqlite: Sqlite, history: History, backup: boolean): void {
  const marks = history.begin();
  sqlite.transaction(() => {
    sqlite.run('UPDATE store SET epoch = epoch + 1');
    if (marks === undefined) return;
    if (backup) dropKey(sqlite);
    const { store, commits, watched, era } = marks;
    sqlite.run('UPDATE history SET store = ?, commits = ?, watched = ?, era = ?, bound = 1', store, commits, watched, era); // biome-ignore format: one line
    writeBound(sqlite, marks);
  });
  history.begun();
}

function writeBound(sqlite: Sqlite, { bound }: Marks): void {
  if (bound !== undefined) writeCells(sqlite, new Map([[BOUND_KEY, bound]]));
}

interface Commit {
  readonly epoch: number;
  readonly lines: readonly LedgerLine[];
  readonly head: Head;
  readonly cells: Cells;
}

function append(sqlite: Sqlite, history: History, { epoch, lines, head, cells }: Commit): void {
  try {
    const cut = lines.reduce((most, { drops = 0 }) => Math.max(most, drops), 0);
    if (cut > 0) history.beforeCut();
    const marks = history.next(lines, head, cut);
    sqlite.transaction(() => {
      writeLines(sqlite, lines, cut);
      writeCells(sqlite, cells);
      const { seq, hash, mark = null } = head;
      // A commit of an older opening changes no row here, so its transaction fails.
      if (sqlite.run('UPDATE store SET seq = ?, hash = ?, mark = ? WHERE epoch = ?', seq, hash, mark, epoch) !== 1)
        throw new Error('fenced');
      sqlite.run('UPDATE history SET commits = ?', marks.commits);
      writeBound(sqlite, marks);
    });
    history.counted(head, cut);
  } catch (error) {
    throw isFull(error) ? new Full() : error;
  }
}

function writeLines(sqlite: Sqlite, lines: readonly LedgerLine[], cut: number): void {
  for (const { seq, bytes, args, forgets } of lines) {
    sqlite.run('INSERT INTO line VALUES (?, ?)', seq, bytes);
    if (args !== undefined) sqlite.run('INSERT INTO args VALUES (?, ?, ?)', seq, args.salt, args.bytes);
    if (forgets !== undefined) sqlite.run('DELETE FROM args WHERE seq = ?', forgets);
  }
  if (cut === 0) return;
  sqlite.run('DELETE FROM line WHERE seq BETWEEN 2 AND ?', cut);
  sqlite.run('DELETE FROM args WHERE seq <= ?', cut);
}

function writeCells(sqlite: Sqlite, cells: Cells): void {
  for (const [key, value] of cells) {
    if (value === undefined) sqlite.run('DELETE FROM cell WHERE key = ?', Buffer.from(key));
    else
      sqlite.run(
        'INSERT INTO cell VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
        Buffer.from(key),
        value,
      );
  }
}

const cellsByKey = 'SELECT key, value FROM cell WHERE key >= ? AND key < ? ORDER BY key';
const cellsAfter = 'SELECT key, value FROM cell WHERE key > ? AND key < ? ORDER BY key LIMIT ?';
const linesFrom = 'SELECT seq, bytes FROM line WHERE seq >= ? ORDER BY seq LIMIT ?';
const argsBetween = 'SELECT seq, salt, bytes FROM args WHERE seq BETWEEN ? AND ? ORDER BY seq';

function readsOf(sqlite: Sqlite): Reads {
  const get = (key: string): string | undefined =>
    sqlite.all('SELECT value FROM cell WHERE key = ?', Buffer.from(key))[0]?.['value'] as string | undefined;
  return {
    get,
    getAll: (keys) => keys.map(get),
    scan: (prefix) => sqlite.all(cellsByKey, Buffer.from(prefix), after(prefix)).map(cellOf),
    page: (prefix, from, limit) => sqlite.all(cellsAfter, Buffer.from(from), after(prefix), limit).map(cellOf),
    lines: (from, limit) => sqlite.all(linesFrom, from, limit) as unknown as readonly StoredLine[],
    args: (from, to) => sqlite.all(argsBetween, from, to) as unknown as readonly StoredArgs[],
  };
}

/**
 * The first key that does not begin with `prefix`. Every prefix of ours ends in a slash, and no byte of a key
 * is 0xff.
 */
const after = (prefix: string): Buffer => Buffer.concat([Buffer.from(prefix), Buffer.from([0xff])]);

const cellOf = ({ key, value }: Readonly<Record<string, unknown>>): readonly [key: string, value: string] => [
  Buffer.from(key as Uint8Array).toString('utf8'),
  value as string,
];
