/**
 * `hob.yaml`: what a session may hold, as data.
 *
 * `check` reads manifests, finds mistakes with their lines, and compiles a plan. `decide` says what a call would do
 * under a plan. Nothing here touches a file, a clock or a program.
 */

export type { A2aPart, A2aPeer, PublicKey } from './file/a2a-part.ts';
export type { ChatPart } from './file/chat-part.ts';
export { type Parsed, parse } from './file/parse.ts';
export { jsonSchema, manifestSchema } from './file/schema.ts';
export { DURATION as durationPattern, milliseconds } from './file/terms.ts';
export * from './file/types.ts';
export { type Checked, check, type Layer, type LayerName, layers } from './layers.ts';
export { type Compiled, compile, type Surroundings } from './plan/compile.ts';
export { type Call, type Decision, decide, decisionsOf, takesArgs } from './plan/decide.ts';
export { canBeDraft, type Effect, effectOfFs, isWritable, methodsOf, rightsNaming } from './plan/effects.ts';
export { type DateText, type Explained, explain } from './plan/explain.ts';
export type {
  Directory,
  Given,
  Plan,
  PlannedA2a,
  PlannedAgent,
  PlannedBound,
  PlannedCap,
  PlannedChannel,
  PlannedChat,
  PlannedCommand,
  PlannedFirewall,
  PlannedForward,
  PlannedFs,
  PlannedGuardrails,
  PlannedHook,
  PlannedHost,
  PlannedHttp,
  PlannedMcp,
  PlannedMessage,
  PlannedPeer,
  PlannedRequests,
  PlannedSchedule,
  PlannedShell,
  PlannedSign,
  PlannedTerms,
  PlannedUnix,
} from './plan/plan.ts';
export { isOfPrograms } from './plan/program-net.ts';
export { usualGuardrails } from './plan/rest/guardrails.ts';
export type { Machine, Origin } from './plan/roots.ts';
export { type Move, moved, movedText } from './starter/move.ts';
export { type May, type Start, type StartCommand, startCommands, starterText } from './starter/starter.ts';
export { type Finding, lineOf, type Mistake, type Path, type Severity, type TextPosition } from './text/mistakes.ts';
export type { Document, Source } from './text/read.ts';
export { type WishAround, type Wished, wish } from './wish.ts';
export { hidden } from './words/except.ts';
export { REVIEWED as reviewedFlags } from './words/flags.ts';
export type { Word } from './words/row.ts';
