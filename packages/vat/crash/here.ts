/** Opens the stores of crash tests, each with its sentinel. */
import { dirname, join } from 'node:path';
import { openStore } from '../src/index.ts';
import { diskOf } from '../src/store/disk.ts';
import { engineOn } from '../src/store/engine.ts';
import { sqliteRows } from '../src/store/sqlite.ts';
import { type Store, storeOf } from '../src/store/store.ts';

/** Where a store lies, as data that can be passed to another process. */
export interface Place {
  /**
   * The folder of the store. It is missing if the store is in a database. The sentinel and files of a subject are
   * beside it.
   */
  readonly folder: string;
  /** A module whose `open(at, sentinel)` opens a store that does not lie in `folder`. */
  readonly opener?: string;
  readonly at?: unknown;
}

/** The exports of such a module. */
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
 * Opens a store to check it. A store in a folder is opened in this thread, because to start a thread takes longer than
 * the check.
 */
export const openToLook = async (place: Place): Promise<Store> =>
  place.opener === undefined ? openHere(place.folder) : openAt(place);

/** A store whose database is in this thread. */
export const openHere = (folder: string): Store =>
  storeOf(engineOn(diskOf(() => sqliteRows(folder, { sentinel: sentinelOf(folder) }))));

/** Beside the store, so that a copy of the folder above has both. */
export const sentinelOf = (folder: string): string => join(dirname(folder), 'sentinels');
