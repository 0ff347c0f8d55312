/**
 * `@hob/vat`: what a writer of actors needs, and what a program needs to run them.
 *
 * Everything else has a face of its own: `actors`, `wire`, `store`, `forwarder`, `testing`, `peer`. The names
 * below that other faces export as well stay here because programs outside Hob import them from here.
 */

// Actors.
export { spawn } from './actor/actor.ts';
export { table } from './actor/table.ts';
export { cancelWake, wakeAt } from './actor/wake.ts';
// Over a wire: see `wire.ts`.
export {
  type CapTPOptions,
  type Connection,
  captp,
  type DialectOrOcapn as Dialect,
  release,
} from './captp/captp.ts';
export { connect } from './captp/connect.ts';
export type { Duplex } from './captp/session/duplex.ts';
export type { CapTPLimits } from './captp/session/limits.ts';
export type { CapTPStats } from './captp/session/session.ts';
export { fromChild } from './captp/transport/child.ts';
export { memoryPair } from './captp/transport/memory-pair.ts';
export { fromWebSocket } from './captp/transport/websocket.ts';
// Errors, references, types.
export { CapError, type LifecycleCode, type VatCode } from './core/errors.ts';
export { handOver } from './core/hand-over.ts';
export { isReference } from './core/reference.ts';
export type {
  Answers,
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
// Messages.
export { E } from './eventual/eventual.ts';
export { promise } from './eventual/resolver.ts';
export { onSever, type Severed } from './eventual/sever.ts';
export { type ByteSink, type ByteSource, iterate } from './eventual/streams.ts';
// A store: see `store.ts`.
export { exportLedger } from './ledger/export.ts';
export { type LedgerVerdict, verifyLedger } from './ledger/verify.ts';
export { backup, openStore, type Store } from './store/store.ts';
export type { Clock } from './time/clock.ts';
// Drivers, definitions, the running turn.
export { type DriverOptions, driver } from './turn/driver.ts';
export type { DriverCall } from './turn/driver-call.ts';
export { driverOf } from './turn/driver-of.ts';
export { define, defineProcedure } from './turn/portrait.ts';
export { attempt, ledgerLine, vatTime, wallTime } from './turn/turn.ts';
// Vats.
export type { Vat, Vats, VatsOptions } from './vats/interface.ts';
export { trace } from './vats/trace.ts';
export { openVats } from './vats/vats.ts';
