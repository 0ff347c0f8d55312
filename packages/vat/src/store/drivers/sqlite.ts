/**
 * One SQLite database in a folder of ours: the only file that touches `node:sqlite`, and the disk for the store.
 *
 * Promise: what a `transaction` wrote is on the disk when it returns, or nothing of it is. One process at a time: the kernel
 * frees the lock of a killed one. Nobody else on the machine may read it.
 *
 * Each setting has its experiment in reference/store.md §1:
 * - `locking_mode=EXCLUSIVE` comes first, so that the WAL index lives in our memory: no second connection, hence no WAL-reset
 *   bug (SQLite < 3.51.3 loses committed writes with two), and a second host fails at start instead of in the middle.
 * - `synchronous=FULL`: with NORMAL a simulated power cut ran 5,819 uses twice and brought 3 revoked grants back.
 *
 * A trap for whoever adds to this file: POSIX drops *all* of a process's locks on a file when it closes *any* descriptor of it.
 * Never open `store.db` here but through SQLite, not even for an fsync or a copy.
 */
import { chmodSync, closeSync, fsyncSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { CapError } from '../../core/errors.ts';

export interface Sqlite {
  /** Runs one statement; answers how many rows it changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  all(sql: string, ...values: SQLInputValue[]): readonly Readonly<Record<string, unknown>>[];
  /** Everything `body` runs, or nothing, durable on return. An error of the engine comes out as it is, with `body` undone. */
  transaction(body: () => void): void;
  /** Copies all that is committed, also what is while it runs, into a new database; in steps, between which others have their go. */
  copyTo(file: string): Promise<void>;
  /** Moves all of the log into the database and cuts it to nothing: what was deleted is then in neither file. */
  emptyLog(): void;
  close(): void;
}

export interface Schema {
  readonly version: number;
  /** Older ones than this cannot be opened. */
  readonly oldest: number;
  readonly sql: string;
  /** From each older version to the one after it. */
  readonly upgrades: Readonly<Record<number, string>>;
}

export interface SqliteOptions {
  /** Tests: a disk that is full at so many pages of 4 KiB. */
  readonly maxPages?: number;
}

/** A copy that is refused again and again: something else is wrong. */
const mostCopies = 1_000;

const BUSY = 5;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;

export function openSqlite(folder: string, schema: Schema, options: SqliteOptions = {}): Sqlite {
  let database: DatabaseSync | undefined;
  try {
    const file = makeFile(folder);
    database = new DatabaseSync(file, { timeout: 0 });
    configure(database, schema, options);
    syncFolder(folder); // SQLite does not fsync the folder of a new main file: a power cut could forget the name
    return wrap(database);
  } catch (error) {
    database?.close();
    throw explain(error);
  }
}

/** The folder 0700 and the file 0600 before SQLite sees them: its WAL takes the mode of the file. */
function makeFile(folder: string): string {
  makeFolder(resolve(folder));
  const file = join(folder, 'store.db');
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) {
    closeSync(openSync(file, 'wx', 0o600)); // ours alone and new: closing it can drop no lock
  } else {
    if (!lstatSync(file).isFile())
      throw new CapError('invalid', 'the store is not a plain file: give another --state folder');
    chmodSync(file, 0o600);
  }
  return file;
}

/** Step by step: Node's own `recursive` turns for ever where a folder cannot be made (/proc), and each new name needs an fsync. */
export function makeFolder(folder: string): void {
  const above = dirname(folder);
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return syncName(above);
  makeFolder(above);
  mkdirSync(folder, { mode: 0o700 });
  syncFolder(above);
}

/** Of a folder that is there already: who made it may have been killed before its fsync, and a power cut would take the store. */
function syncName(above: string): void {
  try {
    syncFolder(above);
  } catch (error) {
    // A folder that we may not read is none that a host of ours made a name in. A disk that says no is another matter.
    if (/^(?:EIO|ENOSPC|EDQUOT)$/.test(String((error as NodeJS.ErrnoException).code))) throw error;
  }
}

