/**
 * A program in a world with nothing of the caller in it, for foreign code that talks by messages.
 *
 * It has the system image, a private /tmp and one IPC channel: no directory, no network, no other process. It
 * ends with its time, its limits, `kill()`, or this process.
 */
import { CapError } from '@hob/vat';
import { type OptionNames, takeOptions } from '@hob/vat/forwarder';
import { HOME, NODE, openImage, PATH } from './image.ts';
import { MOST_TRIES, type SandboxEnd, type SandboxProcess, startSandbox } from './sandbox.ts';

interface ConfinedLimits {
  readonly wallMs?: number;
  readonly cpuMs?: number;
  readonly memoryBytes?: number;
  readonly processes?: number;
  readonly fileBytes?: number;
  readonly tmpBytes?: number;
  readonly openFiles?: number;
  readonly outputBytes?: number;
}
interface ConfinedEnd {
  /** Exit status, or 128 + signal. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly ended: 'exit' | 'signal' | 'timeout' | 'limit' | 'revoked';
  readonly usage: { readonly wallMs: number; readonly cpuMs: number; readonly peakBytes: number };
}

const confinedLimits: OptionNames<ConfinedLimits> = {
  wallMs: true,
  cpuMs: true,
  memoryBytes: true,
  processes: true,
  fileBytes: true,
  tmpBytes: true,
  openFiles: true,
  outputBytes: true,
};

/** A running confined program. `ended` resolves when its last process is gone, for whatever reason. */
export interface Confined {
  /** `send`, `on('message')`, `on('disconnect')`, `disconnect`: what `fromChild` of `@hob/vat` takes. */
  readonly channel: object;
  /** The number, on this machine, of the world's first process, which is the parent of the program. */
  readonly pid: number;
  /** Resolves when no process of it is left. */
  kill(): Promise<void>;
  readonly ended: Promise<ConfinedEnd>;
}

const MiB = 2 ** 20;
const SIGKILL = 9;
/**
 * The bytes that are kept of each stream. A confined program talks on its channel; this is for its last
 * words.
 */
const KEPT = 64 * 1024;
const LONGEST_MS = 0x7fff_ffff;

/**
 * Starts a confined program. `program` is `node` (the one that runs here) or a path inside, and its
 * arguments. `trees` are more directories of this machine, read-only, by their path inside. The host program
 * chooses them.
 */
export async function spawnConfined(
  program: readonly string[],
  options?: { readonly limits?: ConfinedLimits; readonly trees?: Readonly<Record<string, string>> },
): Promise<Confined> {
  const { limits: given, trees = {} } = takeOptions(options, 'spawnConfined', { limits: true, trees: true });
  const limits = takeOptions<ConfinedLimits>(given, 'spawnConfined: limits', confinedLimits);
  for (let tries = 1; ; tries += 1) {
    const job = start(program, limits, trees);
    try {
      return await begun(job, limits);
    } catch (error) {
      if (!job.again || tries === MOST_TRIES) throw error;
    }
  }
}

/** Resolves when the program runs. If it rejects, nothing ran and nothing is left. */
async function begun(job: SandboxProcess, limits: ConfinedLimits): Promise<Confined> {
  const { wallMs = LONGEST_MS, outputBytes = 64 * MiB } = limits;
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

function start(
  [program, ...args]: readonly string[],
  limits: ConfinedLimits,
  trees: Readonly<Record<string, string>>,
): SandboxProcess {
  if (program === undefined) throw new CapError('invalid', 'name a program to confine');
  const image = openImage(trees);
  try {
    return startSandbox({
      ...image,
      program: program === 'node' ? NODE : program,
      args: [program, ...args],
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
        memoryBytes: limits.memoryBytes ?? 1024 * MiB,
        cpuMs: limits.cpuMs ?? 2 * LONGEST_MS,
        processes: limits.processes ?? 64,
        fileBytes: limits.fileBytes ?? 256 * MiB,
        tmpBytes: limits.tmpBytes ?? 64 * MiB,
        shmBytes: Math.min(16 * MiB, limits.tmpBytes ?? 16 * MiB),
        openFiles: limits.openFiles ?? 1024,
      },
      input: false,
      linger: false,
      channel: true,
    });
  } finally {
    // The sandbox program has its own copies now.
    image.close();
  }
}

function statusOf({ how, code = 0, signal = SIGKILL }: SandboxEnd): number {
  return how === 'exit' ? code : 128 + signal;
}
