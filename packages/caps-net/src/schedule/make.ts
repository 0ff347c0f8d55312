/** Makes a schedule cap, in a turn. */
import { type Far, spawn, table } from '@hob/vat';
import type { Effects } from '@hob/vat/forwarder';
import { takeRecord, takeText } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { type Entry, ScheduleBook, ScheduleFace } from './book.ts';
import { checkZone } from './drivers/cron.ts';
import type { Runner, ScheduleCap, ScheduleTerms } from './schedule-cap.ts';
import { LONGEST, SHORTEST } from './when.ts';

/** The definitions that a store with schedules is opened with. */
export const scheduleDefinitions: readonly [typeof ScheduleBook, typeof ScheduleFace] = Object.freeze([
  ScheduleBook,
  ScheduleFace,
] as const);

/** The effects of a schedule cap. A run has its effects later, when nobody is asked about the schedule any more. */
export const scheduleEffects: Effects = Object.freeze({
  every: { class: 'C', undo: 'easy' },
  at: { class: 'C', undo: 'easy' },
  cancel: { class: 'B', undo: 'hard' },
  list: { class: 'A' },
});

/**
 * In a turn: a schedule cap whose tasks go to `runner`: a named driver, or better a grant of one, with its own uses,
 * deadline and revoker. Errors: `invalid`.
 */
export function makeScheduleCap(runner: Far<Runner>, terms?: ScheduleTerms): ScheduleCap {
  const {
    missed = 'late',
    zone = 'UTC',
    shortest = SHORTEST,
  } = takeRecord(terms, 'makeScheduleCap', ['missed', 'zone', 'shortest'], 'option');
  if (missed !== 'late' && missed !== 'never') throw refusal('invalid', 'missed is late or never');
  checkZone(takeText(zone, 'zone', 64));
  if (!(typeof shortest === 'number' && shortest >= SHORTEST && shortest <= LONGEST))
    throw refusal('invalid', 'shortest is a number of ms, from 1 minute to ten years');
  const all = { missed, zone: zone as string, shortest } as const;
  const book = spawn(ScheduleBook(table<Entry>(), runner, all, 0, null)) as ScheduleBook;
  // Its alarms go on from here, so they are under the grants of this turn and of no later call.
  book.tick();
  return spawn(ScheduleFace(book));
}
