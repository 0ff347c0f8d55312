/** Makes a schedule cap, in a turn. */
import { type Far, spawn, table } from '@hob/vat';
import { takeRecord, takeText } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { type Entry, ScheduleBook, ScheduleFace } from './book.ts';
import { checkZone } from './drivers/cron.ts';
import type { Runner, ScheduleCap, ScheduleTerms } from './schedule-cap.ts';

/** The definitions that a store with schedules is opened with. */
export const scheduleDefinitions: readonly [typeof ScheduleBook, typeof ScheduleFace] = Object.freeze([
  ScheduleBook,
  ScheduleFace,
] as const);

/**
 * In a turn: a schedule cap whose tasks go to `runner`: a named driver, or better a grant of one, with its own uses,
 * deadline and revoker. Errors: `invalid`.
 */
export function makeScheduleCap(runner: Far<Runner>, terms?: ScheduleTerms): ScheduleCap {
  const { missed = 'late', zone = 'UTC' } = takeRecord(terms, 'makeScheduleCap', ['missed', 'zone'], 'option');
  if (missed !== 'late' && missed !== 'never') throw refusal('invalid', 'missed is late or never');
  checkZone(takeText(zone, 'zone', 64));
  const book = spawn(ScheduleBook(table<Entry>(), runner, { missed, zone: zone as string }, 0, null)) as ScheduleBook;
  // Its alarms go on from here, so they are under the grants of this turn and of no later call.
  book.tick();
  return spawn(ScheduleFace(book));
}
