/**
 * A backup: a store in one file, to keep elsewhere, and the way back.
 *
 * Promise: the file is written completely or not at all, is readable for its owner only, and never replaces
 * another file. The store stays in use meanwhile. The file contains the key that signs the ledger, so it must
 * be guarded like the store itself.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CapError } from '../../core/errors.ts';
import { takeOptions } from '../../core/options.ts';
import { draftOf, removeDrafts } from './drafts.ts';
import { amend, makeFolder, type Sqlite, syncFolder } from './sqlite.ts';

const KEY = 'ledger.key';

/**
 * Writes a backup. `folder` is the folder of the store. Errors: `invalid` (the file exists), `unavailable`.
 */
export async function writeBackup(sqlite: Sqlite, folder: string, file: string): Promise<void> {
  const draft = draftOf(file);
  try {
    removeDrafts(file);
    closeSync(openSync(draft, 'wx', 0o600)); // while it is empty: the copy keeps the mode
    await sqlite.copyTo(draft);
    const key = readFileSync(join(folder, KEY));
    amend(draft, (copy) => {
      copy.run('CREATE TABLE kept (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT');
      copy.run('INSERT INTO kept VALUES (?, ?)', KEY, key);
    });
    sync(draft);
    linkSync(draft, file); // unlike a rename, it never replaces another file
    syncFolder(dirname(resolve(file)));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST'
      ? new CapError('invalid', 'a file of that name exists already: give the backup another name')
      : new CapError(
          'unavailable',
          'the backup cannot be written: check that its folder is there and may be written, and its disk has room',
        );
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * In a store that was made from a backup: writes the key into its file. Returns true if it is such a store.
 */
export function unpackKey(sqlite: Sqlite, folder: string): boolean {
  const [table] = sqlite.all("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'kept'");
  if (table === undefined) return false;
  const [row] = sqlite.all('SELECT bytes FROM kept WHERE name = ?', KEY);
  const file = join(folder, KEY);
  if (row !== undefined && !existsSync(file)) {
    const descriptor = openSync(file, 'wx', 0o600);
    try {
      writeSync(descriptor, row['bytes'] as Uint8Array);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    syncFolder(folder);
  }
  return true;
}

/** Runs in the transaction of the first opening. Until then the store is known to be made from a backup. */
export function dropKey(sqlite: Sqlite): void {
  sqlite.run('DROP TABLE kept');
}

/**
 * Makes a store from a backup, in a folder that is empty or does not exist. Grants with a limit are suspended
 * there until a person has looked (`vats.trust`). Errors: `invalid` (the folder is not empty), `unavailable`.
 */
export async function restoreStore(file: string, where: { readonly path: string }): Promise<void> {
  const { path } = takeOptions(where, 'restoreStore', { path: true });
  const target = join(path, 'store.db');
  try {
    makeFolder(resolve(path));
    removeDrafts(target);
    if (readdirSync(path).length > 0)
      throw new CapError('invalid', 'a store can be restored only into an empty folder: empty it, or name another');
    const draft = draftOf(target);
    copyFileSync(file, draft, constants.COPYFILE_EXCL);
    sync(draft);
    linkSync(draft, target);
    rmSync(draft);
    syncFolder(path);
  } catch (error) {
    if (error instanceof CapError) throw error;
    throw new CapError(
      'unavailable',
      'the backup cannot be restored: check that the file can be read and the folder made',
    );
  }
}

function sync(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
