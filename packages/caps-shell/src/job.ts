/**
 * One job: a program in a world, from the request to its last process.
 *
 * A job is killed when its time is over, when it writes too much output, when its cap is closed, and when a
 * grant ends that it was started under or that one of its directories was mounted under. The caller that ends
 * the grant waits until no process of the job is left. A job has ended when no process is left and both
 * streams are at their end. A daemon that holds a pipe cannot delay that, because it is dead.
 */
import type { Socket } from 'node:net';
import { CapError, type Clock, systemClock } from '@hob/vat';
import { drivenBy } from '@hob/vat/forwarder';
import { admit } from './admission.ts';
import type { Caller } from './caller.ts';
import { Door } from './door/door.ts';
import { DOOR_PORT, doorEnv } from './door/proxy-env.ts';
import { leaseWays, type Way } from './door/ways.ts';
import { HOME, openImage, PATH } from './drivers/image.ts';
import { MOST_TRIES, type SandboxEnd, type SandboxProcess, startSandbox } from './drivers/sandbox.ts';
import { type FullLimits, sandboxLimits } from './limits.ts';
import { asRevoked, leaseMounts, type MountLease, type MountPoint } from './mounts.ts';
import { OutputStream } from './output.ts';
import type { SandboxSpec } from './sandbox-spec.ts';
import type { Ended, Job, SignalName } from './shell-cap.ts';

/** A program to run, with its arguments, mounts and limits. */
export interface JobRequest {
  readonly program: string;
  readonly is?: SandboxSpec['is'];
  /** With the program's own name in front. */
  readonly args: readonly string[];
  /** The arguments that the ledger records. */
  readonly ledgerArgs: readonly string[];
  readonly method: string;
  readonly places: readonly MountPoint[];
  readonly ways: readonly Way[];
  /** More mounts of the machine, for the program itself. */
  readonly more?: SandboxSpec['mounts'];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: FullLimits;
  readonly timeoutMs: number | undefined;
  readonly stdin: 'open' | string | undefined;
}

/**
 * The largest text of one stream in a result that goes over a wire. Two of these and the rest fit into a
 * frame.
 */
export const TEXT_BUDGET: number = 448 * 1024;
/** The time between TERM and the kill. */
const GRACE_MS = 500;
const LARGEST_WRITE = 1024 * 1024;
const MOST_UNSETTLED = 4 * 1024 * 1024;
const SIGNALS: Readonly<Record<SignalName, number>> = { HUP: 1, INT: 2, KILL: 9, TERM: 15 };

/** Nothing ran. */
interface FailedStart {
  readonly error: unknown;
  readonly again: boolean;
}

type KillReason = 'timeout' | 'limit' | 'revoked';

let time: Clock | undefined;
let jobs = 0;

export class RunningJob {
  readonly #sandboxed: SandboxProcess;
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  readonly #request: JobRequest;
  readonly #timers: (() => void)[] = [];
  #killedFor: KillReason | undefined;
  #limit: Ended['limit'];
  #over = false;
  #closedInput: boolean;
  #unsettled = 0;
  #bytes = 0;
  /** Resolves when its last process is gone and all output is read. */
  readonly ended: Promise<SandboxEnd>;
  readonly job: Job;

  private constructor(sandboxed: SandboxProcess, request: JobRequest) {
    this.#sandboxed = sandboxed;
    this.#request = request;
    const took = (bytes: number): void => this.#countOutput(bytes);
    this.#stdout = new OutputStream(sandboxed.stdout, took, () => this.#stderr.waitElsewhere());
    this.#stderr = new OutputStream(sandboxed.stderr, took, () => this.#stdout.waitElsewhere());
    this.#closedInput = request.stdin !== 'open';
    if (request.stdin !== 'open' && request.stdin !== undefined) sandboxed.stdin?.end(request.stdin);
    const { timeoutMs, limits } = request;
    time ??= systemClock();
    this.#after(Math.min(timeoutMs ?? limits.wallMs, limits.wallMs), () => this.#timeOut());
    this.ended = this.#end();
    this.ended.catch(() => {});
    this.job = this.#makeJob();
  }

  /**
   * Resolves when the program runs. If it rejects, nothing ran and nothing is left. `closes` abort when the
   * cap closes.
   */
  static async start(
    request: JobRequest,
    caller: Caller,
    payer: object,
    closes: readonly AbortSignal[],
  ): Promise<RunningJob> {
    for (let tries = 1; ; tries += 1) {
      const tried = await RunningJob.#start(request, caller, payer, closes, tries < MOST_TRIES);
      if (tried instanceof RunningJob) return tried;
      if (!tried.again || tries === MOST_TRIES) throw tried.error;
    }
  }

