/**
 * Why a job did not start, as codes.
 *
 * Promise: each names what to do. No path, id or descriptor of the host is in a text: a stage of the set-up, an errno and a
 * remedy are all that there is.
 */
import { CapError } from '@hob/vat';

export type ShellCode =
  | 'E_SANDBOX_UNAVAILABLE'
  | 'E_SETUP'
  | 'E_NOT_MOUNTABLE'
  | 'E_MOUNT_STALE'
  | 'E_MOUNT_CONFLICT'
  | 'E_NOT_ATTENUATION'
  | 'E_ARGV'
  | 'E_ENV'
  | 'E_EXEC_NOT_FOUND'
  | 'E_EXEC_CHANGED'
  | 'E_LIMIT_INVALID'
  | 'E_INPUT_CLOSED'
  | 'E_JOB_ENDED'
  | 'E_TOO_MANY_JOBS';

/** What the sandbox program says when it did not come to the payload. */
export interface Failure {
  readonly stage: string;
  /** Its name, like `EPERM`. */
  readonly errno: string;
  /** Where the mount that it was about would have appeared. */
  readonly mount?: string | undefined;
}

/** Stages that depend on this one job, with the code and the remedy. All others are about the machine. */
const OF_THE_JOB: Readonly<Record<string, readonly [code: ShellCode | 'invalid', text: string]>> = {
  stale: ['E_MOUNT_STALE', 'what was granted is no longer there: grant it again'],
  mount: [
    'E_NOT_MOUNTABLE',
    'it cannot be mounted, or another mount lies in it: grant a directory without mounts in it',
  ],
  mountpoint: ['E_MOUNT_CONFLICT', 'one mount lies in another: make its directory there first, or mount it beside'],
  place: [
    'E_MOUNT_STALE',
    'what it covers is another directory than before: put the old one back, or make the shell again',
  ],
  program: ['E_EXEC_CHANGED', 'the program is not the one that was granted: grant it again'],
  idmap: ['E_SETUP', 'its file system cannot map owners: use another, or run the host as an ordinary user'],
  spec: ['invalid', 'a world that the sandbox does not understand: fewer or shorter arguments, plain paths'],
  cwd: ['invalid', 'the directory to start in is not there: name one of the mounts'],
  fork: ['E_SETUP', 'no process to be had: raise the limit `processes`, or wait for other jobs'],
  rlimit: ['E_SETUP', 'a limit could not be set: ask for less than the host itself may use'],
  cgroup: [
    'E_SETUP',
    'its cgroup cannot be set up: start the host again, and look at what npm run doctor says of cgroups',
  ],
  memory: ['E_SETUP', 'it has no memory to begin with: raise the limit `memoryBytes`'],
  pipes: ['E_SETUP', 'no descriptors left: close some, or raise the limit of the host'],
};

/** The remedy for a machine on which a stage does not work. */
export function remedyFor(stage: string, errno: string): string {
  if (stage === 'helper' && /^(?:EIO|EMFILE|ENFILE|ENOMEM)$/.test(errno))
    return 'the sandbox program cannot be read now: look at the disk, and at the open files of the host';
  if (stage === 'helper')
    return errno === 'ENOENT'
      ? 'the sandbox is not built: install a C compiler (cc), then npm run doctor'
      : 'the sandbox program is not what was built here: npm run doctor builds it again';
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
    if (errno === 'ENOENT') return new CapError('E_EXEC_NOT_FOUND', 'no such program in this world');
    return new CapError('E_EXEC_NOT_FOUND', `the program cannot be run (${errno}): it has to be an executable file`);
  }
  const known = OF_THE_JOB[stage];
  // A part of the system image that cannot be mounted is the machine's matter.
  if (known === undefined) return unavailable(stage, errno);
  const [code, text] = known;
  return new CapError(code, `${mount === undefined ? '' : `${mount}: `}${text} (${stage}: ${errno})`);
}
