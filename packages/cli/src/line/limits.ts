/** The limits that a person gives on the command line. */
import { durationPattern, milliseconds } from '@hob/manifest';
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

/** A time in ms. Errors: `Mistake`. */
export function durationOf(option: string, text: string): number {
  const ms = durationPattern.test(text) ? milliseconds(text) : 0;
  if (ms <= 0) throw new Mistake(`${option} takes a time above 0 like 15m, 8h or 30d`, 2);
  return ms;
}
