/**
 * The times of a cron line, by croner. It sets no timer.
 *
 * Promise: an hour that daylight saving leaves out runs once, right after it; an hour that comes twice runs once, unless
 * the line is for every hour. Croner runs a line with steps in both.
 */
import { Cron } from 'croner';
import { refusal } from '../../base/errors.ts';

const FIELD = /^[0-9A-Za-z*,/#?+-]+$/;
/** Croner looks as far. A line without a time in it has none. */
const MOST_SKIPPED = 500;
/** Runs that are 2 minutes apart are 720 a day, so these have every distance within a day, and that over midnight. */
const MOST_TIMES = 750;
/** A leap year begins, so that 29 February is seen as well. */
const YEAR = new Date('2028-01-01T00:00:00Z');

/** Checks the line and the zone. Errors: `invalid`. */
export function checkCron(line: string, zone: string): void {
  const fields = line.split(' ');
  if (fields.length !== 5 || line.length > 100 || !fields.every((field) => FIELD.test(field)))
    throw refusal('invalid', 'a cron line has five fields with one space between: minute hour day month weekday');
  checkZone(zone);
  let cron: Cron;
  try {
    cron = new Cron(line, { timezone: zone, paused: true });
  } catch {
    throw refusal(
      'invalid',
      'a field of the cron line is not one: minute 0-59, hour 0-23, day 1-31, month 1-12, weekday 0-7',
    );
  }
  cron.stop();
}

/** Errors: `invalid`. */
export function checkZone(zone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    throw refusal('invalid', 'a time zone is written as Europe/Berlin or UTC');
  }
}

/** The first time after `from`, in ms since 1970; undefined if there is none. */
export function nextTime(line: string, zone: string, from: number): number | undefined {
  const cron = new Cron(line, { timezone: zone, paused: true });
  const everyHour = line.split(' ')[1] === '*';
  let next = cron.nextRun(new Date(from));
  for (let n = 0; next !== null && !everyHour && isSecondPass(next, zone); n += 1) {
    if (n > MOST_SKIPPED) return undefined;
    next = cron.nextRun(next);
  }
  return next?.getTime();
}

/**
 * The shortest time between two runs of a line, in ms, or the first one below `enough`. By the clock of UTC: daylight
 * saving makes one night of a year shorter, and is no reason to refuse a daily line.
 */
export function tightest(line: string, enough: number): number {
  const cron = new Cron(line, { timezone: 'UTC', paused: true });
  let least = Number.POSITIVE_INFINITY;
  let before = cron.nextRun(YEAR);
  for (let n = 0; n < MOST_TIMES && before !== null && least >= enough; n += 1) {
    const next = cron.nextRun(before);
    if (next !== null) least = Math.min(least, next.getTime() - before.getTime());
    before = next;
  }
  return least;
}

/** Whether the clocks of the zone showed the same an hour or half an hour before (Lord Howe). */
const isSecondPass = (time: Date, zone: string): boolean =>
  [30, 60].some((minutes) => shown(time, zone) === shown(new Date(time.getTime() - minutes * 60_000), zone));

const formats = new Map<string, Intl.DateTimeFormat>();
function shown(time: Date, zone: string): string {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
    formats.set(zone, format);
  }
  return format.format(time);
}

/** ms since 1970 as ISO 8601; a later time than there is becomes the last one. */
export const isoOf = (ms: number): string => new Date(Math.min(ms, 8.64e15)).toISOString();
