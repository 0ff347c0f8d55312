/** Entry point of the store's thread. The disk is used there, so a slow one does not stop the vats. */
import { type Disk, diskOf, type Query } from '../disk.ts';
import { unpacked } from '../parcel.ts';
import { type RowsOptions, sqliteRows } from '../sqlite.ts';
import { serveThread } from './thread.ts';

serveThread(({ folder, options }: { readonly folder: string; readonly options: RowsOptions }) => {
  const disk: Disk = diskOf(() => sqliteRows(folder, options));
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
