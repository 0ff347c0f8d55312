/**
 * Starts the sandbox program and reads its status lines.
 *
 * It runs one file (`program.ts`), held by a descriptor and compared with its checksum, never a name in PATH.
 * `started` and `ended` reject only if the payload never ran. Once it may have run, `ended` resolves, even if
 * the sandbox program itself is killed. When `ended` resolves, no process of the job is left. When `closed`
 * resolves, nothing of it is left in this process either. If this process ends in any way, the job ends.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import type { Duplex, Readable, Writable } from 'node:stream';
import { CapError } from '@hob/vat';
import { type PipeChannel, pipeChannel } from '@hob/vat/wire';
import { serveListeners } from '../door/drivers/listeners.ts';
import { errorOf, type Failure, unavailable } from '../errors.ts';
import { encodeSpec, type SandboxSpec } from '../sandbox-spec.ts';
import { refuseWaiting, startWaiting, takeWaiting } from './ahead.ts';
import { type Cgroup, delegated, openCgroup } from './cgroup.ts';
import { openProgram, sandboxProgram } from './program.ts';

export interface SandboxEnd {
  /**
   * `killed`: from here. `lost`: by somebody else, or the sandbox failed. In every case nothing of the job is
   * left.
   */
  readonly how: 'exit' | 'signal' | 'limit' | 'killed' | 'lost';
  readonly code?: number;
  readonly signal?: number;
  readonly limit?: 'memory' | 'cpu';
  readonly wallUs: number;
  readonly cpuUs: number;
  readonly peakBytes: number;
  /** Most processes at once. */
  readonly processes: number;
}

/** The status lines of sandbox/PROTOCOL.md. */
type StatusLine =
  | { readonly state: 'waiting'; readonly pid: number }
  | { readonly state: 'building'; readonly pid: number }
  | { readonly state: 'started'; readonly pid: number; readonly setupUs: number }
  | { readonly state: 'leader'; readonly status: number }
  | ({ readonly state: 'ended' } & SandboxEnd)
  | { readonly state: 'failed'; readonly stage: string; readonly errno: number; readonly mount?: number };

export interface SandboxProcess {
  /**
   * The payload runs, or may have run and is over. `pid` is the number of the world's pid 1 on this machine.
   */
  readonly started: Promise<{ readonly pid: number; readonly setupUs: number }>;
  /** Resolves when the descriptors of the mounts may be closed. */
  readonly taken: Promise<void>;
  /** The wait status of the first process. Resolves only with `linger`. */
  readonly leaderEnded: Promise<number>;
  readonly ended: Promise<SandboxEnd>;
  readonly closed: Promise<void>;
  readonly stdin: Writable | undefined;
  /** Read it from the same turn on: at exit Node drops output without a reader. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** With `send`, `on('message')`, `on('disconnect')`, `disconnect`: for CapTP over IPC. */
  readonly channel: PipeChannel | undefined;
  /**
   * Nothing ran, and another try may succeed: a file of the system image was replaced meanwhile, or the program was
   * started ahead and failed before it built the world.
   */
  readonly again: boolean;
  /** Signals the group of the first process; if that is over, every process. 9 kills all processes. */
  signal(number: number): void;
  /** Ends the job in the way that the end of this process does. */
  abandon(): void;
}

/** How often a start is tried. An installation on the machine replaces files of the system image now and then. */
export const MOST_TRIES = 3;

export interface StartOptions {
  /** The sandbox program. */
  readonly built?: string;
  /**
   * Uses a program that was started ahead, if one waits, and starts one for the next job. The caller keeps the `mounts`
   * open until `taken` resolves.
   */
  readonly ahead?: boolean;
}

/**
 * Starts a job. Without `ahead` the caller may close its `mounts` when this returns. Errors: `E_SANDBOX_UNAVAILABLE`.
 */
export function startSandbox(world: SandboxSpec, options: StartOptions = {}): SandboxProcess {
  const { built = sandboxProgram(), ahead = false } = options;
  if (process.platform !== 'linux') throw unavailable('platform', 'ENOSYS');
  // A channel, a door and a cgroup are inherited at the start, so a program that was started ahead cannot get them.
  if (!ahead || world.channel || (world.listen ?? []).length > 0 || 'dir' in delegated()) return startNow(world, built);
  const spec = encodeSpec(world, world.mounts.map(({ fd }) => fd), {}); // biome-ignore format: one line
  const building = (): void => startWaiting(built);
  const waiting = takeWaiting(built);
  if (waiting === undefined) return startNow(world, built, building);
  const [stdin, stdout, stderr, specPipe, status, signals] = waiting;
  if (!world.input) stdin.destroy();
  const pipes = { stdin: world.input ? stdin : undefined, stdout, stderr, spec: specPipe, status, signals };
  // The program is no child of this process. Its pipes show when it ends.
  const none = { channel: undefined, exited: Promise.resolve(), failed: new Promise<never>(() => {}) };
  return follow(pipes, spec, world, { ...none, release: async () => {}, waited: true, building });
}

