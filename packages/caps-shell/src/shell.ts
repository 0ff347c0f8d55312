/**
 * `makeShellCap`: a shell whose world is the caps that it was made of.
 *
 * Promise: what is attenuated is never more, in any respect, than what it was made from, and ends with it. Nobody is told a path of the host.
 */
import { CapError, drivenBy } from '@hob/vat';
import { type Caller, callerOf, host } from './caller.ts';
import { FRAME, type Order, type Running } from './job.ts';
import { Jobs } from './jobs.ts';
import { type FullLimits, fullLimits, lowered, takeTimeout } from './limits.ts';
import { type Place, takeAt, takePlaces, within } from './mounts.ts';
import type { Ended, Job, Less, RunOptions, ShellCap, ShellDescription, SpawnOptions, World } from './shell-cap.ts';
import { takeArgument, takeRecord } from './taking.ts';

const SHELL = '/bin/bash';

/** What its programs may. */
export interface Authority {
  readonly places: readonly Place[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: FullLimits;
}

/** Errors: `E_NOT_MOUNTABLE`, `E_MOUNT_CONFLICT`, `E_MOUNT_STALE`, `E_ENV`, `E_LIMIT_INVALID`. */
export async function makeShellCap(world: World): Promise<ShellCap> {
  return shellOf(await takeAuthority(takeRecord(world, 'a world', ['mounts', 'cwd', 'env', 'limits'])), new Jobs());
}

/** From the granter's own words. */
export async function takeAuthority({
  mounts,
  cwd,
  env,
  limits,
}: Readonly<Record<string, unknown>>): Promise<Authority> {
  const places = await takePlaces(mounts);
  return Object.freeze({
    places,
    cwd: cwd === undefined ? (places[0]?.at ?? '/') : cwd === '/' ? '/' : takeAt(cwd),
    env: takeEnv(env),
    limits: fullLimits(limits),
  });
}

function takeEnv(given: unknown): Readonly<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(takeRecord(given, 'env'))) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name) || typeof value !== 'string' || value.includes('\0'))
      throw new CapError(
        'E_ENV',
        `"${name.slice(0, 64)}": a variable is a name of letters, digits and _, and a text without NUL`,
      );
    env[name] = value;
  }
  return Object.freeze(env);
}

function shellOf(authority: Authority, tenure: Jobs): ShellCap {
  const { places, cwd, env, limits } = authority;

  const start = async (
    caller: Caller,
    method: string,
    text: unknown,
    more: Pick<Order, 'stdin' | 'limits' | 'timeoutMs'>,
  ): Promise<Running> => {
    const said = takeArgument(text, 'the text');
    const order: Order = {
      program: SHELL,
      args: ['bash', '-c', said],
      said: [said],
      method,
      places,
      cwd,
      env,
      ...more,
    };
    return await tenure.start(order, caller);
  };
  const run = async (caller: Caller, text: unknown, options: unknown, budget?: number): Promise<Ended> => {
    const { timeoutMs, stdin, limits: less } = takeRecord(options, 'options', ['timeoutMs', 'stdin', 'limits']);
    const running = await start(caller, 'run', text, {
      timeoutMs: takeTimeout(timeoutMs),
      limits: lowered(limits, less),
      stdin: stdin === undefined ? undefined : takeInput(stdin),
    });
    return await running.wait(budget);
  };
  const spawn = async (caller: Caller, text: unknown, options: unknown): Promise<Job> => {
    const { name, timeoutMs, limits: less } = takeRecord(options, 'options', ['name', 'timeoutMs', 'limits']);
    const named = name === undefined ? undefined : takeName(name);
    const keep = named === undefined ? undefined : tenure.reserve(caller.holder, named);
    try {
      const running = await start(caller, 'spawn', text, {
        timeoutMs: takeTimeout(timeoutMs),
        limits: lowered(limits, less),
        stdin: 'open',
      });
      keep?.(running);
      return running.job;
    } catch (error) {
      keep?.(undefined);
      throw error;
    }
  };
  const job = async (caller: Caller, name: unknown): Promise<Job> => tenure.named(caller.holder, takeName(name)).job;
  const describe = async (): Promise<ShellDescription> => {
    const mounts = Object.freeze(Object.fromEntries(places.map(({ at, rights }) => [at, rights])));
    return Object.freeze({ shell: SHELL, mounts, cwd, env: Object.freeze(Object.keys(env)), limits, network: 'none' });
  };
  const attenuate = async (caller: Caller, less: unknown): Promise<ShellCap> => {
    const made = lessOf(authority, takeRecord(less, 'less', ['limits', 'mounts', 'readOnly']));
    return shellOf(made, tenure.below(caller.holder));
  };
  const close = (caller: Caller): Promise<void> => tenure.close(caller.holder);

  const shell: ShellCap = Object.freeze({
    run: (text: string, options?: RunOptions) => run(host, text, options),
    spawn: (text: string, options?: SpawnOptions) => spawn(host, text, options),
    job: (name: string) => job(host, name),
    describe,
    attenuate: (less: Less) => attenuate(host, less),
    close: () => close(host),
  });
  return drivenBy(shell, {
    run: ([text, options], call) => run(callerOf(call), text, options, FRAME),
    spawn: ([text, options], call) => spawn(callerOf(call), text, options),
    job: ([name], call) => job(callerOf(call), name),
    describe: () => describe(),
    attenuate: ([less], call) => attenuate(callerOf(call), less),
    close: (_args, call) => close(callerOf(call)),
  });
}

function lessOf(authority: Authority, { limits, mounts, readOnly }: Readonly<Record<string, unknown>>): Authority {
  if (readOnly !== undefined && typeof readOnly !== 'boolean')
    throw new CapError('invalid', 'readOnly is true or false');
  let { places } = authority;
  if (mounts !== undefined) {
    if (!Array.isArray(mounts)) throw new CapError('invalid', 'mounts is a list of places');
    const wanted = new Set(mounts.map(takeAt));
    for (const at of wanted)
      if (!places.some((place) => place.at === at))
        throw new CapError('E_NOT_ATTENUATION', `${at} is not mounted here: describe() tells what is`);
    // With the mounts within it: they are part of what lies at that place, and cover what was not granted.
    places = places.filter(({ at }) => [...wanted].some((kept) => within(at, kept)));
  }
  if (readOnly === true) places = places.map((place) => Object.freeze({ ...place, rights: 'ro' as const }));
  const there = authority.cwd === '/' || places.some(({ at }) => `${authority.cwd}/`.startsWith(`${at}/`));
  return Object.freeze({
    ...authority,
    places: Object.freeze(places),
    cwd: there ? authority.cwd : (places[0]?.at ?? '/'),
    limits: lowered(authority.limits, limits),
  });
}

function takeName(given: unknown): string {
  if (typeof given !== 'string' || given === '' || given.length > 64)
    throw new CapError('invalid', 'the name of a job has 1 to 64 characters');
  return given;
}

export function takeInput(given: unknown): string {
  if (typeof given !== 'string') throw new CapError('invalid', 'stdin is a text');
  return given;
}
