/** Third factor: how far the effect can be undone. Reading leaves nothing to undo. */
import type { AssessedCall, Factor } from '../../call/call.ts';

const risks = { easy: 0.1, hard: 0.35, impossible: 0.8 } as const;

export function reversibility({ effect }: AssessedCall): Factor {
  if (effect.class === 'A') return { risk: 0, confidence: 0.95 };
  const risk = risks[effect.undo];
  return effect.undo === 'impossible'
    ? { risk, confidence: 0.95, reason: 'its effect cannot be undone' }
    : { risk, confidence: 0.9 };
}
