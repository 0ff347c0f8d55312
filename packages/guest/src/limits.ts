/**
 * The limits of a program.
 *
 * Promise: every program has every limit, and no limit is "unlimited". An evaluation can only lower those of
 * `openGuests`.
 */
import { CapError } from '@hob/vat';
import type { GuestLimits } from './types.ts';

export type FullLimits = Required<GuestLimits>;

const MiB = 2 ** 20;

export const defaultLimits: FullLimits = Object.freeze({
  wallMs: 600_000,
  cpuMs: 10_000,
  memoryBytes: 256 * MiB,
  outputBytes: MiB,
});

/** The least values. Node does not start with less memory. */
const least: FullLimits = { wallMs: 1, cpuMs: 10, memoryBytes: 96 * MiB, outputBytes: 0 };
const names: readonly (keyof FullLimits)[] = ['wallMs', 'cpuMs', 'memoryBytes', 'outputBytes'];
/** The longest time that a timer can wait. */
const longestMs = 0x7fff_ffff;

/** Applies `given` to `base`. With `lowers`, a limit above that of `base` is refused. */
export function limitsOf(base: FullLimits, given: unknown, lowers: boolean): FullLimits {
  if (given === undefined) return base;
  if (typeof given !== 'object' || given === null) throw new CapError('invalid', 'limits are a record of numbers');
  const made: Record<string, number> = { ...base };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!names.includes(name as keyof FullLimits))
      throw new CapError('invalid', `no limit is called "${name.slice(0, 64)}": choose from ${names.join(', ')}`);
    const limit = name as keyof FullLimits;
    if (!Number.isSafeInteger(value) || value < least[limit] || (limit.endsWith('Ms') && value > longestMs))
      throw new CapError('invalid', `${limit} is a whole number, ${least[limit]} or more`);
    if (lowers && value > base[limit])
      throw new CapError('invalid', `${limit} is ${base[limit]} here, and can only be lowered`);
    made[limit] = value;
  }
  return Object.freeze(made) as FullLimits;
}
