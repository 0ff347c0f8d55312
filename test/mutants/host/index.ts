/** The mutants of `host`: a file for each folder of its sources. */
import type { Mutant } from '../mutant.ts';
import { MUTANTS as door } from './door.ts';
import { MUTANTS as drivers } from './drivers.ts';
import { MUTANTS as front } from './front.ts';
import { MUTANTS as granters } from './granters.ts';
import { MUTANTS as passkeys } from './passkeys.ts';
import { MUTANTS as powerbox } from './powerbox.ts';
import { MUTANTS as programs } from './programs.ts';
import { MUTANTS as sessions } from './sessions.ts';
import { MUTANTS as sharing } from './sharing.ts';
import { MUTANTS as state } from './state.ts';
import { MUTANTS as text } from './text.ts';
import { MUTANTS as top } from './top.ts';

export const MUTANTS: readonly Mutant[] = [
  ...text,
  ...drivers,
  ...state,
  ...sharing,
  ...passkeys,
  ...powerbox,
  ...sessions,
  ...granters,
  ...door,
  ...front,
  ...top,
  ...programs,
];
