/** The public names of `@hob/vat`: actors, turns, references, meters, drivers, the store and its ledger. */
export { spawn } from './actor/actor.ts';
export { ephemeral } from './actor/ephemeral.ts';
export { breakAnswer, frozenCopy, frozenData, tellAnyway } from './actor/forwarding.ts';
export { argumentsOf, became, becomes, lastingName } from './actor/identity.ts';
export { table } from './actor/table.ts';
export { cancelWake, wakeAt } from './actor/wake.ts';
export * from './actors/index.ts';
export {
  type CapTPOptions,
  type Connected,
  type Connection,
  captp,
  type DialectOrOcapn as Dialect,
  dialects,
  release,
  type WireFault,
} from './captp/captp.ts';
export { connect } from './captp/connect.ts';
export { closeCodes, type Duplex } from './captp/session/duplex.ts';
export { type CapTPLimits, defaultLimits } from './captp/session/limits.ts';
export type { CapTPStats } from './captp/session/session.ts';
export { fromChild } from './captp/transport/child.ts';
export { memoryPair } from './captp/transport/memory-pair.ts';
export { type PipeChannel, pipeChannel } from './captp/transport/pipe.ts';
export { fromWebSocket, largestFrame } from './captp/transport/websocket.ts';
export type { Group } from './core/causes.ts';
export { CapError, type LifecycleCode, type VatCode } from './core/errors.ts';
export { handOver } from './core/hand-over.ts';
export { chargeConnection } from './core/meter.ts';
export { forwardsTo } from './core/outside.ts';
export { isReference } from './core/reference.ts';
export { symbolKey } from './core/symbols.ts';
export type {
  AnyDefinition,
  Bcom,
  Become,
  Behaviour,
  DefineOptions,
  Definition,
  Eventual,
  Far,
  Faraway,
  Meter,
  Outcome,
  Portrait,
  Ref,
  Sent,
  Table,
  TurnRecord,
} from './core/types.ts';
export { systemClock } from './drivers/clock.ts';
export { systemRandom } from './drivers/random.ts';
export { E } from './eventual/eventual.ts';
export { type Passing, passOn } from './eventual/passing.ts';
export { farOf, promise } from './eventual/resolver.ts';
export { type ByteSink, type ByteSource, iterate } from './eventual/streams.ts';
export { exportLedger } from './ledger/export.ts';
export { checkpointsIn } from './ledger/note.ts';
export { ledgerArguments, redactLedger } from './ledger/redact.ts';
export { type Retained, retainLedger } from './ledger/retain.ts';
export { type LedgerVerdict, type VerifyOptions, verifyLedger } from './ledger/verify.ts';
export { restoreStore } from './store/drivers/backup.ts';
export { backup, openStore, type Store } from './store/store.ts';
export type { Clock } from './time/clock.ts';
export { type TestClock, testClock } from './time/test-clock.ts';
export { cut } from './turn/cut.ts';
export {
  type DriverCall,
  type DriverOptions,
  drivenBy,
  driver,
  driverOf,
  lastsUnder,
  named,
  objectOf,
  shownMethods,
} from './turn/driver.ts';
export { define, defineProcedure } from './turn/portrait.ts';
export {
  attempt,
  bootId,
  byMessage,
  freshName,
  inTurn,
  ledgerLine,
  storeEra,
  suspended,
  under,
  vatTime,
  wallTime,
} from './turn/turn.ts';
export { type Watch, watch } from './turn/watch.ts';
export type { Vat, Vats, VatsOptions } from './vats/interface.ts';
export { base32, hashSecret, newSecret } from './vats/sturdyrefs.ts';
export { trace } from './vats/trace.ts';
export { openVats } from './vats/vats.ts';
export { onlyVats, vatOf, vatsOf } from './vats/which-vats.ts';
