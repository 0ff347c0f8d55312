/**
 * One process for a guest: confined, or (by name only) as it is.
 *
 * Promise: it has one channel, an empty environment, and no descriptor of ours. `gone` is told when no process of it is left.
 */
import { spawn } from 'node:child_process';
import type { Duplex as Stream } from 'node:stream';
import { CapError, type PipeChannel, pipeChannel } from '@hob/vat';
import { boot, program } from './program.ts';

export interface ProcessLimits {
  readonly memoryBytes: number;
  readonly cpuMs: number;
}

/** `out`: it used up what it had from the start. `killed`: by us. */
export type Gone = 'out' | 'killed' | 'ended';

export interface GuestProcess {
  readonly channel: PipeChannel;
  /** Of a process of it, as this machine numbers them; what it started counts, too. */
  readonly pid: number;
  kill(): void;
  readonly gone: Promise<Gone>;
}

/** What `@hob/caps-shell` gives. */
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

/** `--max-old-space-size`: what looks at the process ends it first, and says why. */
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
  send(channel);
  return {
    channel,
    pid: made.pid ?? 0,
    kill: () => void made.kill().catch(() => {}),
    gone: made.ended.then(
      ({ ended }): Gone => (ended === 'limit' ? 'out' : ended === 'revoked' ? 'killed' : 'ended'),
      (): Gone => 'ended',
    ),
  };
}

/** Without a sandbox: what gets out of the compartment is a process of this user's. */
export async function bare(limits: ProcessLimits): Promise<GuestProcess> {
  const node = [process.execPath, ...argsOf(limits)];
  // The last line of defence where this process hangs or dies: its own limits stay.
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
  const gone = new Promise<Gone>((done) => {
    child.once('error', () => done('ended'));
    child.once('exit', (_code, signal) =>
      done(signal === 'SIGXCPU' ? 'out' : killed && signal === 'SIGKILL' ? 'killed' : 'ended'),
    );
  });
  const channel = pipeChannel(child.stdio[3] as unknown as Stream);
  if (child.pid === undefined) throw new CapError('unavailable', 'no process could be started for the program');
  send(channel);
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

function send(channel: PipeChannel): void {
  channel.send(program());
}
