/**
 * `makeShellCap`: a shell whose programs reach only the caps that it was made of.
 *
 * An attenuated shell never allows more than the one it was made from, and ends with it. No path of the host
 * is shown.
 */
import { CapError } from '@hob/vat';
import { drivenBy, type OptionNames, takeOptions, withEffects, withPlace } from '@hob/vat/forwarder';
import { takeArgument, takeMap } from './arguments.ts';
import { type Caller, callerOf, host } from './caller.ts';
import { keptWays, placesOf, takeWays, type Way } from './door/ways.ts';
import { programEffects } from './effects.ts';
import { type JobRequest, type RunningJob, TEXT_BUDGET } from './job.ts';
import { Jobs } from './jobs.ts';
import { type FullLimits, fullLimits, lowered, takeTimeout } from './limits.ts';
import { isWithin, type MountPoint, placesIn, takeAt, takeMounts, writtenEffects } from './mounts.ts';
import type { Ended, Job, Less, RunOptions, ShellCap, ShellDescription, SpawnOptions, World } from './shell-cap.ts';

const SHELL = '/bin/bash';

/** The mounts, variables and limits of a shell: all that its programs may reach and use. */
interface Authority {
  readonly places: readonly MountPoint[];
  readonly ways: readonly Way[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: FullLimits;
}

/**
 * Makes a shell. Errors: `E_NOT_MOUNTABLE`, `E_MOUNT_CONFLICT`, `E_MOUNT_STALE`, `E_ENV`, `E_LIMIT_INVALID`.
 */
export async function makeShellCap(world: World): Promise<ShellCap> {
  return shellOf(await takeAuthority(takeOptions(world, 'makeShellCap', worldOptions)), new Jobs());
}

export const worldOptions: OptionNames<World> = {
  ...{ mounts: true, net: true, sockets: true },
  ...{ cwd: true, env: true, limits: true },
};

const runOptions: OptionNames<RunOptions> = { timeoutMs: true, stdin: true, limits: true };
const spawnOptions: OptionNames<SpawnOptions> = { name: true, timeoutMs: true, limits: true };
const lessOptions: OptionNames<Less> = {
  ...{ limits: true, mounts: true, readOnly: true },
  ...{ net: true, sockets: true },
};

/** Checks what the granter gave. */
export async function takeAuthority({
  mounts,
  net,
  sockets,
  cwd,
  env,
  limits,
}: Readonly<Partial<Record<keyof World, unknown>>>): Promise<Authority> {
  const places = await takeMounts(mounts);
  return Object.freeze({
    places,
    ways: await takeWays(net, sockets, places.map(({ at }) => at)), // biome-ignore format: one line
    cwd: cwd === undefined ? (places[0]?.at ?? '/') : cwd === '/' ? '/' : takeAt(cwd),
    env: takeEnv(env),
    limits: fullLimits(limits),
  });
}

function takeEnv(given: unknown): Readonly<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(takeMap(given, 'env'))) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name) || typeof value !== 'string' || value.includes('\0'))
      throw new CapError(
        'E_ENV',
        `"${name.slice(0, 64)}": a variable is a name of letters, digits and _, and a text without NUL`,
      );
    env[name] = value;
  }
  return Object.freeze(env);
}

