/** What a store needs to know to keep a host. */
import { definitions as ofGrants } from '@hob/revocable';
import type { AnyDefinition } from '@hob/vat';
import { HouseActor } from './book.ts';
import { GranterActor } from './grants.ts';
import { LedgerReaderActor } from './ledger-reader.ts';
import { GateAskActor } from './powerbox/gate.ts';
import { JudgeActor } from './powerbox/judge.ts';
import { PowerboxActor } from './powerbox/powerbox.ts';
import { SessionActor } from './sessions.ts';

export const definitions: readonly AnyDefinition[] = Object.freeze([
  ...ofGrants,
  HouseActor,
  SessionActor,
  GranterActor,
  LedgerReaderActor,
  PowerboxActor,
  GateAskActor,
  JudgeActor,
]);
