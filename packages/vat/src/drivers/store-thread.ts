/** Entry point of the store's thread: the disk is there, so that a slow one does not stop the vats. */
import { type Disk, diskOf, type Query } from '../store/disk.ts';
import { unpacked } from '../store/parcel.ts';
import { sqliteRows } from '../store/sqlite.ts';
import { serveThread } from './thread.ts';

serveThread((folder: string) => {
  const disk: Disk = diskOf(() => sqliteRows(folder));
  return {
    opened: () => disk.opened,
    write: (...items: Parameters<typeof unpacked>[0]) => disk.write(unpacked(items)),
    read: (...query: Query) => disk.read(...query),
    scrub: () => disk.scrub(),
    refill() {
      let found = false;
      disk.refill((room) => {
        found = room;
      });
      return found;
    },
    reopen: () => disk.reopen(),
    trust: () => disk.trust(),
    backup: (file: string) => disk.backup(file),
    close: () => disk.close(),
  };
});