function startNow(world: SandboxSpec, built: string, building = (): void => {}): SandboxProcess {
  const descriptors = world.mounts.map((_, i) => 6 + i);
  const channelAt = world.channel ? 6 + descriptors.length : undefined;
  const program = openProgram(built);
  let cgroup: Cgroup | undefined;
  try {
    cgroup = openCgroup(world.limits);
  } catch (error) {
    fs.closeSync(program);
    throw error;
  }
  const stdio: StdioOptions = [
    world.input ? 'pipe' : 'ignore',
    ...(['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const),
    ...world.mounts.map(({ fd }) => fd),
  ];
  // Not 'ipc': data on such a channel can end the process that reads it.
  if (channelAt !== undefined) stdio.push('pipe');
  const { listen = [] } = world;
  // Only the sandbox program writes to it. No process of the world has it.
  const doorAt = listen.length === 0 ? undefined : stdio.push('ipc') - 1;
  const cgroupAt = cgroup && stdio.push(cgroup.fd) - 1;
  let child: ChildProcess;
  let spec: Buffer;
  try {
    spec = encodeSpec(world, descriptors, { channel: channelAt, door: doorAt, cgroup: cgroupAt });
    // By this process's number: the descriptors of the child are rearranged before exec.
    child = spawn(`/proc/${process.pid}/fd/${program}`, [], { argv0: 'hob-sandbox', cwd: '/', env: {}, stdio });
  } catch (error) {
    void cgroup?.remove();
    throw error instanceof CapError ? error : unavailable('helper', String((error as NodeJS.ErrnoException).code));
  } finally {
    fs.closeSync(program);
    cgroup?.close();
  }
  // Before the next line that can throw: without a listener, the event `error` would end this process.
  const failed = new Promise<string>((done) =>
    child.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'EIO')),
  );
  // Undefined if no descriptors were left for the pipes. The event `error` follows.
  if (child.stdio === undefined) {
    void cgroup?.remove();
    throw unavailable('helper', 'EMFILE');
  }
  const channel = channelAt === undefined ? undefined : pipeChannel(child.stdio[channelAt] as unknown as Duplex);
  const closeListeners = listen.length === 0 ? undefined : serveListeners(child, listen);
  const release = async (): Promise<void> => {
    closeListeners?.();
    await cgroup?.remove();
  };
  const [specPipe, status, signals] = child.stdio.slice(3, 6) as unknown as [Writable, Readable, Writable];
  const { stdout, stderr } = child as { stdout: Readable; stderr: Readable };
  const pipes = { stdin: child.stdin ?? undefined, stdout, stderr, spec: specPipe, status, signals };
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  return follow(pipes, spec, world, { channel, exited, failed, release, waited: false, building });
}

/** This process's ends of the pipes of sandbox/PROTOCOL.md. */
interface Pipes {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly spec: Writable;
  readonly status: Readable;
  readonly signals: Writable;
}

interface JobResources {
  /** Resolves when the program has exited; at once if it was started ahead, because it is no child of this process. */
  readonly exited: Promise<void>;
  /** Resolves with an errno if the program was not started. */
  readonly failed: Promise<string>;
  readonly channel: PipeChannel | undefined;
  /** Called once, when the sandbox program is gone. */
  release(): Promise<void>;
  /** Whether the program was started ahead. */
  readonly waited: boolean;
  /** Called once, when the program begins to build the world. */
  building(): void;
}

