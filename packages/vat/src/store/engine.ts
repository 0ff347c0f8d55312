/**
 * The rules of a store, the same whatever keeps its rows: epochs, one unbroken sequence of lines, poison, listeners.
 */
import type { Signer } from '../drivers/keys.ts';
import { soon } from '../drivers/loop.ts';
import { mutant } from '../drivers/mutant.ts';
import { CapError } from '../errors.ts';
import type { Head, Line, StoredArgs, StoredLine, StoreEngine, Writes } from './store.ts';

export type Cells = ReadonlyMap<string, string | undefined>;
const none: Cells = new Map();

/** The disk has no room: nothing was written, and the same may be tried again. */
export class Full extends Error {}

/** What keeps the rows. */
export interface Rows {
  readonly epoch: number;
  /** As of the opening. */
  readonly head: Head;
  readonly signer: Signer;
  /**
   * All or nothing and durable on return; throws when `epoch` is no longer the last opening, or the disk says no: `Full` where
   * it can say that nothing but room was lacking.
   */
  append(epoch: number, lines: readonly Line[], head: Head, cells: Cells): void;
  lines(from: number, limit: number): readonly StoredLine[];
  get(key: string): string | undefined;
  scan(prefix: string): readonly (readonly [key: string, value: string])[];
  page(prefix: string, after: string, limit: number): readonly (readonly [key: string, value: string])[];
  args(from: number, to: number): readonly StoredArgs[];
  scrub(): void;
  /** Frees the room that is kept for ending authority; answers whether there was any. */
  release(): boolean;
  close(): void;
}

export function makeEngine(rows: Rows): StoreEngine {
  let state: 'open' | 'full' | 'failed' | 'closed' = 'open';
  let head = rows.head;
  const closingListeners = new Set<() => void>();
  const commitListeners = new Set<() => void>();
  const closeListeners = new Set<() => void>();

  /** Once more in the room that is kept for it, where that is what the lines are for. */
  const append = (epoch: number, lines: readonly Line[], next: Head, cells: Cells): void => {
    try {
      rows.append(epoch, lines, next, cells);
    } catch (error) {
      if (!(error instanceof Full) || !endsAuthority(lines)) throw error;
      // From here on only such lines are taken: the room is not there for anything else, and is not filled again before the next opening.
      state = 'full';
      if (mutant('reserve') || !rows.release()) throw error;
      rows.append(epoch, lines, next, cells);
    }
  };

  return Object.freeze({
    epoch: rows.epoch,
    signer: rows.signer,
    head: () => head,
    commit(epoch: number, { lines, cells = none }: Writes) {
      if (state === 'closed') throw closed();
      if (state === 'failed' || (state === 'full' && !endsAuthority(lines)))
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
      const next = last === undefined ? head : Object.freeze({ seq: last.seq, hash: last.hash, mark: last.mark });
      try {
        append(epoch, lines, next, cells);
      } catch (error) {
        state = error instanceof Full ? 'full' : 'failed';
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
    page(prefix: string, after: string, limit: number) {
      if (state === 'closed') throw closed();
      return rows.page(prefix, after, limit);
    },
    args(from: number, to: number) {
      if (state === 'closed') throw closed();
      return rows.args(from, to);
    },
    scrub() {
      if (state === 'closed') throw closed();
      rows.scrub();
    },
    onCommit: (listener: () => void) => listen(commitListeners, listener),
    onClosing: (listener: () => void) => listen(closingListeners, listener),
    onClose: (listener: () => void) => listen(closeListeners, listener),
    close() {
      if (state === 'closed') return;
      // A store that failed cannot take their last words, which is no reason not to close it.
      for (const listener of [...closingListeners]) {
        try {
          listener();
        } catch {}
      }
      tell(closeListeners);
      state = 'closed';
      closingListeners.clear();
      commitListeners.clear();
      closeListeners.clear();
      rows.close();
    },
  });
}

/** At least one line that ends authority, and beside such lines only what goes along. */
function endsAuthority(lines: readonly Line[]): boolean {
  return (
    lines.some(({ urgency }) => urgency === 'ends') &&
    lines.every(({ urgency }) => urgency === 'ends' || urgency === 'along')
  );
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
