/**
 * The guardrails of two layers.
 *
 * Promise: a lower layer warns and stops no later than the layer above, and cannot switch off what is on there. What a
 * layer does not name has its usual numbers, so a lower layer that allows more than those is held to them, too.
 */
import type { GuardrailPart } from '../../file/types.ts';
import type { PlannedGuardrails } from '../plan.ts';

type Name = keyof PlannedGuardrails;

/** As in the package that keeps them, which this one does not import. A test of `cli` compares both. */
export const usualGuardrails: Readonly<Record<Name, { readonly warn: number; readonly stop: number }>> = {
  exact_failure: { warn: 2, stop: 5 },
  same_method: { warn: 3, stop: 8 },
  same_result: { warn: 2, stop: 5 },
};

const names = Object.keys(usualGuardrails) as readonly Name[];

/** Those that are there, in the order of their names, so that equal plans are equal texts. */
export function plannedGuardrails(given: { readonly [N in Name]?: GuardrailPart | undefined } = {}): {
  readonly guardrails?: PlannedGuardrails;
} {
  const named = names.flatMap((name) => {
    const one = given[name];
    return one === undefined ? [] : [[name, one === 'off' ? one : { warn: one.warn, stop: one.stop }] as const];
  });
  return named.length === 0 ? {} : { guardrails: Object.fromEntries(named) };
}

/** `drop` is called with the name of each that the lower layer would have made laxer. */
export function narrowedGuardrails(
  own: PlannedGuardrails | undefined,
  wanted: PlannedGuardrails | undefined,
  drop: (name: Name) => void,
): PlannedGuardrails {
  const both = names.flatMap((name) => {
    const [above, lower] = [own?.[name], wanted?.[name]];
    if (lower === undefined) return above === undefined ? [] : [[name, above] as const];
    const most = above ?? usualGuardrails[name];
    if (most === 'off') return [[name, lower] as const];
    const least =
      lower === 'off' ? most : { warn: Math.min(most.warn, lower.warn), stop: Math.min(most.stop, lower.stop) };
    if (lower === 'off' || lower.warn > most.warn || lower.stop > most.stop) drop(name);
    return above === undefined && lower === 'off' ? [] : [[name, least] as const];
  });
  return Object.fromEntries(both);
}
