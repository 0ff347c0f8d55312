/** A disk in a thread of its own. Commits and long reads go there and come back; a short read blocks. */
import { folderSigner, type Signer } from '../drivers/keys.ts';
import type { CommitOutcome, Disk, OpenedStore } from './disk.ts';
import { STORE_THREAD, startThread, type Thread } from './drivers/thread.ts';
import { packed } from './parcel.ts';
import type { RowsOptions } from './sqlite.ts';

export async function threadedDisk(folder: string, options: RowsOptions = {}): Promise<Disk> {
  const thread = await startThread(STORE_THREAD, { folder, options });
  // The lock is ours by now, so nobody else makes a key at the same time.
  return diskIn(thread, () => folderSigner(folder));
}

/** The thread has ended. */
const failed = (done: number): CommitOutcome => ({ status: 'failed', done, onlyEndings: false });

/**
 * A disk whose thread serves `opened`, `write` (a parcel), `read`, `scrub`, `refill`, `reopen`, `trust` and `backup`, and
 * `confirm` if it is leased. A notice of the thread means that the disk has failed.
 */
export async function diskIn(thread: Thread, signer: () => Signer): Promise<Disk> {
  try {
    const opened = thread.ask('opened') as OpenedStore;
    return {
      opened,
      signer: signer(),
      write: (write) => thread.ask('write', ...packed(write)) as CommitOutcome,
      writeLater: (write, then) =>
        thread.later('write', packed(write), (error, outcome) =>
          then(error === undefined ? (outcome as CommitOutcome) : failed(write.follows)),
        ),
      ...(opened.leased && {
        confirmLater: (then: (outcome: CommitOutcome) => void) =>
          thread.later('confirm', [], (error, outcome) =>
            then(error === undefined ? (outcome as CommitOutcome) : failed(0)),
          ),
      }),
      read: (...query) => thread.ask('read', ...query),
      readLater: (...query) =>
        new Promise((resolve, reject) =>
          thread.later('read', query, (error, value) => (error === undefined ? resolve(value) : reject(error))),
        ),
      scrub: () => void thread.ask('scrub'),
      refill: (then) => thread.later('refill', [], (error, room) => then(error === undefined && room === true)),
      reopen: () => thread.ask('reopen') as OpenedStore,
      onFailure: (listener) => thread.onNotice(listener),
      trust: () => void thread.ask('trust'),
      backup: (file) =>
        new Promise((resolve, reject) =>
          thread.later('backup', [file], (error) => (error === undefined ? resolve() : reject(error))),
        ),
      close: () => thread.close(),
    };
  } catch (error) {
    await thread.close();
    throw error;
  }
}
