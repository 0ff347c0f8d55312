/**
 * The limits of a program.
 *
 * Promise: every program has every limit, and no limit is "unlimited". An evaluation can only lower those of
 * `openGuests`.
 */
import { CapError } from '@hob/vat';
import { takeRecord } from '@hob/vat/forwarder';
import type { GuestLimits } from './types.ts';

export type ProgramLimits = Required<GuestLimits>;

const MiB = 2 ** 20;

/**
 * The limits of a program for which nobody names others: 10 minutes, 10 s of processor time, 256 MiB of
 * memory, 1 MiB of output. Times are in ms, sizes in bytes.
 */
export const defaultLimits: ProgramLimits = Object.freeze({
  wallMs: 600_000,
  cpuMs: 10_000,
  memoryBytes: 256 * MiB,
  outputBytes: MiB,
});

/** The least values. Node does not start with less memory. */
const least: ProgramLimits = { wallMs: 1, cpuMs: 10, memoryBytes: 96 * MiB, outputBytes: 0 };
const names: readonly (keyof ProgramLimits)[] = ['wallMs', 'cpuMs', 'memoryBytes', 'outputBytes'];
/** The longest time that a timer can wait. */
const longestMs = 0x7fff_ffff;

/** Applies `given` to `base`. With `lowers`, a limit above that of `base` is refused. */
export function limitsOf(base: ProgramLimits, given: unknown, lowers: boolean): ProgramLimits {
  if (given === undefined) return base;
  const made: Record<string, number> = { ...base };
  for (const [name, value] of Object.entries(takeRecord(given, 'an evaluation', names, 'limit')) as [
    string,
    number,
  ][]) {
    if (value === undefined) continue;
    const limit = name as keyof ProgramLimits;
    if (!Number.isSafeInteger(value) || value < least[limit] || (limit.endsWith('Ms') && value > longestMs))
      throw new CapError('invalid', `${limit} is a whole number, ${least[limit]} or more`);
    if (lowers && value > base[limit])
      throw new CapError('invalid', `${limit} is ${base[limit]} here, and can only be lowered`);
    made[limit] = value;
  }
  return Object.freeze(made) as ProgramLimits;
}
