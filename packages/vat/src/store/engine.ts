/**
 * The rules of a store, the same whatever keeps its rows: epochs, one unbroken sequence of lines, poison, listeners.
 */
import { soon } from '../drivers/loop.ts';
import { CapError } from '../errors.ts';
import type { Head, Line, StoredLine, StoreEngine, Writes } from './store.ts';

export type Cells = ReadonlyMap<string, string | undefined>;
const none: Cells = new Map();

/** What keeps the rows. */
export interface Rows {
  readonly epoch: number;
  /** As of the opening. */
  readonly head: Head;
  /** All or nothing and durable on return; throws when `epoch` is no longer the last opening, or the disk says no. */
  append(epoch: number, lines: readonly Line[], head: Head, cells: Cells): void;
  lines(from: number, limit: number): readonly StoredLine[];
  get(key: string): string | undefined;
  scan(prefix: string): readonly (readonly [key: string, value: string])[];
  close(): void;
}

export function makeEngine(rows: Rows): StoreEngine {
  let state: 'open' | 'failed' | 'closed' = 'open';
  let head = rows.head;
  const commitListeners = new Set<() => void>();
  const closeListeners = new Set<() => void>();

  return Object.freeze({
    epoch: rows.epoch,
    head: () => head,
    commit(epoch: number, { lines, cells = none }: Writes) {
      if (state === 'closed') throw closed();
      if (state === 'failed')
        throw new CapError('unavailable', 'an earlier write to the store failed: start the host again');
      if (epoch !== rows.epoch)
        throw new CapError('unavailable', 'this store has been opened again since: use the newer opening');
      const last = lines.at(-1);
      if (last === undefined && cells.size === 0) return;
      // Ours, not the disk's: lines that do not follow the head were made for another one.
      lines.forEach((line, index) => {
        if (line.seq !== head.seq + 1 + index)
          throw new CapError('invalid', 'these lines do not follow the last one: prepare them again');
      });
      const next = last === undefined ? head : Object.freeze({ seq: last.seq, hash: last.hash });
      try {
        rows.append(epoch, lines, next, cells);
      } catch {
        state = 'failed';
        throw new CapError(
          'unavailable',
          'the store could not be written: make room on its disk and start the host again',
        );
      }
      head = next;
      tell(commitListeners);
    },
    lines(from: number, limit: number) {
      if (state === 'closed') throw closed();
      return rows.lines(from, limit);
    },
    get(key: string) {
      if (state === 'closed') throw closed();
      return rows.get(key);
    },
    scan(prefix: string) {
      if (state === 'closed') throw closed();
      return rows.scan(prefix);
    },
    onCommit: (listener: () => void) => listen(commitListeners, listener),
    onClose: (listener: () => void) => listen(closeListeners, listener),
    close() {
      if (state === 'closed') return;
      tell(closeListeners);
      state = 'closed';
      commitListeners.clear();
      closeListeners.clear();
      rows.close();
    },
  });
}

function closed(): CapError {
  return new CapError('unavailable', 'this store is closed: open it again');
}

function listen(listeners: Set<() => void>, listener: () => void): () => void {
  const own = (): void => listener(); // a listener added twice is told twice and stopped one by one
  listeners.add(own);
  return () => {
    listeners.delete(own);
  };
}

function tell(listeners: ReadonlySet<() => void>): void {
  for (const listener of [...listeners]) {
    try {
      listener();
    } catch (error) {
      // What was committed is committed: the committer must not hear of a failure. Nor may a bug of ours pass unseen.
      soon(() => {
        throw error;
      });
    }
  }
}
