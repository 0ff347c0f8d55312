/**
 * The ledger as JSON Lines: exactly the bytes that were hashed, one line at a time, without the line break.
 *
 * Promise: a lagging reader holds nobody up and fills no memory (pages, pulled). `follow` goes on with each commit and ends,
 * complete, when the store closes; who stops early, even while it waits, leaves no listener behind.
 */
import { CapError } from '../core/errors.ts';
import type { StoreEngine } from '../store/engine.ts';
import type { StoredLine } from '../store/records.ts';
import { engineOf, type Store } from '../store/store.ts';
import { breathe, PAGE } from './pages.ts';

export interface ExportOptions {
  /** The first line wanted, from 1. Only an export from 1 can be verified by itself. */
  readonly from?: number;
  /** Goes on with lines yet to come. */
  readonly follow?: boolean;
}

/** A reader further behind than this when the store closes is told so, instead of having the rest kept for it. */
const MAX_REST = 16 * PAGE;

export function exportLedger(store: Store, { from = 1, follow = false }: ExportOptions = {}): AsyncIterable<string> {
  const engine = engineOf(store);
  if (!Number.isSafeInteger(from) || from < 1) throw new CapError('invalid', 'an export begins with a line from 1 on');
  return { [Symbol.asyncIterator]: () => iterator(engine, from, follow) };
}

function iterator(engine: StoreEngine, from: number, follow: boolean): AsyncIterator<string> {
  const stopped = { now: false, wake: () => {} };
  const pages = walk(engine, from, follow, stopped);
  return {
    next: () => pages.next(),
    // A generator's own `return` waits for its `next`, which waits for a commit that may never come: wake it first.
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
  let rest: readonly StoredLine[] | undefined; // what was still to come when the store closed
  const stops = [
    engine.onCommit(() => stopped.wake()),
    engine.onClose(() => {
      rest = engine.lines(next, MAX_REST);
      stopped.wake();
    }),
  ];
  try {
    while (!stopped.now) {
      const last = rest !== undefined;
      const page = rest ?? engine.lines(next, PAGE);
      // Only the first line may stand before a gap: else this export would not verify.
      if (next > Math.max(2, from) && (page[0]?.seq ?? next) > next)
        throw new CapError('unavailable', 'earlier lines were dropped meanwhile: export again');
      next = (page.at(-1)?.seq ?? next - 1) + 1; // at once, not line by line: `rest` must begin where this page ends
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
