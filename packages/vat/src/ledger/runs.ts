/**
 * Writes a run of equal refusals as one row with a count. So repeated calls of a revoked cap do not fill the
 * disk.
 *
 * Promise: the first refusal of a run is written at once. Equal ones that follow are counted. The count is
 * written when the window is over, before anything else about the same grant, and at the close. Each refusal
 * is in one row or in one count, never in two. After a kill -9 the count of the open window is missing, so
 * the sum can be too small and never too large.
 */
import type { KnownLedgerEntry } from './kinds.ts';

interface Run {
  readonly key: string;
  readonly entry: KnownLedgerEntry;
  /** Count of refusals that are in no row yet. */
  count: number;
  /** Wall time of the first of them. */
  since: number;
  /** The end of its window, in ticks. */
  ends: number;
}

/** In ms. A session over its budget may go on for an hour, so its window is longer. */
const WINDOW = 1000;
const LONG_WINDOW = 60_000;
/** Maximum grants with an open run at a time. If there are more, the oldest run is closed. */
const MAX_RUNS = 1024;

export class Runs {
  // In the order in which they began. At most one for each subject.
  readonly #runs = new Map<string, Run>();

  /**
   * Returns the entries to write now, with the counts that come before them. `tick` and `wall` are the
   * current time.
   */
  take(entries: readonly KnownLedgerEntry[], tick: number, wall: number): readonly KnownLedgerEntry[] {
    if (this.#runs.size === 0 && !entries.some(({ kind }) => kind === 'refuse')) return entries;
    const written: KnownLedgerEntry[] = [];
    for (const entry of entries) {
      const subject = subjectOf(entry);
      const run = this.#runs.get(subject);
      const key = keyOf(entry);
      if (run !== undefined && run.key === key && tick < run.ends) {
        if (run.count === 0) run.since = wall;
        run.count += 1;
        continue;
      }
      if (run !== undefined) {
        this.#runs.delete(subject);
        written.push(...counted(run));
      }
      written.push(entry);
      if (key !== undefined) {
        this.#runs.set(subject, { key, entry, count: 0, since: wall, ends: tick + windowOf(entry) });
        if (this.#runs.size > MAX_RUNS) written.push(...this.#closeOldest());
      }
    }
    return written;
  }

  /** Returns the counts of windows that are over. A run with a count goes on. */
  due(tick: number): readonly KnownLedgerEntry[] {
    const written: KnownLedgerEntry[] = [];
    for (const [subject, run] of this.#runs) {
      if (tick < run.ends) continue;
      if (run.count === 0) this.#runs.delete(subject);
      else {
        written.push(...counted(run));
        run.count = 0;
        run.ends = tick + windowOf(run.entry);
      }
    }
    return written;
  }

  /** Returns all counts and ends all runs. */
  close(): readonly KnownLedgerEntry[] {
    const written = [...this.#runs.values()].flatMap(counted);
    this.#runs.clear();
    return written;
  }

  /** Returns the end of the next window, in ticks. */
  next(): number | undefined {
    let first: number | undefined;
    for (const { ends } of this.#runs.values()) if (first === undefined || ends < first) first = ends;
    return first;
  }

  #closeOldest(): readonly KnownLedgerEntry[] {
    for (const [subject, run] of this.#runs) {
      this.#runs.delete(subject);
      return counted(run);
    }
    return [];
  }
}

function counted({ entry, count, since }: Run): readonly KnownLedgerEntry[] {
  if (count === 0) return [];
  return [{ kind: 'refuse', fields: { ...entry.fields, count, since: Math.floor(since) } }];
}

/** Returns the subject of a line: its grant, or the meter whose budget is spent. */
function subjectOf({ fields: { grant, meter } }: KnownLedgerEntry): string {
  return typeof meter === 'string' && grant === undefined ? `meter ${meter}` : `grant ${String(grant ?? '')}`;
}

const windowOf = ({ fields }: KnownLedgerEntry): number =>
  fields['grant'] === undefined && 'meter' in fields ? LONG_WINDOW : WINDOW;

/** Two refusals with the same key are equal in every field. Undefined for an entry that is never counted. */
function keyOf({ kind, fields, args }: KnownLedgerEntry): string | undefined {
  if (kind !== 'refuse' || args !== undefined) return undefined;
  const all = Object.entries(fields);
  if (!all.every(([, value]) => ['string', 'number', 'boolean', 'undefined'].includes(typeof value))) return undefined;
  return JSON.stringify(all);
}