  /** Tries once. */
  static async #start(
    request: JobRequest,
    caller: Caller,
    payer: object,
    closes: readonly AbortSignal[],
    ahead: boolean,
  ): Promise<RunningJob | FailedStart> {
    const watch = caller.watch();
    let leaveQueue = (): void => {};
    let lease: MountLease | undefined;
    let door: Door | undefined;
    let running: RunningJob | undefined;
    const kill = (): void => running?.kill('revoked');
    const ends = [...closes, watch.signal];
    const release = (): void => {
      for (const signal of ends) signal.removeEventListener('abort', kill);
      lease?.release();
      door?.close();
      leaveQueue();
      watch.done();
    };
    try {
      leaveQueue = await admit(payer, ends);
      lease = await leaseMounts(request.places);
      ends.push(...lease.ended);
      if (request.ways.length > 0) door = new Door(await leaseWays(request.ways, caller.grants));
      for (const signal of ends) signal.throwIfAborted();
      running = RunningJob.#launch(request, lease.mounts, door, ahead);
      for (const signal of ends) signal.addEventListener('abort', kill, { once: true });
      running.#recorded = running.#record(caller, lease, door, release);
      await running.#sandboxed.started;
      return running;
    } catch (error) {
      await running?.over();
      release();
      const killed = ends.find(({ aborted }) => aborted);
      // A job that was killed before it began rejects with the reason of the kill.
      return {
        error: asRevoked(killed?.reason ?? error),
        again: killed === undefined && running !== undefined && running.#sandboxed.again,
      };
    }
  }

  /** Starts the job. With `ahead` a sandbox program that was started ahead may run it. */
  static #launch(
    request: JobRequest,
    mounts: SandboxSpec['mounts'],
    door: Door | undefined,
    ahead: boolean,
  ): RunningJob {
    const world = specFor(request, mounts, door);
    let sandboxed: SandboxProcess;
    try {
      sandboxed = startSandbox(world, { ahead });
    } catch (error) {
      world[Symbol.dispose]();
      throw error;
    }
    void sandboxed.taken.then(() => world[Symbol.dispose]());
    return new RunningJob(sandboxed, request);
  }

  /** Waits for the end, writes it to the ledger, and releases what the job held. */
  async #record(caller: Caller, { told }: MountLease, door: Door | undefined, release: () => void): Promise<void> {
    jobs += 1;
    const job = `job${jobs}`;
    try {
      const end = await this.ended;
      door?.close();
      await this.#writeLine(this.#verdict(end), { job, mounts: told, ...(door && { net: door.told }) }, caller);
    } catch {
      // Either it never ran, which its caller is told; or the ledger cannot be written, which stops the next
      // call.
    }
    release();
  }

  /** Resolves when the ledger has its line, and its mounts and its place in the queue are released. */
  #recorded: Promise<void> = Promise.resolve();

  /** Resolves when nothing of it is left. */
  async over(): Promise<void> {
    await this.ended.catch(() => {});
    await this.#recorded;
  }

  /** Kills every process at once, without grace. */
  kill(reason: KillReason, limit?: Ended['limit']): void {
    if (this.#over) return;
    this.#killedFor ??= reason;
    this.#limit ??= limit;
    this.#sandboxed.signal(9);
  }

  /** `budget`: the most bytes of a frame for the text of each stream. */
  async wait(budget?: number): Promise<Ended> {
    this.#stdout.drain();
    this.#stderr.drain();
    const end = await this.ended;
    await this.#recorded;
    return this.#outcome(end, budget);
  }

  get isOver(): boolean {
    return this.#over;
  }

  async #end(): Promise<SandboxEnd> {
    const { ended, closed } = this.#sandboxed;
    let end: SandboxEnd | undefined;
    let broken: unknown;
    try {
      end = await ended;
    } catch (error) {
      broken = error;
    }
    this.#over = true;
    for (const stop of this.#timers) stop();
    this.#sandboxed.stdin?.destroy();
    // The rest of its output is less than what is kept, so a slow reader still finds it.
    this.#stdout.drain();
    this.#stderr.drain();
    await Promise.all([this.#stdout.ended, this.#stderr.ended, closed]);
    if (end === undefined) throw broken;
    return end;
  }

  #outcome(end: SandboxEnd, budget?: number): Ended {
    const [stdout, stderr] = [this.#stdout.kept.text(budget), this.#stderr.kept.text(budget)];
    const { status, ...rest } = this.#verdict(end);
    return Object.freeze({
      status,
      stdout: stdout.text,
      stderr: stderr.text,
      truncated: stdout.cut || stderr.cut,
      ...rest,
    });
  }

  #verdict(end: SandboxEnd): Omit<Ended, 'stdout' | 'stderr' | 'truncated'> {
    const limit = end.how === 'limit' ? end.limit : this.#limit;
    const ended: Ended['ended'] = this.#killedFor ?? (end.how === 'exit' || end.how === 'limit' ? end.how : 'signal');
    return {
      status: end.how === 'exit' ? (end.code ?? 0) : 128 + (end.how === 'signal' ? (end.signal ?? 9) : 9),
      ended,
      ...(ended === 'limit' && limit !== undefined ? { limit } : {}),
      usage: Object.freeze({
        wallMs: Math.round(end.wallUs / 1000),
        cpuMs: Math.round(end.cpuUs / 1000),
        peakBytes: end.peakBytes,
      }),
    };
  }

  #after(ms: number, then: () => void): void {
    this.#timers.push((time as Clock).after(ms, then));
  }

  #timeOut(): void {
    if (this.#over) return;
    this.#killedFor ??= 'timeout';
    this.#sandboxed.signal(SIGNALS.TERM);
    this.#after(GRACE_MS, () => this.kill('timeout'));
  }

  #countOutput(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#request.limits.outputBytes) this.kill('limit', 'output');
  }

  async #writeLine(
    { ended, status, usage }: Omit<Ended, 'stdout' | 'stderr' | 'truncated'>,
    told: Readonly<Record<string, unknown>>,
    caller: Caller,
  ): Promise<void> {
    const { method, ledgerArgs } = this.#request;
    const [grant] = caller.grants;
    await caller.tell('result', { grant, method, code: ended, status, ...told, usage }, ledgerArgs);
  }

  #makeJob(): Job {
    const job: Job = Object.freeze({
      stdout: this.#stdout.source,
      stderr: this.#stderr.source,
      write: (chunk: Uint8Array | string) => this.#write(chunk),
      end: async () => {
        this.#closedInput = true;
        this.#sandboxed.stdin?.end();
      },
      signal: async (name: SignalName) => {
        if (!Object.hasOwn(SIGNALS, name))
          throw new CapError('invalid', `a signal is one of ${Object.keys(SIGNALS).join(', ')}`);
        if (this.#over) throw jobEnded();
        this.#sandboxed.signal(SIGNALS[name]);
      },
      wait: () => this.wait(),
    });
    return drivenBy(job, {
      stdout: () => job.stdout,
      stderr: () => job.stderr,
      write: ([chunk]) => job.write(chunk as string),
      end: () => job.end(),
      signal: ([name]) => job.signal(name as SignalName),
      wait: () => this.wait(TEXT_BUDGET),
    });
  }

  async #write(chunk: unknown): Promise<void> {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array))
      throw new CapError('invalid', 'write takes a text or bytes');
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk);
    if (bytes.length > LARGEST_WRITE) throw new CapError('limit', 'write takes at most 1 MiB at a time: split it');
    if (this.#over) throw jobEnded();
    const { stdin } = this.#sandboxed;
    if (this.#closedInput || stdin === undefined || stdin.destroyed) throw inputClosed();
    if (this.#unsettled + bytes.length > MOST_UNSETTLED)
      throw new CapError('limit', 'too many bytes are written and not read yet: wait for the earlier writes');
    this.#unsettled += bytes.length;
    // A program that waits for a reader of its output reads no input.
    const waited = [this.#stdout, this.#stderr].map((stream) => stream.waitElsewhere());
    try {
      await new Promise<void>((resolve, reject) =>
        stdin.write(bytes, (error) => (error ? reject(this.#over ? jobEnded() : inputClosed()) : resolve())),
      );
    } finally {
      for (const end of waited) end();
      this.#unsettled -= bytes.length;
    }
  }
}

const jobEnded = (): CapError => new CapError('E_JOB_ENDED', 'the job is over: wait() tells how it ended');
const inputClosed = (): CapError =>
  new CapError('E_INPUT_CLOSED', 'the input of the program is closed: write before you call end()');

function specFor(
  { program, is, args, env, cwd, limits, ways, more = [], stdin }: JobRequest,
  mounts: SandboxSpec['mounts'],
  door: Door | undefined,
): SandboxSpec & Disposable {
  const image = openImage();
  return {
    mounts: [...image.mounts, ...more, ...mounts].sort((a, b) => (a.at < b.at ? -1 : 1)),
    links: image.links,
    files: image.files,
    program,
    ...(is === undefined ? {} : { is }),
    args,
    env: { PATH, HOME, TMPDIR: '/tmp', LANG: 'C.UTF-8', ...(hasHosts(ways) ? doorEnv(ways) : {}), ...env },
    cwd,
    limits: sandboxLimits(limits),
    input: stdin !== undefined,
    linger: false,
    channel: false,
    listen: door && listenersOf(door, ways),
    [Symbol.dispose]: () => image.close(),
  };
}

/** Whether a way leads to a host. Such a world has the proxy. */
const hasHosts = (ways: readonly Way[]): boolean => ways.some(({ path }) => path === undefined);

const listenersOf = (door: Door, ways: readonly Way[]): NonNullable<SandboxSpec['listen']> => [
  ...(hasHosts(ways) ? [{ at: DOOR_PORT, accept: (client: Socket) => door.enter(client) }] : []),
  ...ways.flatMap(({ path }) =>
    path === undefined ? [] : [{ at: path, accept: (client: Socket) => door.enterSocket(path, client) }],
  ),
];
