/**
 * One SQLite database in a folder of ours. This is the only file that uses `node:sqlite` and the disk for the
 * store.
 *
 * Promise: everything that a `transaction` wrote is on the disk when it returns, or nothing of it. Only one
 * process at a time has the store; the kernel frees the lock of a killed one. No other user of the machine
 * may read it.
 *
 * Two settings, with their reasons (docs/measurements/store.md):
 * - `locking_mode=EXCLUSIVE` comes first, so that the WAL index lies in our memory. Then there is no second
 *   connection, and not the WAL-reset bug of SQLite before 3.51.3, which loses committed writes with two. And
 *   a second host fails at its start, not later.
 * - `synchronous=FULL`: with NORMAL, a simulated power cut ran 5,819 uses twice and brought 3 revoked grants
 *   back.
 *
 * A trap: POSIX drops *all* locks of a process on a file when the process closes *any* descriptor of it.
 * Never open `store.db` except through SQLite, not even for an fsync or a copy.
 */
import { chmodSync, closeSync, fsyncSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { CapError } from '../../core/errors.ts';

export interface Sqlite {
  /** Runs one statement. Returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number;
  all(sql: string, ...values: SQLInputValue[]): readonly Readonly<Record<string, unknown>>[];
  /**
   * Runs `body` in one transaction: all or nothing, durable on return. An error of the engine is thrown on,
   * with `body` undone.
   */
  transaction(body: () => void): void;
  /**
   * Copies everything committed into a new database, including commits made meanwhile. It works in steps, and
   * other work runs between them.
   */
  copyTo(file: string): Promise<void>;
  /** Moves the whole log into the database and empties it. Deleted data is then in neither file. */
  emptyLog(): void;
  close(): void;
}

export interface Schema {
  /** Is called before the tables of a new store are made, and throws if it is none. */
  readonly checkNew?: () => void;
  readonly version: number;
  /** Versions older than this cannot be opened. */
  readonly oldest: number;
  readonly sql: string;
  /** The statements that lead from each older version to the next. */
  readonly upgrades: Readonly<Record<number, string>>;
}

export interface SqliteOptions {
  /** For tests: the disk is full at this many pages of 4 KiB. */
  readonly maxPages?: number;
}

/** Attempts of a copy. If more are refused, something else is wrong. */
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
    syncFolder(folder); // SQLite does not fsync the folder of a new main file, and a power cut could lose the name
    return wrap(database);
  } catch (error) {
    database?.close();
    throw explain(error);
  }
}

/** Makes the folder 0700 and the file 0600 before SQLite opens them: its WAL takes the mode of the file. */
function makeFile(folder: string): string {
  makeFolder(resolve(folder));
  const file = join(folder, 'store.db');
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) {
    closeSync(openSync(file, 'wx', 0o600)); // new and ours alone, so closing it drops no lock
  } else {
    if (!lstatSync(file).isFile())
      throw new CapError('invalid', 'the store is not a plain file: give another --state folder');
    chmodSync(file, 0o600);
  }
  return file;
}

/**
 * Makes the folders one by one. Node's `recursive` never returns if a folder cannot be made (/proc), and each
 * new name needs an fsync.
 */
export function makeFolder(folder: string): void {
  const above = dirname(folder);
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return syncName(above);
  makeFolder(above);
  mkdirSync(folder, { mode: 0o700 });
  syncFolder(above);
}

/**
 * Syncs a folder that exists already. The process that made it may have been killed before its fsync, and a
 * power cut would lose the store.
 */
function syncName(above: string): void {
  try {
    syncFolder(above);
  } catch (error) {
    // If we may not read the folder, none of our hosts made a name in it. An error of the disk is another
    // matter.
    if (/^(?:EIO|ENOSPC|EDQUOT)$/.test(String((error as NodeJS.ErrnoException).code))) throw error;
  }
}

