/** Runs shell text in a world of the test's making, straight through the launcher. */
import fs from 'node:fs';
import { endWaiting, startWaiting, waitingPids } from '../src/drivers/ahead.ts';
import { HOME, openImage, PATH } from '../src/drivers/image.ts';
import { BUILT } from '../src/drivers/program.ts';
import { type SandboxEnd, type SandboxProcess, startSandbox } from '../src/drivers/sandbox.ts';
import type { Mount, SandboxLimits, SandboxSpec } from '../src/sandbox-spec.ts';

const O_PATH = 0o10000000;

export const LIMITS: SandboxLimits = {
  memoryBytes: 2 ** 31,
  cpuMs: 60_000,
  processes: 128,
  fileBytes: 2 ** 30,
  tmpBytes: 256 * 2 ** 20,
  shmBytes: 64 * 2 ** 20,
  openFiles: 4096,
};

export interface Grant {
  readonly path: string;
  readonly writable?: boolean;
  readonly covers?: Mount['covers'];
}
/**
 * For the attack suite (`driver.ts`): the folder in which plain bash runs it instead, when to end it, what
 * its processes are known by.
 */
export interface Played {
  readonly plain?: string | undefined;
  readonly timeoutMs?: number;
  readonly mark?: string;
}
export interface Options extends Played, Partial<Omit<SandboxSpec, 'limits'>> {
  /** In place of grants by path; closed after the start. */
  readonly grants?: Readonly<Record<string, Grant>>;
  readonly limits?: Partial<SandboxLimits>;
  /** The grants are not what they were when they were made. */
  readonly changed?: boolean;
  readonly built?: string;
  readonly trees?: Readonly<Record<string, string>>;
  /** The job runs in a program that was started ahead. Only for `run`. */
  readonly ahead?: boolean;
}

export function granted(at: string, { path, writable = true, covers }: Grant): Mount {
  const fd = fs.openSync(path, O_PATH);
  const { dev, ino } = fs.fstatSync(fd, { bigint: true });
  return { fd, dev, ino, at, writable, system: false, covers };
}

export function start(text: string, options: Options = {}): SandboxProcess {
  const {
    grants = {},
    mounts: more = [],
    limits,
    built = BUILT,
    trees = {},
    changed = false,
    ahead = false,
    env,
    plain: _,
    timeoutMs: __,
    mark: ___,
    ...rest
  } = options;
  const image = openImage(trees);
  const made = Object.entries(grants).map(([at, grant]) => granted(at, grant));
  const mounts = [...more, ...made.map((mount) => (changed ? { ...mount, ino: mount.ino + 1n } : mount))];
  const world: SandboxSpec = {
    ...image,
    program: '/bin/bash',
    args: ['bash', '-c', text],
    cwd: mounts[0]?.at ?? '/',
    input: false,
    linger: false,
    channel: false,
    ...rest,
    mounts: [...image.mounts, ...mounts],
    limits: { ...LIMITS, ...limits },
    env: { PATH, HOME, TMPDIR: '/tmp', LANG: 'C.UTF-8', ...env },
  };
  const close = (): void => {
    image.close();
    for (const { fd } of mounts) fs.closeSync(fd);
  };
  try {
    const job = startSandbox(world, { built, ahead });
    if (ahead) void job.taken.then(close);
    return job;
  } finally {
    if (!ahead) close();
  }
}

export interface Outcome extends SandboxEnd {
  readonly stdout: string;
  readonly stderr: string;
  /** A process with the mark was left. */
  readonly left?: boolean;
}

export async function run(text: string, options: Options = {}): Promise<Outcome> {
  if (options.ahead) {
    endWaiting();
    startWaiting(options.built ?? BUILT);
    // If no world can be made, no program waits, and the job starts its own.
    for (let n = 0; n < 200 && waitingPids().length < 3; n += 1) await new Promise((done) => setTimeout(done, 2));
  }
  const job = start(text, options);
  const timer = options.timeoutMs && setTimeout(() => job.signal(9), options.timeoutMs);
  const [ended, stdout, stderr] = await Promise.all([job.ended, textOf(job.stdout), textOf(job.stderr)]).finally(
    async () => {
      await job.closed;
      if (timer) clearTimeout(timer);
    },
  );
  return { ...ended, stdout, stderr };
}

export async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
