/** The mutants of `vat`: a file for each folder of its sources. */
import type { Mutant } from '../mutant.ts';
import { MUTANTS as actor } from './actor.ts';
import { MUTANTS as actors } from './actors.ts';
import { MUTANTS as captp } from './captp.ts';
import { MUTANTS as captpDialects } from './captp-dialects.ts';
import { MUTANTS as captpSession } from './captp-session.ts';
import { MUTANTS as core } from './core.ts';
import { MUTANTS as durable } from './durable.ts';
import { MUTANTS as eventual } from './eventual.ts';
import { MUTANTS as ledger } from './ledger.ts';
import { MUTANTS as store } from './store.ts';
import { MUTANTS as turn } from './turn.ts';
import { MUTANTS as vats } from './vats.ts';

export const MUTANTS: readonly Mutant[] = [
  ...core,
  ...store,
  ...ledger,
  ...durable,
  ...turn,
  ...actor,
  ...eventual,
  ...vats,
  ...captpSession,
  ...captpDialects,
  ...captp,
  ...actors,
];
