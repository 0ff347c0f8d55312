/** The command line of a program of this checkout. A wrong one ends with 2, as docs/exit-codes.md says. */
import { Command, InvalidArgumentError } from 'commander';

export const commandLine = (name: string): Command =>
  new Command(name).exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

/** Reads a whole number of at least `least`. */
export const atLeast =
  (least: number) =>
  (text: string): number => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < least)
      throw new InvalidArgumentError(`It is a whole number from ${least}.`);
    return Number(text);
  };

/** Reads `2/5`: the third of five parts. */
export function partOf(text: string): { readonly part: number; readonly of: number } {
  const [, part, of] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? [];
  if (Number(part) < Number(of)) return { part: Number(part), of: Number(of) };
  throw new InvalidArgumentError('It is K/N, such as 0/4 for the first of four parts.');
}
