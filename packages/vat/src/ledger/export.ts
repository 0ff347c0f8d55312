/**
 * The ledger as JSON Lines: exactly the bytes that were hashed, one line at a time, without the line break.
 *
 * Promise: a slow reader delays nobody and fills no memory, because it pulls pages. `follow` continues with
 * each commit and ends, complete, when the store closes. A reader that stops early, even while it waits,
 * leaves no listener behind.
 */
import { CapError } from '../core/errors.ts';
import { takeOptions } from '../core/options.ts';
import type { StoreEngine } from '../store/engine.ts';
import type { StoredLine } from '../store/records.ts';
import { engineOf, type Store } from '../store/store.ts';
import { breathe, PAGE } from './pages.ts';

interface ExportOptions {
  /** The first line of the export, counted from 1. Only an export from line 1 can be verified by itself. */
  readonly from?: number;
  /** Continues with later lines. */
  readonly follow?: boolean;
}

/**
 * If a reader is further behind than this when the store closes, it gets an error. The rest is not kept in
 * memory for it.
 */
const MAX_REST = 16 * PAGE;

/**
 * Iterates over the lines of the ledger as JSON text, from line `from` (counted from 1) on. With `follow` it
 * waits for later lines and ends when the store closes. Errors: `invalid` (`from`, or no store),
 * `unavailable` (the disk, or a reader too far behind when the store closes).
 */
export function exportLedger(store: Store, options?: ExportOptions): AsyncIterable<string> {
  const { from = 1, follow = false } = takeOptions(options, 'exportLedger', { from: true, follow: true });
  const engine = engineOf(store);
  if (!Number.isSafeInteger(from) || from < 1)
    throw new CapError('invalid', 'an export starts at the number of a line, 1 or more');
  return { [Symbol.asyncIterator]: () => iterator(engine, from, follow) };
}

function iterator(engine: StoreEngine, from: number, follow: boolean): AsyncIterator<string> {
  const stopped = { now: false, wake: () => {} };
  const pages = walk(engine, from, follow, stopped);
  return {
    next: () => pages.next(),
    // The `return` of a generator waits for its `next`, which waits for a commit that may never come. So this
    // wakes it first.
    return: () => {
      stopped.now = true;
      stopped.wake();
      return pages.return();
    },
  };
}

async function* walk(
  engine: StoreEngine,
  from: number,
  follow: boolean,
  stopped: { now: boolean; wake: () => void },
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let next = from;
  let rest: readonly StoredLine[] | undefined; // the lines that were left when the store closed
  const stops = [
    engine.onCommit(() => stopped.wake()),
    engine.onClose(() => {
      rest = engine.lines(next, MAX_REST);
      stopped.wake();
    }),
  ];
  try {
    await engine.settled();
    while (!stopped.now) {
      const last = rest !== undefined;
      const page = rest ?? engine.lines(next, PAGE);
      // A gap may follow only the first line. Otherwise this export would not verify.
      if (next > Math.max(2, from) && (page[0]?.seq ?? next) > next)
        throw new CapError('unavailable', 'earlier lines were dropped meanwhile: export again');
      next = (page.at(-1)?.seq ?? next - 1) + 1; // set at once, because `rest` must begin where this page ends
      for (const { bytes } of page) yield decoder.decode(bytes);
      if (last && page.length === MAX_REST) {
        throw new CapError('unavailable', `the store was closed: open it again and export from line ${next}`);
      }
      if (last || (page.length === 0 && !follow)) return;
      if (page.length > 0) await breathe();
      else if (rest === undefined && !stopped.now) {
        await new Promise<void>((resolve) => {
          stopped.wake = resolve;
        });
      }
    }
  } finally {
    for (const stop of stops) stop();
  }
}
