/** The public face of `@hob/firewall`. */
export {
  assess,
  highAbove,
  levelOf,
  lowBelow,
  type Opinion,
  type Pattern,
  type ToolCallAssessment,
  weakBelow,
} from './assess/assessment.ts';
export { type Mode, waits, wouldWait } from './assess/decide.ts';
export type { AssessedCall, Factor, KnownEffect, Sensitivity } from './call/call.ts';
export { effectOf } from './call/effect.ts';
export { type CrisisContext, type CrisisDetector, type CrisisVerdict, detectCrisis } from './crisis/detect.ts';
export { type FirewallOptions, makeFirewall } from './firewall.ts';
export { makeGuardrails } from './guardrails/guardrails.ts';
export type { GuardrailOptions, Threshold } from './guardrails/thresholds.ts';
export type { Hook, HookEvent, HookRun, HookRunner } from './hooks/hook.ts';
export { anthropicModel, type HttpModelOptions, openAiModel } from './judge/drivers/http-model.ts';
export { judgePowers } from './judge/drivers/powers.ts';
export { type JudgeOptions, type JudgePowers, type JudgeRunner, runJudge } from './judge/judge.ts';
export { type JudgeModel, ModelFailure, type Question } from './judge/model.ts';
export type { JudgeAct } from './judge/question.ts';
export { type Asked, type AskedOf, type Replay, replay } from './replay/replay.ts';
