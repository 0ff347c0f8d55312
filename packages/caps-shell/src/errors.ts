/**
 * The errors of a job that did not start. Each names a remedy.
 *
 * A text has a stage of the set-up, an errno and a remedy, and no path, id or descriptor of the host.
 */
import { CapError } from '@hob/vat';

/** The codes of a `CapError` that says why nothing ran. README.md has a table with the remedy of each. */
export type ShellCode =
  | 'E_SANDBOX_UNAVAILABLE'
  | 'E_SETUP'
  | 'E_NOT_MOUNTABLE'
  | 'E_MOUNT_STALE'
  | 'E_MOUNT_CONFLICT'
  | 'E_NET'
  | 'E_NOT_ATTENUATION'
  | 'E_ARGV'
  | 'E_ENV'
  | 'E_EXEC_NOT_FOUND'
  | 'E_EXEC_CHANGED'
  | 'E_LIMIT_INVALID'
  | 'E_INPUT_CLOSED'
  | 'E_JOB_ENDED'
  | 'E_TOO_MANY_JOBS';

/** The sandbox program failed before the payload ran. */
export interface Failure {
  readonly stage: string;
  /** A name like `EPERM`. */
  readonly errno: string;
  /** The path inside of the mount that failed. */
  readonly mount?: string | undefined;
}

/** Stages that depend on this job, with code and remedy. All other stages are about the machine. */
const STAGES_OF_THE_JOB: Readonly<Record<string, readonly [code: ShellCode | 'invalid', text: string]>> = {
  stale: ['E_MOUNT_STALE', 'the granted directory or file is no longer there: grant it again'],
  image: ['E_SETUP', 'the machine replaced this file while the job started: try again'],
  mount: [
    'E_NOT_MOUNTABLE',
    'it cannot be mounted, or another mount lies in it: grant a directory without mounts in it',
  ],
  mountpoint: ['E_MOUNT_CONFLICT', 'one mount lies in another: first make its directory there, or mount it elsewhere'],
  place: ['E_MOUNT_STALE', 'another directory is at its mount point now: put the old one back, or make a new shell'],
  program: ['E_EXEC_CHANGED', 'the program is not the one that was granted: grant it again'],
  idmap: ['E_SETUP', 'its file system cannot map owners: use another, or run the host as an ordinary user'],
  spec: ['invalid', 'the sandbox does not understand the request: use fewer or shorter arguments, and plain paths'],
  cwd: ['invalid', 'the working directory is not there: name one of the mounts'],
  fork: ['E_SETUP', 'no process could be started: raise the limit `processes`, or wait for other jobs'],
  rlimit: ['E_SETUP', 'a limit could not be set: ask for less than the limit of the host itself'],
  door: ['E_SETUP', 'its network could not be set up: start it again'],
  cgroup: [
    'E_SETUP',
    'its cgroup cannot be set up: start the host again, and see what npm run doctor says about cgroups',
  ],
  memory: ['E_SETUP', 'it has too little memory to start: raise the limit `memoryBytes`'],
  pipes: ['E_SETUP', 'no descriptors left: close some, or raise the limit of the host'],
};

/** Returns the remedy for a machine on which a stage fails. */
export function remedyFor(stage: string, errno: string): string {
  if (errno === 'EAGAIN')
    return 'no more processes can be started now: wait for other jobs, or raise the limit of the user that runs the host';
  if (stage === 'helper' && /^(?:EIO|EMFILE|ENFILE|ENOMEM)$/.test(errno))
    return 'the sandbox program cannot be read now: look at the disk, and at the open files of the host';
  if (stage === 'helper')
    return errno === 'ENOENT'
      ? 'there is no sandbox program: install optional dependencies too (npm install --include=optional), or a C compiler (on Debian and Ubuntu: apt install gcc libc6-dev) and run the doctor, which builds it: npm run doctor, or npx hob-doctor'
      : 'the sandbox program is not the one of this version: install the packages again; in a checkout npm run doctor builds it again';
  if (stage === 'platform') return 'programs are confined on Linux only (x64, arm64); WSL2 is Linux';
  if (stage === 'userns' && errno === 'ENOSPC')
    return 'no user namespaces left: sysctl -w user.max_user_namespaces=15000 (in docker: --security-opt seccomp=unconfined)';
  if (stage === 'userns')
    return 'user namespaces are refused: sysctl -w kernel.unprivileged_userns_clone=1, and in docker --security-opt seccomp=unconfined';
  if (['map', 'ids', 'private', 'tmpfs', 'root'].includes(stage) && (errno === 'EACCES' || errno === 'EPERM'))
    return 'a user namespace has no rights here (AppArmor?): sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or a profile with `userns,` for the sandbox program';
  if (stage === 'proc')
    return 'a fresh /proc is refused because parts of this one are covered: in docker --security-opt systempaths=unconfined';
  if (errno === 'ENOSYS') return 'this kernel is too old: Linux 5.12 or newer';
  return 'this machine refuses a step of the sandbox: run npm run doctor, and report what it prints';
}

export function unavailable(stage: string, errno: string): CapError {
  return new CapError('E_SANDBOX_UNAVAILABLE', `no sandbox here (${stage}: ${errno}): ${remedyFor(stage, errno)}`);
}

export function errorOf({ stage, errno, mount }: Failure): CapError {
  if (stage === 'exec') {
    if (errno === 'ENOENT')
      return new CapError(
        'E_EXEC_NOT_FOUND',
        'there is no such program in the sandbox: check its name, or ask for a mount that has it',
      );
    return new CapError('E_EXEC_NOT_FOUND', `the program cannot be run (${errno}): it has to be an executable file`);
  }
  const known = STAGES_OF_THE_JOB[stage];
  if (known === undefined) return unavailable(stage, errno);
  const [code, text] = known;
  return new CapError(code, `${mount === undefined ? '' : `${mount}: `}${text} (${stage}: ${errno})`);
}
