/**
 * Fifth factor: how certain the call is about what it means. Arguments that are broad or say little lower the
 * confidence. They never raise it.
 *
 * It looks at the shape of the arguments alone: no text of them is compared with anything.
 */
import type { AssessedCall, Factor } from '../../call/call.ts';

const certain: Factor = Object.freeze({ risk: 0, confidence: 0.9 });

export function contextCertainty({ effect, args }: AssessedCall): Factor {
  if (effect.class === 'A') return certain;
  if (args.some(isBroad)) return { risk: 0.3, confidence: 0.45, reason: 'it may reach much at once' };
  if (args.length > 0 && args.every(saysNothing)) return { risk: 0.25, confidence: 0.45, reason: 'its arguments say little' }; // biome-ignore format: one line
  return certain;
}

/** An option that makes a call reach everything beneath, or replace what is there. */
const broad = ['recursive', 'force', 'all', 'replace', 'overwrite'] as const;

function isBroad(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) return false;
  return broad.some((name) => Object.hasOwn(value, name) && (value as Record<string, unknown>)[name] === true);
}

const saysNothing = (value: unknown): boolean => value === undefined || value === null || value === '';