function shellOf(authority: Authority, jobs: Jobs): ShellCap {
  const { places, ways, cwd, env, limits } = authority;

  const start = async (
    caller: Caller,
    method: string,
    text: unknown,
    more: Pick<JobRequest, 'stdin' | 'limits' | 'timeoutMs'>,
  ): Promise<RunningJob> => {
    const ledgerArgs = takeArgument(text, 'the text');
    const request: JobRequest = {
      program: SHELL,
      args: ['bash', '-c', ledgerArgs],
      ledgerArgs: [ledgerArgs],
      method,
      places,
      ways,
      cwd,
      env,
      ...more,
    };
    return await jobs.start(request, caller);
  };
  const run = async (caller: Caller, text: unknown, options?: RunOptions, budget?: number): Promise<Ended> => {
    const { timeoutMs, stdin, limits: less } = takeOptions(options, 'run', runOptions);
    const running = await start(caller, 'run', text, {
      timeoutMs: takeTimeout(timeoutMs),
      limits: lowered(limits, less),
      stdin: stdin === undefined ? undefined : takeInput(stdin),
    });
    return await running.wait(budget);
  };
  const spawn = async (caller: Caller, text: unknown, options?: SpawnOptions): Promise<Job> => {
    const { name, timeoutMs, limits: less } = takeOptions(options, 'spawn', spawnOptions);
    const named = name === undefined ? undefined : takeName(name);
    const keep = named === undefined ? undefined : jobs.reserve(caller.holder, named);
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
  const job = async (caller: Caller, name: unknown): Promise<Job> => jobs.named(caller.holder, takeName(name)).job;
  const describe = async (): Promise<ShellDescription> => describeAuthority(authority);
  const attenuate = async (caller: Caller, less: Less): Promise<ShellCap> => {
    const made = lessOf(authority, takeOptions(less, 'attenuate', lessOptions));
    return shellOf(made, jobs.below(caller.holder));
  };
  const close = (caller: Caller): Promise<void> => jobs.close(caller.holder);

  const shell: ShellCap = Object.freeze({
    run: (text: string, options?: RunOptions) => run(host, text, options),
    spawn: (text: string, options?: SpawnOptions) => spawn(host, text, options),
    job: (name: string) => job(host, name),
    describe,
    attenuate: (less: Less) => attenuate(host, less),
    close: () => close(host),
  });
  withPlace(shell, () => ({ kind: 'shell', mounts: { ...placesIn(places), ...placesOf(ways) } }));
  withEffects(shell, () => programEffects({ written: writtenEffects(places), ways }));
  return drivenBy(shell, {
    run: ([text, options], call) => run(callerOf(call), text, options as RunOptions, TEXT_BUDGET),
    spawn: ([text, options], call) => spawn(callerOf(call), text, options as SpawnOptions),
    job: ([name], call) => job(callerOf(call), name),
    describe: () => describe(),
    attenuate: ([less], call) => attenuate(callerOf(call), less as Less),
    close: (_args, call) => close(callerOf(call)),
  });
}

function describeAuthority({ places, ways, cwd, env, limits }: Authority): ShellDescription {
  const mounts = Object.freeze(Object.fromEntries(places.map(({ at, rights }) => [at, rights])));
  const hosts = Object.freeze(ways.flatMap(({ name, path }) => (path === undefined ? [name] : [])));
  const sockets = Object.freeze(ways.flatMap(({ path }) => path ?? []));
  const network = hosts.length === 0 ? 'none' : hosts;
  return Object.freeze({ shell: SHELL, mounts, cwd, env: Object.freeze(Object.keys(env)), limits, network, sockets });
}

function lessOf(authority: Authority, { limits, mounts, readOnly, net, sockets }: Less): Authority {
  if (readOnly !== undefined && typeof readOnly !== 'boolean')
    throw new CapError('invalid', 'readOnly is true or false');
  let { places } = authority;
  if (mounts !== undefined) {
    if (!Array.isArray(mounts)) throw new CapError('invalid', 'mounts must be a list of mount points');
    const wanted = new Set(mounts.map(takeAt));
    for (const at of wanted)
      if (!places.some((place) => place.at === at))
        throw new CapError('E_NOT_ATTENUATION', `${at} is not mounted here: describe() tells what is`);
    // A kept mount keeps the mounts within it: they cover directories that were not granted.
    places = places.filter(({ at }) => [...wanted].some((kept) => isWithin(at, kept)));
  }
  if (readOnly === true) places = places.map((place) => Object.freeze({ ...place, rights: 'ro' as const }));
  const there = authority.cwd === '/' || places.some(({ at }) => `${authority.cwd}/`.startsWith(`${at}/`));
  return Object.freeze({
    ...authority,
    places: Object.freeze(places),
    ways: keptWays(authority.ways, net, sockets),
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
