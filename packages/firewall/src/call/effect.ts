/**
 * The effect of a method: what its cap declares, or else what is assumed.
 *
 * A cap of ours declares every method. For a third party's object silence means the worse: an effect outside
 * that carries the arguments away and is hard to undo.
 */
import type { Effects } from '@hob/vat/forwarder';
import type { KnownEffect } from './call.ts';

const unknown: KnownEffect = Object.freeze({ class: 'C', undo: 'hard', outbound: true, assumed: true });
const declaredRead: KnownEffect = Object.freeze({ class: 'A', undo: 'hard', outbound: false, assumed: false });

/** `reads` are the methods of which the offer says that they change nothing. */
export function effectOf(method: string, effects: Effects | undefined, reads: readonly string[]): KnownEffect {
  const known = effects !== undefined && Object.hasOwn(effects, method) ? effects[method] : undefined;
  if (known === undefined) return reads.includes(method) ? declaredRead : unknown;
  const { class: of, undo = 'hard', outbound = false } = known;
  return { class: of, undo, outbound, assumed: false };
}
