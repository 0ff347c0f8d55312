/**
 * A cgroup for each job, where this process may make some.
 *
 * Promise: a job's cgroup lies in the host's own part of the tree, so the job escapes no limit that the host has. Its limits are set
 * before it is handed out; if that fails, so does the job. Nothing is moved: the host stays where it was started. `remove` takes the
 * cgroup away; after a kill -9 of the host, the next host of that place does.
 */
import fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { errorOf } from '../errors.ts';
import type { Limits } from '../world.ts';

/** `dir`: where the cgroups of jobs are made. `why`: there is no such place, and what to do about it. */
export type Delegated = { readonly dir: string } | { readonly why: string };

export interface Cgroup {
  /** Of its directory, until `close`. */
  readonly fd: number;
  close(): void;
  /** Once no process is left in it. */
  remove(): Promise<void>;
}

const NEEDED = ['memory', 'pids'];
const MOST_TRIES = 500;
const OURS = /^hob-job-(\d+)-\d+$/;
const SUBGROUP =
  'start the host in a subgroup of a delegated cgroup: systemd-run -p Delegate=yes -p DelegateSubgroup=host … (systemd 254)';

let known: Delegated | undefined;
let jobs = 0;

/** Found once: a host does not change its place. */
export function delegated(): Delegated {
  known ??= find(read('/proc/self/cgroup'), read('/proc/self/mountinfo'));
  return known;
}

/** `cgroup`, `mounts`: the texts of /proc/self/cgroup and /proc/self/mountinfo. */
export function find(cgroup: string, mounts: string): Delegated {
  const within = /^0::(\/.*)$/m.exec(cgroup)?.[1];
  const [root, at] = /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(mounts)?.slice(1) ?? [];
  if (within === undefined || root === undefined || at === undefined)
    return { why: 'no cgroup2 is mounted here: boot with systemd.unified_cgroup_hierarchy=1' };
  const path = root === '/' ? within : within.slice(root.length);
  if (!(root === '/' || within === root || within.startsWith(`${root}/`)) || path.split('/').includes('..'))
    return { why: `the host's cgroup is not in the mounted part of the tree: ${SUBGROUP}` };
  const own = resolve(at, `.${path}`);
  // Only the root of the whole tree may have both processes and children with limits.
  const isRoot = (dir: string): boolean => !fs.existsSync(join(dir, 'cgroup.type'));
  const dir = isRoot(own) ? own : dirname(own);
  if (dir !== own && (own === at || dir.endsWith('.slice'))) return { why: SUBGROUP };
  if (dir !== own && !isFree(own))
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
    // The kernel asks for it when a process is born in a cgroup next to this one.
    fs.accessSync(join(dir, 'cgroup.procs'), fs.constants.W_OK);
    sweep(dir);
    const trial = make(dir, { memoryBytes: 2 ** 30, processes: 64 });
    fs.rmdirSync(trial);
  } catch (error) {
    return { why: `cgroups cannot be made here (${(error as NodeJS.ErrnoException).code}): ${SUBGROUP}` };
  }
  return { dir };
}

/** Errors: `E_SETUP`. `undefined`: there is no place for it. */
export function openCgroup(limits: Limits, where: Delegated = delegated()): Cgroup | undefined {
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
  return { fd, close: () => fs.closeSync(fd), remove: () => gone(made) };
}

/** All limits or nothing. */
function make(dir: string, { memoryBytes, processes }: Pick<Limits, 'memoryBytes' | 'processes'>): string {
  let path: string;
  // A thread of this process, or a process of this number before us, may have taken the name.
  do path = join(dir, `hob-job-${process.pid}-${++jobs}`);
  while (fs.existsSync(path));
  fs.mkdirSync(path);
  try {
    set(path, 'memory.max', memoryBytes);
    set(path, 'memory.oom.group', 1);
    // One more: pid 1 of the world counts, too.
    set(path, 'pids.max', processes + 1);
    // A kernel without swap has no such file.
    if (fs.existsSync(join(path, 'memory.swap.max'))) set(path, 'memory.swap.max', 0);
  } catch (error) {
    fs.rmdirSync(path);
    throw error;
  }
  return path;
}

/** What hosts left that were killed. A process of theirs that is still there ends now. */
function sweep(dir: string): void {
  for (const name of fs.readdirSync(dir)) {
    const pid = Number(OURS.exec(name)?.[1] ?? 0);
    if (pid === 0 || lives(pid)) continue;
    try {
      // Before Linux 5.14 there is no such file. With the sandbox program the world ends anyway.
      if (fs.existsSync(join(dir, name, 'cgroup.kill'))) set(join(dir, name), 'cgroup.kill', 1);
      fs.rmdirSync(join(dir, name));
    } catch {
      // The next host finds it empty.
    }
  }
}

async function gone(path: string): Promise<void> {
  // Its processes are dead when we are asked; the kernel may need a moment more. What stays all the same, `sweep` finds.
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    try {
      return fs.rmdirSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return;
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** It has no limit that a cgroup beside it would not have. */
function isFree(dir: string): boolean {
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
