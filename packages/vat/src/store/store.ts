/**
 * Where everything that must last is kept: one port, two engines (memory, SQLite).
 *
 * Promise: a commit is all or nothing, and durable when it returns. A commit that fails changes nothing and is the last of
 * that store until it is opened again: after a failed write nobody can say what the disk holds, and asking again has been
 * known to answer "fine" for data that was lost (fsync).
 *
 * For now commits run on the thread of the caller. Group commit in a worker changes `commit` and nothing else here.
 */
import { CapError } from '../errors.ts';
import { makeEngine } from './engine.ts';
import { memoryRows } from './memory.ts';
import { sqliteRows } from './sqlite.ts';

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
  commit(epoch: number, writes: Writes): void;
  head(): Head;
  /** Lines in order, from `from` on, at most `limit`. */
  lines(from: number, limit: number): readonly StoredLine[];
  /** A cell as last committed. */
  get(key: string): string | undefined;
  /** The cells whose key begins with `prefix`, in the order of their keys' UTF-8 bytes. */
  scan(prefix: string): readonly (readonly [key: string, value: string])[];
  /** After each commit that wrote; answers how to stop. A listener must not throw. */
  onCommit(listener: () => void): () => void;
  /** Once, while `lines` can still be read. */
  onClose(listener: () => void): () => void;
  close(): void;
}

/** `path` is a folder. */
export type StoreWhere = { readonly path: string } | { readonly memory: true };

const engines = new WeakMap<Store, StoreEngine>();

export async function openStore(where: StoreWhere): Promise<Store> {
  return storeOf(makeEngine('path' in where ? sqliteRows(where.path) : memoryRows()));
}

/** The public face of an engine: it can be closed and nothing else. */
export function storeOf(engine: StoreEngine): Store {
  const store: Store = Object.freeze({ close: async () => engine.close() });
  engines.set(store, engine);
  return store;
}

/** For the vat and the ledger; not exported from the package. */
export function engineOf(store: Store): StoreEngine {
  const engine = engines.get(store);
  if (engine === undefined) throw new CapError('invalid', 'this is not a store: make one with openStore');
  return engine;
}
