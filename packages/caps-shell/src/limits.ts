/**
 * Limits of a job.
 *
 * Promise: every job has all of them; there is no "unlimited". Who holds a cap can lower them, for a job or for good, and never raise one.
 */
import { CapError } from '@hob/vat';
import type { ShellLimits } from './shell-cap.ts';
import { takeRecord } from './taking.ts';
import type { Limits } from './world.ts';

export type FullLimits = Required<ShellLimits>;

const MiB = 2 ** 20;
const names = [
  'wallMs',
  'cpuMs',
  'memoryBytes',
  'processes',
  'fileBytes',
  'tmpBytes',
  'openFiles',
  'outputBytes',
] as const;
/** A longer timer fires at once. */
const LONGEST_MS = 0x7fff_ffff;

/** The granter's, over the defaults. */
export function fullLimits(given: unknown): FullLimits {
  const said = takeLimits(given);
  const wallMs = said.wallMs ?? 120_000;
  return Object.freeze({
    wallMs,
    cpuMs: 2 * wallMs,
    memoryBytes: 2048 * MiB,
    processes: 512,
    fileBytes: 1024 * MiB,
    tmpBytes: 512 * MiB,
    openFiles: 4096,
    outputBytes: 64 * MiB,
    ...said,
  });
}

/** Less of it. Errors: `E_NOT_ATTENUATION`, `E_LIMIT_INVALID`. */
export function lowered(limits: FullLimits, given: unknown): FullLimits {
  const said = takeLimits(given);
  for (const name of names) {
    const wanted = said[name];
    if (wanted !== undefined && wanted > limits[name])
      throw new CapError('E_NOT_ATTENUATION', `${name} is ${limits[name]} here, and can only be lowered`);
  }
  return Object.freeze({ ...limits, ...said });
}

/** What the sandbox itself keeps; wall time and output are ours. */
export function worldLimits({ wallMs: _, outputBytes: __, ...rest }: FullLimits): Limits {
  return { ...rest, shmBytes: Math.min(64 * MiB, rest.tmpBytes) };
}

export function takeTimeout(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  if (!isLimit(given)) throw new CapError('E_LIMIT_INVALID', 'timeoutMs is a whole number of ms from 1 on');
  return given;
}

const isLimit = (x: unknown): x is number => typeof x === 'number' && Number.isSafeInteger(x) && x > 0;

function takeLimits(given: unknown): ShellLimits {
  const said: Record<string, number> = {};
  for (const [name, value] of Object.entries(takeRecord(given, 'limits'))) {
    if (!(names as readonly string[]).includes(name))
      throw new CapError(
        'E_LIMIT_INVALID',
        `no limit is called "${name.slice(0, 64)}": choose from ${names.join(', ')}`,
      );
    if (value === undefined) continue;
    if (!isLimit(value) || (name === 'wallMs' && value > LONGEST_MS))
      throw new CapError(
        'E_LIMIT_INVALID',
        `${name} is a whole number from 1 on${name === 'wallMs' ? ', 24 days at the most' : ''}`,
      );
    said[name] = value;
  }
  return said;
}
