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
import type { Signer } from '../drivers/keys.ts';
import { CapError } from '../errors.ts';
import { engineOn, makeEngine } from './engine.ts';
import { memoryRows } from './memory.ts';
import type { Era } from './rows.ts';
import { threadedDisk } from './threaded.ts';

/** What a program holds: it can hand the store to `openVats` and close it, not write to it. */
export interface Store {
  /** Commits nothing more, ends those who follow the ledger, lets go of the files. */
  close(): Promise<void>;
}

/** A line of the ledger on its way into the store; `hash` is the SHA-256 of `bytes`, as base64url. */
export interface Line {
  readonly seq: number;
  readonly bytes: Uint8Array;
  readonly hash: string;
  /** Kept in a table of their own: the line only commits to them. */
  readonly args?: Args | undefined;
  /** The number of a line whose arguments are deleted in the same commit. */
  readonly forgets?: number | undefined;
  /** What the ledger goes on from; kept with the head. On the last line of those that were prepared together. */
  readonly mark?: Uint8Array | undefined;
  /** `ends`: ends authority, so it may use the room that is kept for that. `along`: may go with one that ends. */
  readonly urgency?: 'ends' | 'along' | undefined;
}

/** SHA-256 of `salt` and `bytes` is the commitment. */
export interface Args {
  readonly salt: Uint8Array;
  readonly bytes: Uint8Array;
}

export interface StoredArgs extends Args {
  readonly seq: number;
}

/** A line as the store holds it: input from outside, to be verified before it is believed. */
export interface StoredLine {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

/** The last line committed; `{seq: 0, hash: ''}` while there is none. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
  readonly mark?: Uint8Array | undefined;
}

/** What one commit writes. Portraits, table rows and queued messages join the lines here. */
export interface Writes {
  readonly lines: readonly Line[];
  /** Portraits, rows, queued messages: by key, in `undefined` deletes. */
  readonly cells?: ReadonlyMap<string, string | undefined>;
}

/** What the vat holds. */
export interface StoreEngine {
  /** Counts the openings. A commit of an older one is refused: two hosts on one store can then not both go on. */
  readonly epoch: number;
  /** Durable on return; throws `unavailable` where it is not. */
  commit(epoch: number, writes: Writes): void;
  /** Calls back once, in the order of the calls: durable, or why not. What follows one that failed fails with it. */
  commitLater(epoch: number, writes: Writes, done: (error: unknown) => void): void;
  /** The last line that was given to be committed: the next one follows it. After a failure, the last that was. */
  head(): Head;
  /** A cell that goes with every commit. */
  stampBy(stamp: () => readonly [key: string, value: string]): void;
  /** How often the store was found to have been put back, and whether a person has looked since. */
  readonly era: Era;
  trust(): void;
  /** An online copy in one new file. */
  backup(file: string): Promise<void>;
  /** Only what ends authority is committed, for want of room. */
  readonly full: boolean;
  /** Looks whether a full disk has room again; calls back if so. */
  makeRoom(then: () => void): void;
  /** A write failed, not only for want of room: nothing is committed before `reopen`. */
  readonly failed: boolean;
  /** After a failure: what is on the disk counts from here on. Throws where it cannot be opened. */
  reopen(): void;
  /** Lines in order, from `from` on, at most `limit`. */
  lines(from: number, limit: number): readonly StoredLine[];
  /** A cell as last committed. */
  get(key: string): string | undefined;
  /** The cells whose key begins with `prefix`, in the order of their keys' UTF-8 bytes. */
  scan(prefix: string): readonly (readonly [key: string, value: string])[];
  /** At most `limit` of those whose key is greater than `after`. */
  page(prefix: string, after: string, limit: number): readonly (readonly [key: string, value: string])[];
  pageLater(prefix: string, after: string, limit: number): Promise<readonly (readonly [key: string, value: string])[]>;
  getAllLater(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** The arguments that are kept of lines `from` to `to`. */
  args(from: number, to: number): readonly StoredArgs[];
  /** Signs for this store. */
  readonly signer: Signer;
  /** Makes sure that what was deleted is in no file any more. */
  scrub(): void;
  /** After each commit that wrote; answers how to stop. A listener must not throw. */
  onCommit(listener: () => void): () => void;
  /** Once, before the close, while it can still be committed; an error of a listener is dropped. */
  onClosing(listener: () => void): () => void;
  /** Once, while `lines` can still be read. */
  onClose(listener: () => void): () => void;
  close(): Promise<void>;
}

/**
 * `path` is a folder. `sentinel` is another one, outside of it and of what is copied with it: a file there says how far the store came,
 * so that a store that was put back to an earlier state is known for it. It has to be the same at each opening.
 */
export type StoreWhere = { readonly path: string; readonly sentinel?: string | undefined } | { readonly memory: true };

const engines = new WeakMap<Store, StoreEngine>();

export async function openStore(where: StoreWhere): Promise<Store> {
  return storeOf(
    'path' in where ? engineOn(await threadedDisk(where.path, { sentinel: where.sentinel })) : makeEngine(memoryRows()),
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
