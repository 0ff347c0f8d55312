/**
 * A store in one file, to keep elsewhere, and the way back.
 *
 * Promise: the file is there whole or not at all, for its owner only, and never in place of another. The store goes on meanwhile.
 * With it goes the key that signs the ledger, so it has to be guarded like the store itself.
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
import { amend, makeFolder, type Sqlite, syncFolder } from './sqlite.ts';

const KEY = 'ledger.key';

/** `folder` is the store's own. Errors: `invalid` (the file is there already), `unavailable`. */
export async function writeBackup(sqlite: Sqlite, folder: string, file: string): Promise<void> {
  const draft = `${file}.part`;
  try {
    rmSync(draft, { force: true });
    closeSync(openSync(draft, 'wx', 0o600)); // before anything is in it: the copy keeps the mode
    await sqlite.copyTo(draft);
    const key = readFileSync(join(folder, KEY));
    amend(draft, (copy) => {
      copy.run('CREATE TABLE kept (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT');
      copy.run('INSERT INTO kept VALUES (?, ?)', KEY, key);
    });
    sync(draft);
    linkSync(draft, file); // unlike a rename it never takes the place of another
    syncFolder(dirname(resolve(file)));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST'
      ? new CapError('invalid', 'there is a file of that name already: give the backup another one')
      : new CapError(
          'unavailable',
          'the backup cannot be written: check that its folder is there and may be written, and its disk has room',
        );
  } finally {
    rmSync(draft, { force: true });
  }
}

/** In a store that was made of a backup: puts the key back into its file. Returns whether it is such a store. */
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

/** In the transaction of its first opening: only until then it is known to be made of a backup. */
export function dropKey(sqlite: Sqlite): void {
  sqlite.run('DROP TABLE kept');
}

/**
 * Makes a store of a backup, in a folder that is empty or not there yet. What was granted with a limit waits there until a person
 * has looked (`vats.trust`). Errors: `invalid` (the folder holds something), `unavailable`.
 */
export async function restoreStore(file: string, where: { readonly path: string }): Promise<void> {
  const target = join(where.path, 'store.db');
  try {
    makeFolder(resolve(where.path));
    if (readdirSync(where.path).length > 0)
      throw new CapError(
        'invalid',
        'a store is restored into an empty folder: take away what is there, or give another',
      );
    const draft = `${target}.part`;
    copyFileSync(file, draft, constants.COPYFILE_EXCL);
    sync(draft);
    linkSync(draft, target);
    rmSync(draft);
    syncFolder(where.path);
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
