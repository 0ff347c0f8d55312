/** The command line of a program of this checkout. A wrong one ends with 2, as docs/exit-codes.md says. */
import { Command } from 'commander';

export const commandLine = (name: string): Command =>
  new Command(name).exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
