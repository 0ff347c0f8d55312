/**
 * The store: everything that must last. One interface, two engines (memory, SQLite).
 *
 * Promise: a commit is all or nothing, and durable when it returns. A commit that fails changes nothing, and
 * no commit follows it until the store is opened again. After a failed write nobody knows the content of the
 * disk, and a second fsync may report success for data that was lost. One exception: on a full disk, lines
 * that end authority (revoke, expire, host-stop) are still committed, if necessary in a reserve.
 *
 * The database has a thread of its own, unless the store is opened with `look`. Commits go there and come back. A short
 * read, such as waking an actor, blocks until it returns.
 */
import { CapError } from '../core/errors.ts';
import { takeOptions } from '../core/options.ts';
import type { Disk } from './disk.ts';
import { engineOn, makeEngine, type StoreEngine } from './engine.ts';
import { lookedDisk } from './looked.ts';
import { memoryRows } from './memory.ts';
import { threadedDisk } from './threaded.ts';

/**
 * A store as a program holds it: the program can pass it to `openVats` and close it, but cannot write to it.
 */
export interface Store extends AsyncDisposable {
  /** Commits nothing more, ends those who follow the ledger, lets go of the files. */
  close(): Promise<void>;
}

/**
 * `path` is the folder of the store. `sentinel` is another folder, outside of it and of anything that is
 * copied with it. A file there records how far the store has come, so a store that was put back to an earlier
 * state is noticed. It must be the same folder at each opening.
 */
type StoreWhere =
  | {
      readonly path: string;
      readonly sentinel?: string | undefined;
      /** To verify or export the ledger only: nothing is written, and no vats open on it. */
      readonly look?: boolean | undefined;
    }
  | { readonly memory: true };

const engines = new WeakMap<Store, StoreEngine>();

/**
 * Opens a store: a folder on disk, which is made if it is missing, or memory. One process has a folder at a
 * time. Errors: `unavailable` (another process has it, or the disk fails), `invalid` (a newer Hob wrote it,
 * or it is damaged).
 */
export async function openStore(where: StoreWhere): Promise<Store> {
  const taken = takeOptions<StoreWhere>(where, 'openStore', { path: true, sentinel: true, look: true, memory: true });
  if ('path' in taken) {
    const { path, sentinel, look } = taken;
    if (look === true) return lookAtStore({ path, sentinel });
    return storeOf(engineOn(await threadedDisk(path, { sentinel })));
  }
  // Without this, options that name no place would silently be a store that ends with the process.
  if (taken.memory !== true)
    throw new CapError('invalid', 'a store lies at {path} or in {memory: true}: give one of them');
  return storeOf(makeEngine(memoryRows()));
}

/**
 * Opens a store on disk to verify or export its ledger, or to copy it. Does the same as `openStore` with `look`. A
 * bundle that calls only this function needs no code that writes a store. Errors: those of `openStore`.
 */
export function lookAtStore({
  path,
  sentinel,
}: {
  readonly path: string;
  readonly sentinel?: string | undefined;
}): Store {
  return storeOf(engineOn(lookedDisk(path, sentinel)));
}

/**
 * Writes everything that is durable now into one new file, while the store is in use. `restoreStore` makes a
 * store from it. The file contains the key that signs the ledger: guard it like the store. Errors: `invalid`
 * (the file exists), `unavailable` (a store in memory, the disk).
 */
export function backup(store: Store, path: string): Promise<void> {
  return engineOf(store).backup(path);
}

/** A store on a disk of another kind, such as a database server. For packages that bring one. */
export const storeOn = (disk: Disk): Store => storeOf(engineOn(disk));

/** The public face of an engine: it can be closed and nothing else. */
export function storeOf(engine: StoreEngine): Store {
  const close = (): Promise<void> => engine.close();
  const store: Store = Object.freeze({ close, [Symbol.asyncDispose]: close });
  engines.set(store, engine);
  return store;
}

/** For the vat and the ledger; not exported from the package. */
export function engineOf(store: Store): StoreEngine {
  const engine = engines.get(store);
  if (engine === undefined) throw new CapError('invalid', 'this is not a store: make one with openStore');
  return engine;
}
