/**
 * Second factor: how much depends on the target. The person who offers the object says so. No path and no command is
 * read to guess it.
 */
import type { AssessedCall, Factor } from '../../call/call.ts';

export function targetSensitivity({ effect, sensitivity }: AssessedCall): Factor {
  if (sensitivity !== 'high') return { risk: sensitivity === 'scratch' ? 0 : 0.2, confidence: 0.95 };
  const reason = 'much depends on what this cap leads to';
  return effect.class === 'A' ? { risk: 0.4, confidence: 0.9, reason } : { risk: 0.75, confidence: 0.9, reason };
}
