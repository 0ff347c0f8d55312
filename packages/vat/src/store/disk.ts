/**
 * A disk as the engine sees it: commits in their order, reads, and what a failed one means for those after it.
 *
 * Promise: a commit is done whole, or not at all; one that was made to follow another is not done without it. Where only room was
 * lacking, commits that end authority are still done, in the room that is kept for them; after any other failure none is, until
 * the disk is opened again: what is on it then, nobody knows before it is read.
 */
import type { Head, Line } from './records.ts';
import { type Doubt, type Era, Full, type Reads, type Rows } from './rows.ts';

export interface Write {
  /** How many commits this opening has had before this one. */
  readonly follows: number;
  readonly epoch: number;
  readonly lines: readonly Line[];
  readonly head: Head;
  readonly cells: ReadonlyMap<string, string | undefined>;
  /** It lets nobody do anything: it may have the room that is kept. */
  readonly ends: boolean;
}

export interface Outcome {
  /** `stale`: what it follows was not done. */
  readonly is: 'done' | 'full' | 'failed' | 'stale';
  /** How many commits this opening has had now. */
  readonly done: number;
  /** From now on only what ends authority is done. */
  readonly full: boolean;
}

export interface Opened {
  readonly epoch: number;
  readonly head: Head;
  readonly era: Era;
  readonly doubt: Doubt | undefined;
}

/** By the name of the method, for one that is in another thread. */
export type Query = { readonly [M in keyof Reads]: readonly [M, ...Parameters<Reads[M]>] }[keyof Reads];

export interface Disk {
  readonly opened: Opened;
  readonly signer: Rows['signer'];
  /** Durable on return. */
  write(write: Write): Outcome;
  /** In order with all else that was asked; `then` may be called at once. */
  writeLater(write: Write, then: (outcome: Outcome) => void): void;
  read(...query: Query): unknown;
  readLater(...query: Query): Promise<unknown>;
  scrub(): void;
  /** Where the disk was full: looks whether it has room again, and tells. */
  refill(then: (room: boolean) => void): void;
  /** A person has looked: what was granted before the store was put back counts again. */
  trust(): void;
  backup(file: string): Promise<void>;
  /** Opens it anew after a failure. */
  reopen(): Opened;
  close(): Promise<void>;
}

const openedBy = ({ epoch, head, era, doubt }: Rows): Opened => ({ epoch, head, era, doubt });

/** The disk that is here, in this thread. `open` is called again after a failure. */
export function diskOf(open: () => Rows): Disk {
  let rows = open();
  let state: 'open' | 'full' | 'failed' = 'open';
  let done = 0;
  const backups = new Set<Promise<void>>();

  const append = ({ epoch, lines, head, cells, ends }: Write): void => {
    try {
      rows.append(epoch, lines, head, cells);
    } catch (error) {
      if (!(error instanceof Full) || !ends) throw error;
      // From here on only such commits are done: the room is not there for anything else.
      state = 'full';
      if (!rows.release()) throw error;
      rows.append(epoch, lines, head, cells);
    }
  };
  const outcome = (is: Outcome['is']): Outcome => ({ is, done, full: state === 'full' });
  const write = (what: Write): Outcome => {
    if (state === 'failed') return outcome('failed');
    if (what.follows !== done) return outcome('stale');
    if (state === 'full' && !what.ends) return outcome('full');
    try {
      append(what);
    } catch (error) {
      state = error instanceof Full ? 'full' : 'failed';
      return outcome(state);
    }
    done += 1;
    return outcome('done');
  };
  const read = (...[method, ...args]: Query): unknown => Reflect.apply(rows[method], rows, args);

  return {
    get opened(): Opened {
      return openedBy(rows);
    },
    get signer(): Rows['signer'] {
      return rows.signer;
    },
    write,
    writeLater: (what, then) => then(write(what)),
    read,
    readLater: async (...query) => read(...query),
    scrub: () => rows.scrub(),
    refill(then) {
      if (state === 'full' && rows.refill()) state = 'open';
      then(state === 'open');
    },
    reopen() {
      try {
        rows.close();
      } catch {
        // A database that failed may not be able to say goodbye.
      }
      rows = open();
      state = 'open';
      done = 0;
      return openedBy(rows);
    },
    trust: () => rows.trust(),
    backup(file) {
      const written = rows.backup(file);
      const over = (): void => void backups.delete(written);
      backups.add(written);
      written.then(over, over);
      return written;
    },
    async close() {
      // A database that is being copied cannot be closed.
      if (backups.size > 0) await Promise.allSettled(backups);
      rows.close();
    },
  };
}
