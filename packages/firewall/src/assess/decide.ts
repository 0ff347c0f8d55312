/**
 * Whether an assessed call goes on.
 *
 * Promise: a higher score, less confidence or a lower level of the grant never turns a call that waits into one that
 * goes on. A crisis-sensitive call that leaves this machine, or cannot be undone, waits at every level.
 */
import type { CallLevel } from '@hob/host';
import type { AssessedCall } from '../call/call.ts';
import { leaves, levelOf, lowBelow, type ToolCallAssessment, weakBelow } from './assessment.ts';

/** In `observe` only what must never go on by itself waits. */
export type Mode = 'observe' | 'enforce';

const order: Readonly<Record<CallLevel, number>> = { low: 0, medium: 1, high: 2 };

/** `level`: the highest level at which the grant lets a call go on. */
export function waits(
  assessment: ToolCallAssessment,
  call: AssessedCall,
  { mode, level }: { readonly mode: Mode; readonly level: CallLevel },
): boolean {
  if (assessment.crisis_sensitive && leaves(call)) return true;
  if (mode === 'observe') return false;
  return wouldWait(assessment.risk_score, assessment.confidence, level);
}

/** What enforcing does with a score. Also for a replay of a ledger. */
export function wouldWait(score: number, confidence: number, level: CallLevel): boolean {
  if (order[levelOf(score)] > order[level]) return true;
  return score >= lowBelow && confidence < weakBelow;
}
