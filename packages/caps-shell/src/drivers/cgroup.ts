/**
 * A cgroup for each job, if this process may make cgroups.
 *
 * The cgroup of a job is in the host's own part of the tree, so a job escapes no limit of the host. Its
 * limits are set before it is used. If the limits cannot be set, the job fails. No process is moved.
 * `remove` removes the cgroup. The next host that runs jobs there removes the cgroups of a killed one.
 */
import fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { errorOf } from '../errors.ts';
import type { SandboxLimits } from '../sandbox-spec.ts';

/** `dir`: the parent of the cgroups of jobs. `why`: why there is none, with the remedy. */
type Delegated = { readonly dir: string } | { readonly why: string };

export interface Cgroup {
  /** The descriptor of its directory, until `close`. */
  readonly fd: number;
  close(): void;
  /** Removes it. Call it when no process is left in it. */
  remove(): Promise<void>;
}

const NEEDED = ['memory', 'pids'];
const MOST_TRIES = 500;
const OURS = /^hob-job-(\d+)-\d+$/;
const SUBGROUP =
  'start the host in a subgroup of a delegated cgroup: systemd-run -p Delegate=yes -p DelegateSubgroup=host … (systemd 254)';

let known: Delegated | undefined;
let jobs = 0;

/** Looked up once: a host does not change its cgroup. */
export function delegated(): Delegated {
  known ??= find(read('/proc/self/cgroup'), read('/proc/self/mountinfo'));
  return known;
}

/** `cgroup` and `mounts` are the contents of /proc/self/cgroup and /proc/self/mountinfo. */
export function find(cgroup: string, mounts: string): Delegated {
  const ownPath = /^0::(\/.*)$/m.exec(cgroup)?.[1];
  const [root, at] = /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(mounts)?.slice(1) ?? [];
  if (ownPath === undefined || root === undefined || at === undefined)
    return { why: 'no cgroup2 is mounted here: boot with systemd.unified_cgroup_hierarchy=1' };
  const path = root === '/' ? ownPath : ownPath.slice(root.length);
  if (!(root === '/' || ownPath === root || ownPath.startsWith(`${root}/`)) || path.split('/').includes('..'))
    return { why: `the host's cgroup is not in the mounted part of the tree: ${SUBGROUP}` };
  const own = resolve(at, `.${path}`);
  // Only the root of the whole tree may have both processes and children with limits.
  const isRoot = (dir: string): boolean => !fs.existsSync(join(dir, 'cgroup.type'));
  const dir = isRoot(own) ? own : dirname(own);
  if (dir !== own && (own === at || dir.endsWith('.slice'))) return { why: SUBGROUP };
  if (dir !== own && !hasNoLimits(own))
    return { why: "the host's own cgroup has limits, which jobs beside it would not have: set them on the one above" };
  const offered = read(join(dir, 'cgroup.controllers')).trim().split(' ');
  const lacking = NEEDED.filter((name) => !offered.includes(name));
  if (lacking.length > 0)
    return {
      why: `the controllers ${lacking.join(', ')} are not delegated to the host (or are of cgroup v1): ${SUBGROUP}`,
    };
  try {
    const enabled = read(join(dir, 'cgroup.subtree_control')).trim().split(' ');
    const missing = NEEDED.filter((name) => !enabled.includes(name));
    if (missing.length > 0)
      fs.writeFileSync(join(dir, 'cgroup.subtree_control'), missing.map((name) => `+${name}`).join(' '));
    // The kernel requires this when a process starts in a sibling of this cgroup.
    fs.accessSync(join(dir, 'cgroup.procs'), fs.constants.W_OK);
    sweep(dir);
    const trial = make(dir, { memoryBytes: 2 ** 30, processes: 64 });
    fs.rmdirSync(trial);
  } catch (error) {
    return { why: `cgroups cannot be made here (${(error as NodeJS.ErrnoException).code}): ${SUBGROUP}` };
  }
  return { dir };
}

/** Makes a cgroup with limits. Returns undefined if this process may make none. Errors: `E_SETUP`. */
export function openCgroup(limits: SandboxLimits, where: Delegated = delegated()): Cgroup | undefined {
  if (!('dir' in where)) return undefined;
  let path: string | undefined;
  let fd: number;
  try {
    path = make(where.dir, limits);
    fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  } catch (error) {
    throw errorOf({ stage: 'cgroup', errno: (error as NodeJS.ErrnoException).code ?? 'EIO' });
  }
  const made = path;
  return { fd, close: () => fs.closeSync(fd), remove: () => removeWhenEmpty(made) };
}

/** Makes a cgroup with all its limits, or none. */
function make(dir: string, { memoryBytes, processes }: Pick<SandboxLimits, 'memoryBytes' | 'processes'>): string {
  let path: string;
  // Another thread of this process, or an earlier process with this pid, may have taken the name.
  do path = join(dir, `hob-job-${process.pid}-${++jobs}`);
  while (fs.existsSync(path));
  fs.mkdirSync(path);
  try {
    set(path, 'memory.max', memoryBytes);
    set(path, 'memory.oom.group', 1);
    // One more, because pid 1 of the world counts too.
    set(path, 'pids.max', processes + 1);
    // A kernel without swap does not have this file.
    if (fs.existsSync(join(path, 'memory.swap.max'))) set(path, 'memory.swap.max', 0);
  } catch (error) {
    fs.rmdirSync(path);
    throw error;
  }
  return path;
}

/** Removes the cgroups of killed hosts. Their processes that are still there are killed. */
function sweep(dir: string): void {
  for (const name of fs.readdirSync(dir)) {
    const pid = Number(OURS.exec(name)?.[1] ?? 0);
    if (pid === 0 || lives(pid)) continue;
    try {
      // Linux before 5.14 has no such file. There the jobs end with their sandbox program.
      if (fs.existsSync(join(dir, name, 'cgroup.kill'))) set(join(dir, name), 'cgroup.kill', 1);
      fs.rmdirSync(join(dir, name));
    } catch {
      // It is not empty yet. The next host removes it.
    }
  }
}

async function removeWhenEmpty(path: string): Promise<void> {
  // Its processes are dead, but the kernel may need a moment more. `sweep` removes what stays.
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    try {
      return fs.rmdirSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return;
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Whether it has no limit that a sibling would escape. */
function hasNoLimits(dir: string): boolean {
  return ['memory.max', 'memory.high', 'memory.swap.max', 'pids.max', 'cpu.max'].every(
    (name) => !fs.existsSync(join(dir, name)) || read(join(dir, name)).startsWith('max'),
  );
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function set(dir: string, name: string, value: number): void {
  fs.writeFileSync(join(dir, name), String(value));
}

function read(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
