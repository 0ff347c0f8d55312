/**
 * The schedule cap: an actor that lasts.
 *
 * Promise: a run is noted in the turn that begins it, and it begins once that turn is durable. So no run begins twice, also
 * over kill -9: one that was under way is `unknown-outcome`, and is not tried again. Runs of one schedule do not overlap.
 * Cron lines and times go by the wall clock, intervals by real time. When the runner is a grant, each run is a use of it,
 * and its end is the end of the schedules: they do not end with the session that asked for them.
 */
import { type Definition, define, E, type Far, type Outcome, type Table, vatTime, wakeAt, wallTime } from '@hob/vat';
import { takeText } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { isoOf } from './drivers/cron.ts';
import type { RunEnd, Runner, ScheduleCap, Scheduled } from './schedule-cap.ts';
import { following, takeTime, takeWhen, type When, whenText } from './when.ts';

/** A row of the table. `next` is on the wall clock, or in vat time for an interval. */
export interface Entry {
  readonly when: When;
  readonly task: string;
  readonly next: number;
  readonly runs: number;
  readonly left: number;
  readonly last: string | null;
}

/** The terms, complete. */
interface FullTerms {
  readonly missed: 'late' | 'never';
  readonly zone: string;
  /** In ms. */
  readonly shortest: number;
}

export interface ScheduleBook extends ScheduleCap {
  /** The alarm. Whoever makes the book calls it once. */
  tick(): void;
  finished(outcome: Outcome, id: string): void;
}

type Stored = [rows: Table<Entry>, runner: Far<Runner>, terms: FullTerms, made: number, over: string | null];

const MOST = 64;
const LONGEST_TASK = 16_384;
/** A run that is as late is not missed: the machine was busy. */
const GRACE_MS = 120_000;
/** The clocks and the rows are looked at as often. */
const LOOK_MS = 60_000;
const GONE = new Set(['revoked', 'expired', 'exhausted']);

export const ScheduleBook: Definition<ScheduleBook, Stored> = define(
  'caps-net.schedule',
  (bcom, rows, runner, terms, made, over) => {
    const nowOf = ({ when }: Pick<Entry, 'when'>): number => (when.kind === 'interval' ? vatTime() : wallTime());
    const add = (when: When, given: unknown, next: number | undefined) => {
      const task = takeText(given, 'the task', LONGEST_TASK);
      if (over !== null) throw refusal('unavailable', 'the grant of its runs has ended');
      if (next === undefined) throw refusal('invalid', 'there is no such day');
      if (rows.size >= MOST) throw refusal('limit', `there are ${MOST} schedules: cancel one`);
      const id = `s${made + 1}`;
      const entry: Entry = { when, task, next, runs: 0, left: 0, last: null };
      rows.set(id, entry);
      // No alarm is set here: it would run, and end, under the grants of this call.
      return bcom(ScheduleBook(rows, runner, terms, made + 1, over), shown(id, entry));
    };
    const shown = (id: string, entry: Entry): Scheduled => ({
      ...{ id, when: whenText(entry.when), task: entry.task, runs: entry.runs, left: entry.left },
      next: isoOf(wallTime() + entry.next - nowOf(entry)),
      last: entry.last ?? undefined,
    });
    /** Begins it, or leaves it out. */
    const due = (id: string, entry: Entry): void => {
      const now = nowOf(entry);
      const isOut = entry.last === 'running' || (terms.missed === 'never' && now - entry.next > GRACE_MS);
      const next = following(entry.when, entry.next, now);
      if (isOut && next === undefined) return void rows.delete(id);
      if (isOut) return rows.set(id, { ...entry, next: next as number, left: entry.left + 1 });
      const number = entry.runs + 1;
      // A run of a single time keeps its row until it is over.
      rows.set(id, { ...entry, next: next ?? Number.MAX_SAFE_INTEGER, runs: number, last: 'running' });
      const run = { schedule: id, number, task: entry.task, due: isoOf(wallTime() + entry.next - now) };
      E.to(bcom.self, 'finished', id).on(E(runner).run(run) as Promise<unknown>);
    };
    return {
      every: (given, task) => {
        const when = takeWhen(given, terms);
        const now = nowOf({ when });
        return add(when, task, following(when, now, now));
      },
      at: (time, task) => {
        const { when, at } = takeTime(time, wallTime());
        return add(when, task, at);
      },
      list: () => [...rows.entries()].map(([id, entry]) => shown(id, entry)),
      cancel: (id) => typeof id === 'string' && rows.delete(id),
      tick: () => {
        if (over !== null) return;
        for (const [id, entry] of [...rows.entries()]) if (entry.next <= nowOf(entry)) due(id, entry);
        const waits = [...rows.entries()].map(([, entry]) => Math.max(1, entry.next - nowOf(entry)));
        wakeAt(vatTime() + Math.min(LOOK_MS, ...waits), bcom.self, 'tick');
      },
      finished: (outcome, id) => {
        const code = outcome.ok ? endOf(outcome.value) : (outcome.code ?? 'error');
        if (!outcome.ok && GONE.has(code)) {
          for (const [each] of [...rows.entries()]) rows.delete(each);
          return bcom(ScheduleBook(rows, runner, terms, made, code));
        }
        const entry = rows.get(id);
        if (entry?.when.kind === 'once') rows.delete(id);
        else if (entry !== undefined) rows.set(id, { ...entry, last: code === 'restarted' ? 'unknown-outcome' : code });
        return undefined;
      },
    };
  },
);

const ENDS: readonly unknown[] = ['failed', 'too-long'] satisfies readonly RunEnd[];
const endOf = (value: unknown): string => (ENDS.includes(value) ? (value as RunEnd) : 'ok');

/** The object that a holder gets. It lacks `finished`: only the book itself says that a run is over. */
export const ScheduleFace: Definition<ScheduleCap, [book: ScheduleBook]> = define(
  'caps-net.schedules',
  (_bcom, book) => ({
    every: (when, task) => book.every(when, task),
    at: (time, task) => book.at(time, task),
    list: () => book.list(),
    cancel: (id) => book.cancel(id),
  }),
);
