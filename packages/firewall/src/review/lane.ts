/**
 * Which calls go on at once and are looked at afterwards (the report's pattern 2).
 *
 * Promise: only a local change of low or medium risk that can be taken back. Never one about a person in danger, one
 * that costs money or destroys (class D), one of what much depends on (configuration), or one that carries something
 * to somebody. A score above 0.6 waits, whatever else holds.
 */
import type { CallLevel } from '@hob/host';
import { highAbove, lowBelow, type ToolCallAssessment } from '../assess/assessment.ts';
import type { AssessedCall } from '../call/call.ts';

/** `level`: the highest level at which the grant lets a call go on. */
export function isReviewed(
  { risk_score }: ToolCallAssessment,
  { effect, sensitivity, crisis }: AssessedCall,
  { level, undoes }: { readonly level: CallLevel; readonly undoes: boolean },
): boolean {
  if (!undoes || level === 'low') return false;
  if (risk_score < lowBelow || risk_score > highAbove) return false;
  if (crisis || sensitivity === 'high') return false;
  return effect.class === 'B' && effect.undo !== 'impossible' && !effect.outbound && !effect.assumed;
}
