/** Fourth factor: what the call may do to a person. */
import type { AssessedCall, Factor } from '../../call/call.ts';

export function humanImpact({ effect, crisis }: AssessedCall): Factor {
  if (crisis) return { risk: 1, confidence: 0.95, reason: 'it is about a person who may be in danger' };
  return effect.outbound
    ? { risk: 0.4, confidence: 0.8, reason: 'somebody outside receives what it carries' }
    : { risk: 0, confidence: 0.95 };
}
