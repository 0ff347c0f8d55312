/**
 * The assessment of one call: a score from five factors, and what follows from it.
 *
 * The score is the largest factor, the confidence the smallest one, so a factor that grows never lowers the score.
 * After the report "Human Confirmation Firewall", sections 4 to 6, where the shape and the thresholds come from.
 */
import type { CallLevel } from '@hob/host';
import type { AssessedCall, Factor } from '../call/call.ts';
import { contextCertainty } from './factors/certainty.ts';
import { humanImpact } from './factors/human-impact.ts';
import { methodClass } from './factors/method-class.ts';
import { reversibility } from './factors/reversibility.ts';
import { targetSensitivity } from './factors/sensitivity.ts';

/** When a call is looked at by a person: before it, after it, or only if it is risky or unclear. */
export type Pattern = 'pre_execution_gate' | 'post_execution_review' | 'confidence_threshold';

/** The names are those of the report, so that traces of both can be compared. */
export interface ToolCallAssessment {
  readonly tool_name: string;
  /** From 0 (harmless) to 1. */
  readonly risk_score: number;
  /** How sure the score is, from 0 to 1. */
  readonly confidence: number;
  readonly pattern: Pattern;
  readonly requires_human: boolean;
  readonly reasons: readonly string[];
  readonly reversible: boolean;
  readonly crisis_sensitive: boolean;
}

/** A plugin of an embedder. It may raise the risk and lower the confidence. What would do the opposite has no effect. */
export type Opinion = (call: AssessedCall) => Factor | undefined;

const factors: readonly ((call: AssessedCall) => Factor)[] = [
  methodClass,
  targetSensitivity,
  reversibility,
  humanImpact,
  contextCertainty,
];

/** Scores below it are low. */
export const lowBelow = 0.25;
/** Scores above it are high. */
export const highAbove = 0.6;
/** With less confidence, a call of medium risk waits. */
export const weakBelow = 0.5;

/** The level of a score: low below 0.25, high above 0.6. */
export const levelOf = (score: number): CallLevel => (score < lowBelow ? 'low' : score > highAbove ? 'high' : 'medium');

/** Assesses a call. A plugin that throws counts as the highest risk. */
export function assess(call: AssessedCall, toolName: string, opinions: readonly Opinion[] = []): ToolCallAssessment {
  let score = 0;
  let confidence = 1;
  const reasons: string[] = [];
  const take = (factor: Factor | undefined): void => {
    if (factor === undefined) return;
    score = Math.max(score, within(factor.risk, 1));
    confidence = Math.min(confidence, within(factor.confidence, 0));
    if (factor.reason !== undefined) reasons.push(factor.reason);
  };
  for (const factor of factors) take(factor(call));
  for (const opinion of opinions) take(opinionOf(opinion, call));
  const { crisis, effect } = call;
  const gate = score > highAbove || (crisis && leaves(call));
  return {
    tool_name: toolName,
    risk_score: score,
    confidence,
    pattern: gate ? 'pre_execution_gate' : 'confidence_threshold',
    requires_human: gate || (score >= lowBelow && confidence < weakBelow),
    reasons,
    reversible: effect.class === 'A' || effect.undo === 'easy',
    crisis_sensitive: crisis,
  };
}

/** A draft on this machine that can be undone is no intervention. */
export const leaves = ({ effect }: AssessedCall): boolean => effect.outbound || effect.undo === 'impossible';

const failedOpinion: Factor = Object.freeze({ risk: 1, confidence: 0, reason: 'a plugin failed to assess it' });

function opinionOf(opinion: Opinion, call: AssessedCall): Factor | undefined {
  try {
    return opinion(call);
  } catch {
    return failedOpinion;
  }
}

/** A number that is none, or out of range, counts as `worst`. */
const within = (value: number, worst: number): number => (value >= 0 && value <= 1 ? value : worst);