function follow(
  pipes: Pipes,
  spec: Buffer,
  world: SandboxSpec,
  { channel, exited, failed, release, waited, building }: JobResources,
): SandboxProcess {
  const { stdin, stdout, stderr, spec: specPipe, status, signals } = pipes;
  const { started, leader, ended, closed, taken } = moments();
  let again = false;
  /** Set when it is known how the job ended, or that nothing ran. */
  let over = false;
  const fail = (error: CapError): void => {
    if (over) return;
    over = true;
    again ||= waited && error.code === 'E_SANDBOX_UNAVAILABLE';
    taken.resolve();
    for (const each of [started, leader, ended]) each.reject(error);
  };

  /** Pid 1 of the world. Set before the payload may run. */
  let pid1: number | undefined;
  const since = process.hrtime.bigint();
  const end = (how: SandboxEnd): void => {
    over = true;
    started.resolve({ pid: pid1 ?? 0, setupUs: 0 });
    ended.resolve(how);
  };

  const readStatus = (line: string): void => {
    const said = JSON.parse(line) as StatusLine;
    if (said.state === 'waiting') return;
    if (said.state === 'building') {
      pid1 = said.pid;
      taken.resolve();
      return building();
    }
    if (said.state === 'started') return started.resolve({ pid: said.pid, setupUs: said.setupUs });
    if (said.state === 'leader') return leader.resolve(said.status);
    if (said.state === 'ended') return end(endOf(said));
    const failure = failureOf(said, world);
    again = failure.stage === 'image';
    if (failure.stage === 'waiting') refuseWaiting();
    fail(errorOf(failure));
  };
  onLines(status, readStatus, () => {
    if (pid1 === undefined) fail(unavailable('helper', 'EPROTO'));
    signals.destroy();
  });
  // `close` reports a program that is gone. A failed write to it says nothing new.
  for (const stream of [stdin, stdout, stderr, specPipe, status, signals]) stream?.on('error', () => {});
  void failed.then((code) => {
    fail(unavailable('helper', code));
    void release().then(closed.resolve);
  });
  void allRead(pipes, exited).then(async () => {
    // Without a line `ended` the sandbox program was killed. Pid 1 dies with it, and with pid 1 every
    // process.
    if (pid1 !== undefined) {
      await untilGone(pid1);
      const wallUs = Number((process.hrtime.bigint() - since) / 1000n);
      end({ how: 'lost', wallUs, cpuUs: 0, peakBytes: 0, processes: 0 });
    }
    fail(unavailable('helper', 'ECHILD')); // does nothing if another line came
    await release();
    closed.resolve();
  });
  specPipe.end(spec);
  return {
    started: started.promise,
    taken: taken.promise,
    leaderEnded: leader.promise,
    ended: ended.promise,
    closed: closed.promise,
    ...{ stdin, stdout, stderr, channel },
    get again() {
      return again;
    },
    ...controlsOf(signals),
  };
}

/** The promises of a `SandboxProcess`. */
function moments() {
  const started = Promise.withResolvers<{ pid: number; setupUs: number }>();
  const leader = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<SandboxEnd>();
  for (const { promise } of [started, leader, ended]) promise.catch(() => {}); // each caller handles it
  return { started, leader, ended, closed: Promise.withResolvers<void>(), taken: Promise.withResolvers<void>() };
}

const controlsOf = (signals: Writable): Pick<SandboxProcess, 'signal' | 'abandon'> => ({
  signal: (number) => {
    if (!signals.destroyed) signals.write(Uint8Array.of(number));
  },
  abandon: () => void signals.destroy(),
});

/** A part of the system image that is not the same any more is the stage `image`. */
function failureOf({ stage, errno, mount: at }: StatusLine & { state: 'failed' }, { mounts }: SandboxSpec): Failure {
  const mount = at === undefined ? undefined : mounts[at];
  const ofImage = stage === 'stale' && mount?.system === true;
  return { stage: ofImage ? 'image' : stage, errno: errnoName(errno), mount: mount?.at };
}

/** Calls `read` with each line, and `failed` if that throws. */
function onLines(stream: Readable, read: (line: string) => void, failed: () => void): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    try {
      for (const line of lines) read(line);
    } catch {
      failed();
    }
  });
}

/**
 * Resolves when the sandbox program has exited and its output is read. The event `close` cannot tell: it does
 * not come for a channel that was disconnected from here.
 */
async function allRead({ stdout, stderr, status, signals }: Pipes, exited: Promise<void>): Promise<void> {
  const after = (stream: Readable): Promise<void> => new Promise((done) => stream.once('close', done));
  await Promise.all([exited, ...[stdout, stderr, status].map(after)]);
  // Closed only now. When it closes, the program drops output that nobody has read yet.
  signals.destroy();
}

/**
 * Waits for pid 1 of the world. It is a zombie, or gone, only when all other processes of its pid namespace
 * are gone.
 */
async function untilGone(pid: number): Promise<void> {
  const lives = (): boolean => {
    try {
      const status = fs.readFileSync(`/proc/${pid}/status`, 'latin1');
      // The number may be reused, by a process that is not the first of a namespace.
      return /^NSpid:.*\t1$/m.test(status) && !/^State:\t[ZX]/m.test(status);
    } catch {
      return false;
    }
  };
  while (lives()) await new Promise((resolve) => setTimeout(resolve, 2));
}

function endOf({ state: _, ...end }: StatusLine & { state: 'ended' }): SandboxEnd {
  return end;
}

const names: ReadonlyMap<number, string> = new Map(Object.entries(os.constants.errno).map(([name, n]) => [n, name]));

function errnoName(errno: number): string {
  return names.get(errno) ?? `errno ${errno}`;
}
