/** The public face of `@hob/vat`: actors, turns, references, meters, drivers, the store and its ledger. */
export { spawn } from './actor.ts';
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
export { closeCodes, type Duplex } from './captp/duplex.ts';
export { type CapTPLimits, defaultLimits } from './captp/session/limits.ts';
export type { CapTPStats } from './captp/session/session.ts';
export type { Clock } from './clock.ts';
export { cut } from './cut.ts';
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
} from './driver.ts';
export { restoreStore } from './drivers/backup.ts';
export { fromChild } from './drivers/child.ts';
export { systemClock } from './drivers/clock.ts';
export { memoryPair } from './drivers/memory-pair.ts';
export { type PipeChannel, pipeChannel } from './drivers/pipe.ts';
export { systemRandom } from './drivers/random.ts';
export { fromWebSocket, largestFrame } from './drivers/websocket.ts';
export { ephemeral } from './ephemeral.ts';
export { CapError, type LifecycleCode, type VatCode } from './errors.ts';
export { E } from './eventual.ts';
export { breakAnswer, frozenCopy, frozenData, tellAnyway } from './forwarding.ts';
export { handOver } from './hand-over.ts';
export { argumentsOf, became, becomes, lastingName } from './identity.ts';
export { exportLedger } from './ledger/export.ts';
export { checkpointsIn } from './ledger/note.ts';
export { ledgerArguments, redactLedger } from './ledger/redact.ts';
export { type LedgerVerdict, type VerifyOptions, verifyLedger } from './ledger/verify.ts';
export { chargeConnection } from './meter.ts';
export { forwardsTo } from './outside.ts';
export { type Passing, passOn } from './passing.ts';
export { define, defineProcedure } from './portrait.ts';
export { isReference } from './reference.ts';

export { farOf, promise } from './resolver.ts';
export { backup, openStore, type Store } from './store/store.ts';
export { type ByteSink, type ByteSource, iterate } from './streams.ts';
export { base32, hashSecret, newSecret } from './sturdyrefs.ts';
export { symbolKey } from './symbols.ts';
export { table } from './table.ts';
export { type TestClock, testClock } from './test-clock.ts';
export { trace } from './trace.ts';
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
} from './turn.ts';
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
} from './types.ts';
export { openVats } from './vats.ts';
export type { Vat, Vats, VatsOptions } from './vats-interface.ts';
export { cancelWake, wakeAt } from './wake.ts';
export { type Watch, watch } from './watch.ts';
export { onlyVats, vatOf, vatsOf } from './which-vats.ts';
