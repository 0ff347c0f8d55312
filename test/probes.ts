/** What this machine has. Each probe tries the thing itself and is asked once. */
import { spawnSync } from 'node:child_process';
import { delegated } from '../packages/caps-shell/src/drivers/cgroup.ts';
import { HERMES_VERSIONS, hermesPython } from '../scripts/hermes.mjs';

export type Need =
  | 'linux'
  | 'root'
  | 'nonroot'
  | 'unprivileged'
  | 'cc'
  | 'python'
  | 'hermes'
  | 'userns'
  | 'patch'
  | 'mkfifo'
  | 'prlimit'
  | 'cgroup2';

/** Each probe answers undefined when the machine has it, otherwise why not. */
const probes: Record<Need, () => string | undefined> = {
  linux: () => (process.platform === 'linux' ? undefined : `needs Linux (this is ${process.platform})`),
  root: () => (process.getuid?.() === 0 ? undefined : 'needs to run as root'),
  nonroot: () =>
    process.getuid !== undefined && process.getuid() !== 0 ? undefined : 'needs to run as an ordinary user',
  // As root: another user, who has to be able to read this checkout.
  unprivileged: () => {
    if (process.getuid?.() !== 0) return probes.nonroot();
    const read = `require('node:fs').readFileSync(${JSON.stringify(import.meta.filename)})`;
    const { status } = spawnSync(process.execPath, ['-e', read], { stdio: 'ignore', uid: 54_321, gid: 54_321 });
    return status === 0 ? undefined : 'needs this checkout to be readable by other users';
  },
  cc: () => runs('needs a C compiler (cc)', 'cc', '--version'),
  python: () =>
    runs('needs Python >= 3.11 (python3)', 'python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 11))'),
  // The environments that `npm test` and `.ci/run` make before they ask; `hermesPython(version)` is where a test finds them.
  hermes: () => HERMES_VERSIONS.map((version) => hermesPython(version).missing).find((reason) => reason !== undefined),
  patch: () => runs('needs the program patch', 'patch', '--version'),
  prlimit: () => runs('needs the program prlimit (util-linux)', 'prlimit', '--version'),
  cgroup2: () => {
    const place = delegated();
    return 'why' in place ? `needs cgroup v2 with memory and pids, delegated to this process: ${place.why}` : undefined;
  },
  mkfifo: () => runs('needs the program mkfifo', 'mkfifo', '--version'),
  // Some systems allow the namespace and then nothing inside it, so the probe mounts something there.
  userns: () =>
    probes.linux() ??
    runs(
      'needs user namespaces that may mount (unshare --user)',
      'unshare',
      '--user',
      '--map-root-user',
      '--mount',
      'mount',
      '-t',
      'tmpfs',
      'none',
      '/tmp',
    ),
};

export const NEEDS: readonly Need[] = Object.keys(probes) as Need[];

const known = new Map<Need, string | undefined>();

/** Why this machine lacks it; undefined when it has it. */
export function missing(need: Need): string | undefined {
  if (!known.has(need)) known.set(need, probes[need]());
  return known.get(need);
}

export const needs = (need: Need): boolean => missing(need) === undefined;

function runs(reason: string, command: string, ...args: string[]): string | undefined {
  return spawnSync(command, args, { stdio: 'ignore', timeout: 20_000 }).status === 0 ? undefined : reason;
}
