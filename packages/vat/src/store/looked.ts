/**
 * A store on disk that is only read, in the thread of the caller. No vat waits for it, so it needs no other thread. To
 * start one takes 40 ms of processor time.
 */
import { CapError } from '../core/errors.ts';
import { type Disk, diskOf } from './disk.ts';
import { damaged, isDamage } from './drivers/sqlite.ts';
import { sqliteRows } from './sqlite.ts';

/** Opens a store to be read. Errors, also of the methods of the disk: `unavailable`, `invalid`. */
export function lookedDisk(folder: string, sentinel: string | undefined): Disk {
  const disk = guarded(() => diskOf(() => sqliteRows(folder, { sentinel, look: true })));
  return Object.freeze({
    ...disk,
    opened: disk.opened,
    signer: disk.signer,
    read: (...query) => guarded(() => disk.read(...query)),
    readLater: async (...query) => guarded(() => disk.read(...query)),
    backup: (file) => disk.backup(file).catch((error: unknown) => Promise.reject(errorOf(error))),
    close: async () => {
      await disk.close();
    },
  } satisfies Disk);
}

function guarded<R>(act: () => R): R {
  try {
    return act();
  } catch (error) {
    throw errorOf(error);
  }
}

const trouble = 'the store cannot be read: check its disk, and that its folder may be read';

/** Replaces an error that is not a `CapError`: it comes from SQLite or is a bug, and may name files of this machine. */
function errorOf(error: unknown): CapError {
  if (error instanceof CapError) return error;
  return isDamage(error) ? damaged() : new CapError('unavailable', trouble);
}
