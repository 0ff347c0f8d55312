/**
 * The limits of a job.
 *
 * Every job has all of them; there is no "unlimited". The holder of a cap can lower them, for one job or for
 * an attenuated cap, and can never raise one.
 */
import { CapError } from '@hob/vat';
import { takeRecord } from '@hob/vat/forwarder';
import type { SandboxLimits } from './sandbox-spec.ts';
import type { ShellLimits } from './shell-cap.ts';

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

/** Returns the granter's limits, with defaults for those that are missing. */
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

/** Returns lower limits. Errors: `E_NOT_ATTENUATION`, `E_LIMIT_INVALID`. */
export function lowered(limits: FullLimits, given: unknown): FullLimits {
  const said = takeLimits(given);
  for (const name of names) {
    const wanted = said[name];
    if (wanted !== undefined && wanted > limits[name])
      throw new CapError('E_NOT_ATTENUATION', `${name} is ${limits[name]} here, and can only be lowered`);
  }
  return Object.freeze({ ...limits, ...said });
}

/** The limits that the sandbox program enforces. Time and output are limited by `RunningJob`. */
export function sandboxLimits({ wallMs: _, outputBytes: __, ...rest }: FullLimits): SandboxLimits {
  return { ...rest, shmBytes: Math.min(64 * MiB, rest.tmpBytes) };
}

export function takeTimeout(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  if (!isLimit(given)) throw new CapError('E_LIMIT_INVALID', 'timeoutMs is a whole number of ms, at least 1');
  return given;
}

const isLimit = (x: unknown): x is number => typeof x === 'number' && Number.isSafeInteger(x) && x > 0;

function takeLimits(given: unknown): ShellLimits {
  const said: Record<string, number> = {};
  for (const [name, value] of Object.entries(takeRecord(given, 'a job', names, 'limit'))) {
    if (value === undefined) continue;
    if (!isLimit(value) || (name === 'wallMs' && value > LONGEST_MS))
      throw new CapError(
        'E_LIMIT_INVALID',
        `${name} is a whole number of at least 1${name === 'wallMs' ? ', at most 24 days' : ''}`,
      );
    said[name] = value;
  }
  return said;
}
