/** The bounds of the arguments of a tool, with paths as its server sees them. `hob check` loads this, and no host. */
import type { PlannedBound } from '@hob/manifest';
import type { Bounds } from '@hob/revocable';
import { type Bound, checkBound } from '@hob/revocable/bounds';
import { mountPoint } from './mount-point.ts';

type Where = Readonly<Record<string, PlannedBound>>;

/** A tool takes one record of named arguments. */
export const callBounds = (where: Where): Bounds => ({ call: { 0: argumentBound({ fields: where }) } });

/** What is wrong with bounds whose shape was checked: a template that is none, bounds too deep in each other. */
export function boundsFault(where: Where): string | undefined {
  try {
    checkBound(argumentBound({ fields: where }));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function argumentBound(bound: PlannedBound): Bound {
  if ('fields' in bound) return { fields: Object.fromEntries(Object.entries(bound.fields).map(([name, inner]) => [name, argumentBound(inner)])) }; // biome-ignore format: one line
  if ('optional' in bound) return { optional: argumentBound(bound.optional) };
  if (!('beneath' in bound)) return bound as Bound;
  return { beneath: mountPoint(bound.beneath).slice(1).split('/') };
}
