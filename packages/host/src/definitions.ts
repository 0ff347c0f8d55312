/** The actor definitions that a host's store needs to restore its actors. */
import { definitions as ofGrants } from '@hob/revocable';
import type { AnyDefinition } from '@hob/vat';
import { GranterActor } from './granters/granter.ts';
import { LedgerReaderActor } from './granters/ledger-reader.ts';
import { LocalGranterActor } from './granters/local-granter.ts';
import { HookJudgeActor } from './hooks/hook-judge.ts';
import { OnlookerActor } from './hooks/onlooker.ts';
import { ReviewActor } from './hooks/review.ts';
import { PasskeysActor } from './passkeys/passkeys.ts';
import { AskFacetActor } from './powerbox/ask-facet.ts';
import { GateAskActor } from './powerbox/gate.ts';
import { JudgeActor } from './powerbox/judge.ts';
import { OwnGateActor, OwnNotesActor } from './powerbox/own/own-files.ts';
import { OwnObjectsGateActor, OwnObjectsNotesActor } from './powerbox/own/own-objects.ts';
import { PowerboxActor } from './powerbox/powerbox.ts';
import { ChangeAskActor } from './sessions/ask-change.ts';
import { GraceActor } from './sessions/grace.ts';
import { RemoverActor } from './sessions/removal.ts';
import { SessionActor } from './sessions/sessions.ts';
import { HostStateActor } from './state/host-state.ts';

export const definitions: readonly AnyDefinition[] = Object.freeze([
  ...ofGrants,
  HostStateActor,
  SessionActor,
  RemoverActor,
  GraceActor,
  GranterActor,
  LedgerReaderActor,
  LocalGranterActor,
  PasskeysActor,
  PowerboxActor,
  GateAskActor,
  OwnGateActor,
  OwnNotesActor,
  OwnObjectsGateActor,
  OwnObjectsNotesActor,
  HookJudgeActor,
  OnlookerActor,
  ReviewActor,
  AskFacetActor,
  ChangeAskActor,
  JudgeActor,
]);
