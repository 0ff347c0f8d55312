/**
 * A disk as the engine sees it: commits in order, reads, and the consequences of a failed commit.
 *
 * Promise: a commit is done completely or not at all. A commit that was prepared to follow another is not
 * done without it. On a full disk, commits that end authority are still done, in the reserve. After any other
 * failure no commit is done until the disk is opened again, because nobody knows its content before it is
 * read.
 */
import type { Head, LedgerLine } from './records.ts';
import { type Doubt, type Era, Full, type Reads, type Rows } from './rows.ts';

/** One commit, as it is given to a disk. */
export interface Write {
  /** How many commits must have been done since the disk was opened. */
  readonly follows: number;
  readonly epoch: number;
  readonly lines: readonly LedgerLine[];
  readonly head: Head;
  readonly cells: ReadonlyMap<string, string | undefined>;
  /** The commit ends authority, so it may use the reserve. */
  readonly ends: boolean;
}

/** The result of a commit. */
export interface CommitOutcome {
  /** `stale`: the commit that it follows was not done. */
  readonly status: 'done' | 'full' | 'failed' | 'stale';
  /** Count of commits of this opening so far. */
  readonly done: number;
  /** From now on only commits that end authority are done. */
  readonly onlyEndings: boolean;
  /** For this time after the disk was asked, in ms, no other process can take the store. Absent if none ever can. */
  readonly heldMs?: number;
}

/** The state of a disk when it is opened. `epoch` counts its openings. */
export interface OpenedStore {
  readonly epoch: number;
  readonly head: Head;
  readonly era: Era;
  readonly doubt: Doubt | undefined;
  /** Another process may take the store from this one, which learns of it by its next commit or by `onFailure`. */
  readonly leased?: true;
}

/** A read, by the name of its method, for a disk in another thread. */
export type Query = { readonly [M in keyof Reads]: readonly [M, ...Parameters<Reads[M]>] }[keyof Reads];

/** A disk, or a server in its place. Commits and reads are done in the order of the calls. */
export interface Disk {
  readonly opened: OpenedStore;
  readonly signer: Rows['signer'];
  /** Durable on return. */
  write(write: Write): CommitOutcome;
  /** Runs in order with all other requests. `then` may be called at once. */
  writeLater(write: Write, then: (outcome: CommitOutcome) => void): void;
  /** Checks that no other process has taken the store. Absent if none can. */
  confirmLater?(then: (outcome: CommitOutcome) => void): void;
  read(...query: Query): unknown;
  readLater(...query: Query): Promise<unknown>;
  scrub(): void;
  /** If the disk was full, checks whether it has room again. */
  refill(then: (room: boolean) => void): void;
  /** A person has looked. Grants from before the store was put back count again. */
  trust(): void;
  backup(file: string): Promise<void>;
  /** Opens the disk again after a failure. */
  reopen(): OpenedStore;
  /** Adds a listener that is called if the disk fails while it is given nothing to do. */
  onFailure(listener: () => void): void;
  close(): Promise<void>;
}

const openedBy = ({ epoch, head, era, doubt }: Rows): OpenedStore => ({ epoch, head, era, doubt });

/** A disk in this thread. `open` is called again after a failure. */
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
      // From now on only such commits are done, because there is no room for others.
      state = 'full';
      if (!rows.release()) throw error;
      rows.append(epoch, lines, head, cells);
    }
  };
  const outcome = (status: CommitOutcome['status']): CommitOutcome => ({
    status,
    done,
    onlyEndings: state === 'full',
  });
  const write = (what: Write): CommitOutcome => {
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
    get opened(): OpenedStore {
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
        // A database that failed may throw at the close.
      }
      rows = open();
      state = 'open';
      done = 0;
      return openedBy(rows);
    },
    onFailure: () => {}, // a disk of this machine fails only while it reads or writes
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
