/**
 * A store whose database is in this thread: for who only looks at one. What is on the disk is the same, and
 * starting a thread takes longer than the look.
 */
import { dirname, join } from 'node:path';
import { diskOf } from '../src/store/disk.ts';
import { engineOn } from '../src/store/engine.ts';
import { sqliteRows } from '../src/store/sqlite.ts';
import { type Store, storeOf } from '../src/store/store.ts';

export const openHere = (folder: string): Store =>
  storeOf(engineOn(diskOf(() => sqliteRows(folder, { sentinel: sentinelOf(folder) }))));

/** Beside the store, so that a copy of the folder above has both. */
export const sentinelOf = (folder: string): string => join(dirname(folder), 'sentinels');