function configure(database: DatabaseSync, schema: Schema, options: SqliteOptions): void {
  // To its end: what a statement changes is committed after its row, and `get` drops the error of that. A switch to WAL answered
  // `wal`, failed, and left a store whose last commit a power cut undid.
  const ask = (pragma: string): unknown => {
    const statement = database.prepare(`PRAGMA ${pragma}`);
    return Object.values(statement.all()[0] ?? {})[0];
  };
  ask('locking_mode=EXCLUSIVE');
  // Before anything is written: a newer Hob's store must be left as it is.
  const version = Number(ask('user_version'));
  if (version !== 0 && version < schema.oldest) {
    throw new CapError(
      'invalid',
      'this store was written by a preview of Hob, before 0.1: give another --state folder, or take this one away',
    );
  }
  if (version > schema.version) {
    throw new CapError(
      'invalid',
      'this store was written by a newer Hob: start that version, or give another --state folder',
    );
  }
  if (ask('journal_mode=WAL') !== 'wal') {
    throw new CapError(
      'unavailable',
      'this file system cannot hold a store (no write-ahead log): give a --state folder on a local disk',
    );
  }
  database.exec(
    'PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON',
  );
  database.exec('PRAGMA journal_size_limit=16777216'); // a WAL grown under load is cut back at the next checkpoint
  // macOS' fsync only reaches the drive's own cache. Elsewhere these two do nothing.
  database.exec('PRAGMA fullfsync=ON; PRAGMA checkpoint_fullfsync=ON');
  if (ask('synchronous') !== 2)
    throw new CapError('unavailable', 'this SQLite cannot commit durably: start Hob with another Node');
  const steps = version === 0 ? [schema.sql] : [];
  for (let from = version; from > 0 && from < schema.version; from += 1) steps.push(schema.upgrades[from] as string);
  if (steps.length > 0)
    database.exec(`BEGIN IMMEDIATE; ${steps.join(';')}; PRAGMA user_version=${schema.version}; COMMIT`);
  database.enableDefensive(true);
  if (options.maxPages !== undefined) ask(`max_page_count=${Math.trunc(options.maxPages)}`);
}

function wrap(database: DatabaseSync): Sqlite {
  const prepared = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  return {
    run: (sql, ...values) => Number(statement(sql).run(...values).changes),
    all: (sql, ...values) => statement(sql).all(...values),
    transaction(body) {
      statement('BEGIN IMMEDIATE').run();
      try {
        body();
        statement('COMMIT').run();
      } catch (error) {
        // SQLite has already rolled back by itself after a full disk or an I/O error.
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    async copyTo(file) {
      // A copy that begins in the middle of a write of ours is refused, with no error of SQLite's ("0, not an error"), before anything
      // is copied: then again. The thread goes round in between, so the write is over.
      for (let tries = 1; ; tries += 1) {
        try {
          await backup(database, file, { rate: 256 });
          return;
        } catch (error) {
          if ((error as { errcode?: number }).errcode !== 0 || tries === mostCopies) throw error;
        }
      }
    },
    emptyLog() {
      const row = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()[0];
      if (row?.['busy'] !== 0) throw new Error('the log is in use');
    },
    close() {
      prepared.clear();
      if (database.isOpen) database.close();
    },
  };
}

/** Changes a database that nobody else has open, in one transaction; it is one plain file before and after. */
export function amend(file: string, change: (sqlite: Sqlite) => void): void {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL');
    const sqlite = wrap(database);
    sqlite.transaction(() => change(sqlite));
  } finally {
    database.close();
  }
}

/** No room: nothing of it was written, and the same may be tried again. An error of fsync is never that. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === FULL;
}

/** The low byte of SQLite's extended code. */
function codeOf(error: unknown): number {
  return ((error as { readonly errcode?: number }).errcode ?? 0) & 0xff;
}

export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return; // a folder cannot be opened there, and NTFS journals names itself
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** What went wrong at opening, with the remedy and without a path. */
function explain(error: unknown): CapError {
  if (error instanceof CapError) return error;
  const code = codeOf(error);
  if (code === BUSY) {
    return new CapError(
      'unavailable',
      'this store is held by another process: stop that host first, or give another --state folder',
    );
  }
  if (code === CORRUPT || code === NOT_A_DATABASE) {
    return new CapError(
      'invalid',
      'this store is damaged or is none of ours: restore a backup, or give another --state folder',
    );
  }
  return new CapError(
    'unavailable',
    'the store cannot be opened: check that its folder may be written and its disk has room',
  );
}
