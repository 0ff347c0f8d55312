/** The limits that a person gives on the command line. */
import { durationPattern, milliseconds } from '@hob/manifest/duration';
import { Mistake } from './mistake.ts';
import { type Given, textOf } from './verb.ts';

/** Limits as terms of a grant. */
interface Limits {
  readonly uses?: number;
  readonly for?: number;
}

/** Errors: `Mistake`. */
export function limitsOf(given: Given): Limits {
  const [uses, time] = [textOf(given, 'uses'), textOf(given, 'for')];
  if (uses !== undefined && !/^[1-9]\d{0,14}$/.test(uses))
    throw new Mistake('--uses takes a whole number above 0: --uses 5', 2);
  return {
    ...(uses === undefined ? {} : { uses: Number(uses) }),
    ...(time === undefined ? {} : { for: durationOf('--for', time) }),
  };
}

/** Limits, a date and methods. Errors: `Mistake`. */
export function termsOf(given: Given): Limits & { readonly until?: number; readonly methods?: readonly string[] } {
  const [day, methods] = [textOf(given, 'until'), textOf(given, 'methods')];
  const limits = limitsOf(given);
  const until = day === undefined ? undefined : Date.parse(day);
  if (until !== undefined && Number.isNaN(until)) throw new Mistake('--until takes a date: 2027-01-31', 2);
  if (until !== undefined && limits.for !== undefined) throw new Mistake('give --for or --until, not both', 2);
  return {
    ...limits,
    ...(until === undefined ? {} : { until }),
    ...(methods === undefined ? {} : { methods: methods.split(',') }),
  };
}

/** A time in ms. Errors: `Mistake`. */
export function durationOf(option: string, text: string): number {
  const ms = durationPattern.test(text) ? milliseconds(text) : 0;
  if (ms <= 0) throw new Mistake(`${option} takes a time above 0 like 15m, 8h or 30d`, 2);
  return ms;
}
