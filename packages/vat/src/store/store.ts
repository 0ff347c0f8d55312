/**
 * Where everything that must last is kept: one port, two engines (memory, SQLite).
 *
 * Promise: a commit is all or nothing, and durable when it says so. A commit that fails changes nothing and is the last of
 * that store until it is opened again: after a failed write nobody can say what the disk holds, and asking again has been
 * known to answer "fine" for data that was lost (fsync). One exception: on a disk that is merely full, lines that end
 * authority (revoke, expire, host-stop) are still committed, if need be in room that is kept for them.
 *
 * The database has a thread of its own. Commits go there and come back; a short read, as waking an actor is one, is waited for.
 */
import { CapError } from '../core/errors.ts';
import { engineOn, makeEngine, type StoreEngine } from './engine.ts';
import { memoryRows } from './memory.ts';
import { threadedDisk } from './threaded.ts';

/** What a program holds: it can hand the store to `openVats` and close it, not write to it. */
export interface Store {
  /** Commits nothing more, ends those who follow the ledger, lets go of the files. */
  close(): Promise<void>;
}

/**
 * `path` is a folder. `sentinel` is another one, outside of it and of what is copied with it: a file there says how far the store came,
 * so that a store that was put back to an earlier state is known for it. It has to be the same at each opening.
 */
export type StoreWhere =
  | {
      readonly path: string;
      readonly sentinel?: string | undefined;
      /** To verify or export the ledger only: nothing is written, and no vats open on it. */
      readonly look?: boolean | undefined;
    }
  | { readonly memory: true };

const engines = new WeakMap<Store, StoreEngine>();

export async function openStore(where: StoreWhere): Promise<Store> {
  return storeOf(
    'path' in where
      ? engineOn(await threadedDisk(where.path, { sentinel: where.sentinel, look: where.look }))
      : makeEngine(memoryRows()),
  );
}

/**
 * Writes all that is durable now into one new file, while the store goes on; `restoreStore` makes a store of it. The key that signs the
 * ledger is in it: guard it like the store. Errors: `invalid` (there is such a file), `unavailable` (a store in memory, the disk).
 */
export function backup(store: Store, path: string): Promise<void> {
  return engineOf(store).backup(path);
}

/** The public face of an engine: it can be closed and nothing else. */
export function storeOf(engine: StoreEngine): Store {
  const store: Store = Object.freeze({ close: () => engine.close() });
  engines.set(store, engine);
  return store;
}

/** For the vat and the ledger; not exported from the package. */
export function engineOf(store: Store): StoreEngine {
  const engine = engines.get(store);
  if (engine === undefined) throw new CapError('invalid', 'this is not a store: make one with openStore');
  return engine;
}
