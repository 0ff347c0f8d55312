/**
 * Starts the process of a guest in the sandbox, or without one if the caller asked for that by name.
 *
 * Promise: the process has one channel, no environment beyond that channel's, and no other descriptor of
 * this process. `gone` resolves when no process of the guest is left.
 */
import { spawn } from 'node:child_process';
import type { Duplex as Stream } from 'node:stream';
import { CapError } from '@hob/vat';
import { type PipeChannel, pipeChannel } from '@hob/vat/wire';
import { boot, childCode } from './child-code.ts';

interface ProcessLimits {
  readonly memoryBytes: number;
  readonly cpuMs: number;
}

/** How it ended. `cpu-limit`: it used up the limits that the process started with. `killed`: from here. */
export type ExitReason = 'cpu-limit' | 'killed' | 'ended';

export interface GuestProcess {
  readonly channel: PipeChannel;
  /** The pid, as this machine numbers processes. Its child processes count towards the limits, too. */
  readonly pid: number;
  kill(): void;
  readonly gone: Promise<ExitReason>;
}

/** The function that `@hob/caps-shell` provides. */
export type SpawnConfined = (
  program: readonly string[],
  options: { readonly limits: Readonly<Record<string, number>> },
) => Promise<{
  readonly channel: object;
  readonly pid?: number;
  kill(): Promise<void>;
  readonly ended: Promise<{ readonly ended: string }>;
}>;

const MiB = 2 ** 20;

/** `--max-old-space-size` is above the limit, so that the watchdog ends the process first and can say why. */
const argsOf = ({ memoryBytes }: ProcessLimits): string[] => [
  '--no-warnings',
  `--max-old-space-size=${Math.ceil((memoryBytes * 1.25) / MiB)}`,
  '-e',
  boot,
];

export async function confined(spawnConfined: SpawnConfined, limits: ProcessLimits): Promise<GuestProcess> {
  const { memoryBytes, cpuMs } = limits;
  const made = await spawnConfined(['node', ...argsOf(limits)], {
    limits: {
      memoryBytes: memoryBytes + 64 * MiB,
      cpuMs,
      processes: 32,
      fileBytes: MiB,
      tmpBytes: MiB,
      outputBytes: MiB,
      openFiles: 64,
    },
  });
  const channel = made.channel as PipeChannel;
  channel.sendBytes(childCode());
  return {
    channel,
    pid: made.pid ?? 0,
    kill: () => void made.kill().catch(() => {}),
    gone: made.ended.then(
      ({ ended }): ExitReason => (ended === 'limit' ? 'cpu-limit' : ended === 'revoked' ? 'killed' : 'ended'),
      (): ExitReason => 'ended',
    ),
  };
}

/** Starts a process without a sandbox. Code that escapes the compartment has the rights of this user. */
export async function bare(limits: ProcessLimits): Promise<GuestProcess> {
  const node = [process.execPath, ...argsOf(limits)];
  // If this process hangs or dies, the limit of the child's own shell still ends the child.
  const seconds = Math.ceil(limits.cpuMs / 1000);
  const [command = '', ...args] =
    process.platform === 'win32'
      ? node
      : ['/bin/sh', '-c', `ulimit -c 0; ulimit -t ${seconds}; exec "$@"`, 'guest', ...node];
  const child = spawn(command, args, {
    cwd: '/',
    env: { NODE_CHANNEL_FD: '3', NODE_CHANNEL_SERIALIZATION_MODE: 'json' },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  let killed = false;
  const gone = new Promise<ExitReason>((done) => {
    child.once('error', () => done('ended'));
    child.once('exit', (_code, signal) =>
      done(signal === 'SIGXCPU' ? 'cpu-limit' : killed && signal === 'SIGKILL' ? 'killed' : 'ended'),
    );
  });
  // Before `stdio` is used: if this process has no descriptors left, the child has neither a pid nor pipes.
  if (child.pid === undefined) throw new CapError('unavailable', 'no process could be started for the program');
  const channel = pipeChannel(child.stdio[3] as unknown as Stream);
  channel.sendBytes(childCode());
  return {
    channel,
    pid: child.pid,
    kill: () => {
      killed = true;
      child.kill('SIGKILL');
    },
    gone,
  };
}
