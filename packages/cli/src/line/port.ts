/** Reads an option that takes a port. */
import { Mistake } from './mistake.ts';
import { type Given, textOf } from './verb.ts';

/** Returns undefined if the option is not given. Errors: `Mistake`. */
export function portOf(given: Given, name: string): number | undefined {
  const text = textOf(given, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new Mistake(`--${name} takes a number from 0 to 65,535`, 2);
  return Number(text);
}
