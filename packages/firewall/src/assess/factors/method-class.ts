/** First factor: the class of the method. Reading is low, local changes and effects outside are medium, the rest high. */
import type { AssessedCall, Factor } from '../../call/call.ts';

const risks = { A: 0.05, B: 0.3, C: 0.45, D: 0.9 } as const;
const reasons = {
  A: undefined,
  B: undefined,
  C: 'it has an effect outside of this machine',
  D: 'its cap declares the method as critical',
} as const;

export function methodClass({ effect }: AssessedCall): Factor {
  const reason = effect.assumed ? 'nobody declared what the method does' : reasons[effect.class];
  return {
    risk: risks[effect.class],
    confidence: effect.assumed ? 0.4 : 0.95,
    ...(reason === undefined ? {} : { reason }),
  };
}
