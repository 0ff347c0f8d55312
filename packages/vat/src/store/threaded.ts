/** The disk that is in a thread of its own. Commits and long reads go there and come back; a short read is waited for. */
import { folderSigner } from '../drivers/keys.ts';
import type { Disk, Opened, Outcome } from './disk.ts';
import { startThread } from './drivers/thread.ts';
import { packed } from './parcel.ts';
import type { RowsOptions } from './sqlite.ts';

export async function threadedDisk(folder: string, options: RowsOptions = {}): Promise<Disk> {
  const thread = await startThread('store-thread', { folder, options });
  try {
    return {
      opened: thread.ask('opened') as Opened,
      signer: folderSigner(folder), // the lock is ours by now: nobody else makes one at the same time
      write: (write) => thread.ask('write', ...packed(write)) as Outcome,
      writeLater: (write, then) =>
        thread.later('write', packed(write), (error, outcome) =>
          then(error === undefined ? (outcome as Outcome) : { is: 'failed', done: write.follows, full: false }),
        ),
      read: (...query) => thread.ask('read', ...query),
      readLater: (...query) =>
        new Promise((resolve, reject) =>
          thread.later('read', query, (error, value) => (error === undefined ? resolve(value) : reject(error))),
        ),
      scrub: () => void thread.ask('scrub'),
      refill: (then) => thread.later('refill', [], (error, room) => then(error === undefined && room === true)),
      reopen: () => thread.ask('reopen') as Opened,
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
