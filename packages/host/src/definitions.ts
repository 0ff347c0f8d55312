/** What a store needs to know to keep a host. */
import { definitions as ofGrants } from '@hob/revocable';
import type { AnyDefinition } from '@hob/vat';
import { GranterActor } from './granters/grants.ts';
import { LedgerReaderActor } from './granters/ledger-reader.ts';
import { GateAskActor } from './powerbox/gate.ts';
import { JudgeActor } from './powerbox/judge.ts';
import { PowerboxActor } from './powerbox/powerbox.ts';
import { RemoverActor } from './sessions/removal.ts';
import { SessionActor } from './sessions/sessions.ts';
import { HostStateActor } from './state/host-state.ts';

export const definitions: readonly AnyDefinition[] = Object.freeze([
  ...ofGrants,
  HostStateActor,
  SessionActor,
  RemoverActor,
  GranterActor,
  LedgerReaderActor,
  PowerboxActor,
  GateAskActor,
  JudgeActor,
]);
