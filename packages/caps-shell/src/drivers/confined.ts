/**
 * A program in a world with nothing of the caller's in it: for code that somebody else wrote, and that talks by messages.
 *
 * Promise: it has the system image, a private /tmp, and one IPC channel; no directory, no network, no other process. It
 * ends with its time, its limits, `kill()`, or this process.
 */
import { CapError } from '@hob/vat';
import { HOME, NODE, openImage, PATH } from './image.ts';
import { type Ended as SandboxEnded, type Sandboxed, startSandbox } from './sandbox.ts';

export interface ConfinedLimits {
  readonly wallMs?: number;
  readonly cpuMs?: number;
  readonly memoryBytes?: number;
  readonly processes?: number;
  readonly fileBytes?: number;
  readonly tmpBytes?: number;
  readonly openFiles?: number;
  readonly outputBytes?: number;
}
export interface ConfinedEnd {
  /** Exit status, or 128 + signal. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly ended: 'exit' | 'signal' | 'timeout' | 'limit' | 'revoked';
  readonly usage: { readonly wallMs: number; readonly cpuMs: number; readonly peakBytes: number };
}
export interface Confined {
  /** `send`, `on('message')`, `on('disconnect')`, `disconnect`: what `fromChild` of `@hob/vat` takes. */
  readonly channel: object;
  /** Of the world's first process, the parent of the program, as this machine numbers it. */
  readonly pid: number;
  /** Answers when no process of it is left. */
  kill(): Promise<void>;
  readonly ended: Promise<ConfinedEnd>;
}

const MiB = 2 ** 20;
const SIGKILL = 9;
/** Of each stream. What a confined program has to say it says on the channel; this is for its last words. */
const KEPT = 64 * 1024;
const LONGEST_MS = 0x7fff_ffff;

/**
 * `program`: `node`, which is the one that runs here, or a path inside, and its arguments. `trees`: more of this machine that
 * is to be seen, read-only, by where it appears; this is the host program's choice, not the confined one's.
 */
export async function spawnConfined(
  program: readonly string[],
  { limits = {}, trees = {} }: { limits?: ConfinedLimits; trees?: Readonly<Record<string, string>> } = {},
): Promise<Confined> {
  const [first, ...args] = program;
  if (first === undefined) throw new CapError('invalid', 'name a program to confine');
  const { wallMs = LONGEST_MS, outputBytes = 64 * MiB, ...most } = limits;
  // Not closed by the end of this block but at once after the start: the sandbox has its own copies then.
  const image = openImage(trees);
  let job: Sandboxed;
  try {
    job = startSandbox({
      ...image,
      program: first === 'node' ? NODE : first,
      args: [first, ...args],
      env: {
        PATH,
        HOME,
        TMPDIR: '/tmp',
        LANG: 'C.UTF-8',
        NODE_CHANNEL_FD: '3',
        NODE_CHANNEL_SERIALIZATION_MODE: 'json',
      },
      cwd: HOME,
      limits: {
        memoryBytes: most.memoryBytes ?? 1024 * MiB,
        cpuMs: most.cpuMs ?? 2 * LONGEST_MS,
        processes: most.processes ?? 64,
        fileBytes: most.fileBytes ?? 256 * MiB,
        tmpBytes: most.tmpBytes ?? 64 * MiB,
        shmBytes: Math.min(16 * MiB, most.tmpBytes ?? 16 * MiB),
        openFiles: most.openFiles ?? 1024,
      },
      input: false,
      linger: false,
      channel: true,
    });
  } finally {
    image.close();
  }
  let why: 'timeout' | 'limit' | undefined;
  let written = 0;
  const end = (reason: 'timeout' | 'limit'): void => {
    why ??= reason;
    job.signal(SIGKILL);
  };
  const outputs = [job.stdout, job.stderr].map((stream) => {
    const kept = { text: Buffer.alloc(0) as Buffer, truncated: false };
    stream.on('data', (chunk: Buffer) => {
      written += chunk.length;
      const all = Buffer.concat([kept.text, chunk]);
      kept.truncated ||= all.length > KEPT;
      kept.text = all.subarray(-KEPT);
      if (written > outputBytes) end('limit');
    });
    return kept;
  });
  const timer = setTimeout(() => end('timeout'), wallMs).unref();
  const ended = Promise.all([job.ended, job.closed]).then(([how]): ConfinedEnd => {
    const [stdout, stderr] = outputs as [(typeof outputs)[0], (typeof outputs)[0]];
    return {
      status: statusOf(how),
      stdout: stdout.text.toString(),
      stderr: stderr.text.toString(),
      truncated: stdout.truncated || stderr.truncated,
      ended: why ?? (how.how === 'killed' || how.how === 'lost' ? 'revoked' : how.how),
      usage: { wallMs: how.wallUs / 1000, cpuMs: how.cpuUs / 1000, peakBytes: how.peakBytes },
    };
  });
  ended.catch(() => {}).finally(() => clearTimeout(timer));
  const { pid } = await job.started.catch(async (error) => {
    await job.closed;
    throw error;
  });
  return {
    channel: job.channel as object,
    pid,
    ended,
    kill: async () => {
      job.signal(SIGKILL);
      await ended;
    },
  };
}

function statusOf({ how, code = 0, signal = SIGKILL }: SandboxEnded): number {
  return how === 'exit' ? code : 128 + signal;
}
