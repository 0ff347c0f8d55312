/**
 * A run of equal refusals is one row with a count, so that knocking at a closed door does not fill the disk.
 *
 * Promise: the first refusal of a run is written at once. Those like it that follow are counted, and the count is written when
 * the window is over, before anything else about the same grant, and at the close. Each refusal is in one row or in one count,
 * never in two: after kill -9 the count of the open window is missing, so the sum can be too small and never too large.
 */
import type { Entry } from './kinds.ts';

interface Run {
  readonly key: string;
  readonly entry: Entry;
  /** Refusals that are in no row yet. */
  count: number;
  /** When the first of them was, on the wall. */
  since: number;
  /** When its window is over, in ticks. */
  ends: number;
}

/** ms. A session over its budget can go on knocking for an hour: there one row a minute has to do. */
const WINDOW = 1000;
const LONG_WINDOW = 60_000;
/** Grants with an open run at the same time; of more, the oldest is closed. */
const MAX_RUNS = 1024;

export class Runs {
  // In the order in which they began. One at most for each subject.
  readonly #runs = new Map<string, Run>();

  /** What of `entries` is to be written now, with the counts that come before. `tick` and `wall` are the time. */
  take(entries: readonly Entry[], tick: number, wall: number): readonly Entry[] {
    if (this.#runs.size === 0 && !entries.some(({ kind }) => kind === 'refuse')) return entries;
    const written: Entry[] = [];
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

  /** The counts of windows that are over. A run in which there was something to count goes on. */
  due(tick: number): readonly Entry[] {
    const written: Entry[] = [];
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

  /** All counts, and an end to all runs. */
  close(): readonly Entry[] {
    const written = [...this.#runs.values()].flatMap(counted);
    this.#runs.clear();
    return written;
  }

  /** When the next window is over, in ticks. */
  next(): number | undefined {
    let first: number | undefined;
    for (const { ends } of this.#runs.values()) if (first === undefined || ends < first) first = ends;
    return first;
  }

  #closeOldest(): readonly Entry[] {
    for (const [subject, run] of this.#runs) {
      this.#runs.delete(subject);
      return counted(run);
    }
    return [];
  }
}

function counted({ entry, count, since }: Run): readonly Entry[] {
  if (count === 0) return [];
  return [{ kind: 'refuse', fields: { ...entry.fields, count, since: Math.floor(since) } }];
}

/** What a line is about: its grant, or the meter whose budget is used up. */
function subjectOf({ fields: { grant, meter } }: Entry): string {
  return typeof meter === 'string' && grant === undefined ? `meter ${meter}` : `grant ${String(grant ?? '')}`;
}

const windowOf = ({ fields }: Entry): number =>
  fields['grant'] === undefined && 'meter' in fields ? LONG_WINDOW : WINDOW;

/** Equal means equal in every field. Undefined for what is never counted. */
function keyOf({ kind, fields, args }: Entry): string | undefined {
  if (kind !== 'refuse' || args !== undefined) return undefined;
  const all = Object.entries(fields);
  if (!all.every(([, value]) => ['string', 'number', 'boolean', 'undefined'].includes(typeof value))) return undefined;
  return JSON.stringify(all);
}