function configure(database: DatabaseSync, schema: Schema, options: SqliteOptions): void {
  // Runs the statement to its end. Its changes are committed after its row, and `get` drops an error of that.
  // A switch to WAL once returned `wal`, failed, and left a store whose last commit a power cut undid.
  const ask = (pragma: string): unknown => {
    const statement = database.prepare(`PRAGMA ${pragma}`);
    return Object.values(statement.all()[0] ?? {})[0];
  };
  ask('locking_mode=EXCLUSIVE');
  // Before anything is written: the store of a newer Hob must stay as it is.
  const version = Number(ask('user_version'));
  if (version !== 0 && version < schema.oldest) {
    throw new CapError(
      'invalid',
      'this store was written by a preview of Hob, before 0.1: give another --state folder, or remove this one',
    );
  }
  if (version > schema.version) {
    throw new CapError(
      'invalid',
      'this store was written by a newer Hob: start that version, or give another --state folder',
    );
  }
  if (version === 0) schema.checkNew?.();
  if (ask('journal_mode=WAL') !== 'wal') {
    throw new CapError(
      'unavailable',
      'this file system cannot hold a store (no write-ahead log): give a --state folder on a local disk',
    );
  }
  database.exec(
    'PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON',
  );
  database.exec('PRAGMA journal_size_limit=16777216'); // a WAL that grew under load is cut back at the next checkpoint
  // The fsync of macOS reaches only the drive's own cache. Elsewhere these two do nothing.
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
        // SQLite has already rolled back after a full disk or an I/O error.
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    async copyTo(file) {
      // SQLite refuses a copy that begins during a write of ours, with the error "0, not an error", before
      // anything is copied. Then we try again. Other work of the thread runs in between, so the write is
      // over.
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

/**
 * The file that a host on this folder holds: its store, or the note that its store lies in a database elsewhere.
 * Undefined if there is none.
 */
export function heldFile(folder: string): string | undefined {
  const isThere = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  return ['store.db', 'store.elsewhere'].map((name) => join(folder, name)).find(isThere);
}

/**
 * Notes in the folder of a host that its store lies elsewhere, and holds the folder as a store would hold it, until the
 * function that it returns is called. Errors: `unavailable` (another process holds it, or it cannot be written).
 */
export function holdElsewhere(folder: string): () => void {
  const file = join(folder, 'store.elsewhere');
  let database: DatabaseSync | undefined;
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) closeSync(openSync(file, 'wx', 0o600));
    database = new DatabaseSync(file, { timeout: 0 });
    // The first write takes the lock, and this mode keeps it.
    database.exec('PRAGMA locking_mode=EXCLUSIVE; PRAGMA user_version=1');
    syncFolder(folder);
    return () => database?.close();
  } catch (error) {
    database?.close();
    throw explain(error);
  }
}

/**
 * Whether another process has the store of this folder. The file is only read, and never waited for. A store that
 * cannot be read is held by nobody: no host could have opened it.
 */
export function isStoreHeld(folder: string): boolean {
  const file = heldFile(folder);
  if (file === undefined) return false;
  let database: DatabaseSync | undefined;
  try {
    // To open a FIFO would wait for ever.
    if (!statSync(file).isFile()) return false;
    database = new DatabaseSync(file, { timeout: 0, readOnly: true });
    database.prepare('PRAGMA locking_mode=EXCLUSIVE').all();
    database.prepare('PRAGMA user_version').all();
    return false;
  } catch (error) {
    return codeOf(error) === BUSY;
  } finally {
    database?.close();
  }
}

/**
 * Changes a database that nobody else has open, in one transaction. It is one plain file before and after.
 */
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

/**
 * True if the disk is full. Nothing was written, and the same may be tried again. An error of fsync is never
 * this.
 */
export function isFull(error: unknown): boolean {
  return codeOf(error) === FULL;
}

/** True if the file is not what SQLite wrote: a page was changed, or it is another file. */
export const isDamage = (error: unknown): boolean => [CORRUPT, NOT_A_DATABASE].includes(codeOf(error));

export const damaged = (): CapError =>
  new CapError(
    'invalid',
    'this store is damaged or was not written by Hob: restore a backup, or give another --state folder',
  );

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

/** Returns the error of an opening, with the remedy and without a path. */
function explain(error: unknown): CapError {
  if (error instanceof CapError) return error;
  const code = codeOf(error);
  if (isDamage(error)) return damaged();
  if (code === BUSY) {
    return new CapError(
      'unavailable',
      'another process uses this store: stop that host first, or give another --state folder',
    );
  }
  return new CapError(
    'unavailable',
    'the store cannot be opened: check that its folder may be written and its disk has room',
  );
}
