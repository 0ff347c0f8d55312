/** The limits of the connections of a net cap. */
import { takeCount, takeRecord } from '../base/arguments.ts';
import type { NetLimits } from './net-cap.ts';

const LIMITS: Readonly<Record<keyof NetLimits, readonly [usual: number, most: number]>> = {
  connections: [64, 1_024],
  bytes: [2 ** 30, Number.MAX_SAFE_INTEGER],
  connectMs: [10_000, 3_600_000],
  idleMs: [300_000, 86_400_000],
};

/** Errors: `invalid`. */
export function takeLimits(given: unknown): NetLimits {
  const some = takeRecord(given, 'limits', Object.keys(LIMITS));
  const entries = Object.entries(LIMITS).map(([name, [usual, most]]) => [
    name,
    some[name] === undefined ? usual : takeCount(some[name], `limits.${name}`, 1, most),
  ]);
  return Object.freeze(Object.fromEntries(entries)) as NetLimits;
}
