/** Opens the stores of crashes: where they lie, and the folders of their sentinels. */
import { dirname, join } from 'node:path';
import { openStore } from '../src/index.ts';
import { diskOf } from '../src/store/disk.ts';
import { engineOn } from '../src/store/engine.ts';
import { sqliteRows } from '../src/store/sqlite.ts';
import { type Store, storeOf } from '../src/store/store.ts';

/** Where a store lies, as data that another process can be given. */
export interface Place {
  /** Of a store on another disk, a folder that is not there. The sentinel lies beside it, and what a subject keeps. */
  readonly folder: string;
  /** A module whose `open(at, sentinel)` opens a store that does not lie in `folder`. */
  readonly opener?: string;
  readonly at?: unknown;
}

/** What such a module exports. */
export interface Opener {
  open(at: unknown, sentinel: string): Promise<Store>;
}

/** Opens a store as a program does. */
export async function openAt({ folder, opener, at }: Place): Promise<Store> {
  if (opener === undefined) return openStore({ path: folder, sentinel: sentinelOf(folder) });
  const { open }: Opener = await import(opener);
  return open(at, sentinelOf(folder));
}

/**
 * Opens a store to look at it. The database of a folder is in this thread: what is on the disk is the same, and starting a
 * thread takes longer than the look.
 */
export const openToLook = async (place: Place): Promise<Store> =>
  place.opener === undefined ? openHere(place.folder) : openAt(place);

/** A store whose database is in this thread. */
export const openHere = (folder: string): Store =>
  storeOf(engineOn(diskOf(() => sqliteRows(folder, { sentinel: sentinelOf(folder) }))));

/** Beside the store, so that a copy of the folder above has both. */
export const sentinelOf = (folder: string): string => join(dirname(folder), 'sentinels');
