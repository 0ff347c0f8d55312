/** Every mutant of the repository. Add a row to the file of its package. */
import { MUTANTS as bridgePython } from './bridge-python.ts';
import { MUTANTS as capsFs } from './caps-fs.ts';
import { MUTANTS as capsShell } from './caps-shell.ts';
import { MUTANTS as guest } from './guest.ts';
import { MUTANTS as host } from './host.ts';
import type { Mutant } from './mutant.ts';
import { MUTANTS as revocable } from './revocable.ts';
import { MUTANTS as vat } from './vat.ts';

export const MUTANTS: readonly Mutant[] = [
  ...vat,
  ...revocable,
  ...capsFs,
  ...capsShell,
  ...guest,
  ...host,
  ...bridgePython,
];
