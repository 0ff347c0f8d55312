/** When a schedule runs: as it is written, and the time that follows. */
import type { CapError } from '@hob/vat';
import { takeText } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { checkCron, nextTime, tightest } from './drivers/cron.ts';

/** Data, for a store. */
export type When =
  | { readonly kind: 'cron'; readonly line: string; readonly zone: string }
  | { readonly kind: 'interval'; readonly text: string; readonly ms: number }
  | { readonly kind: 'once'; readonly text: string };

const MINUTE = 60_000;
/** The shortest interval of any schedule. */
export const SHORTEST: number = MINUTE;
const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: 60 * MINUTE, d: 24 * 60 * MINUTE };
export const LONGEST: number = 10 * 366 * 24 * 60 * MINUTE;

/** Errors: `invalid`, also for what would run more often than every `shortest` ms. */
export function takeWhen(
  given: unknown,
  { zone, shortest }: { readonly zone: string; readonly shortest: number },
): When {
  const text = takeText(given, 'when', 100);
  const [, count, unit = ''] = /^([1-9][0-9]{0,6})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) {
    const ms = Number(count) * (UNITS[unit] as number);
    if (ms > LONGEST) throw refusal('invalid', 'an interval has at most ten years');
    if (ms < shortest) throw tooOften(shortest);
    return { kind: 'interval', text, ms };
  }
  if (!text.includes(' '))
    throw refusal('invalid', 'when is an interval of at least 1 minute (15m, 6h, 2d) or a cron line of five fields');
  checkCron(text, zone);
  if (shortest > MINUTE && tightest(text, shortest) < shortest) throw tooOften(shortest);
  return { kind: 'cron', line: text, zone };
}

const tooOften = (shortest: number): CapError =>
  refusal(
    'invalid',
    `two runs would be less than ${Math.round(shortest / MINUTE)} minutes apart, the least that is granted`,
  );

/** A time in the future, as text with an offset. Errors: `invalid`. */
export function takeTime(given: unknown, now: number): { readonly when: When; readonly at: number } {
  const text = takeText(given, 'time', 40);
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(at)) throw refusal('invalid', 'a time is written as 2027-03-01T09:00:00Z or with +01:00');
  if (at <= now || at > now + LONGEST) throw refusal('invalid', 'the time is over, or more than ten years away');
  return { when: { kind: 'once', text }, at };
}

export const whenText = (when: When): string => (when.kind === 'cron' ? when.line : when.text);

/** The first time after `now` on the clock that the schedule goes by; undefined if there is none. */
export function following(when: When, last: number, now: number): number | undefined {
  if (when.kind === 'once') return undefined;
  if (when.kind === 'cron') return nextTime(when.line, when.zone, now);
  // Late runs do not move the others.
  return last + when.ms * Math.max(1, Math.floor((now - last) / when.ms) + 1);
}
