/**
 * One program in a world, from the wish to its last process.
 *
 * Promise: a job ends when its time is over, when it writes more than it may, when its cap is closed, and when a grant ends that it was
 * started under or that a directory of it was mounted under; who ends that waits until no process of it is left. It is told as ended when
 * no process is left and both streams are at their end: a daemon that holds a pipe cannot delay that, for it is dead.
 */
import { CapError, type Clock, drivenBy, systemClock } from '@hob/vat';
import type { Caller } from './caller.ts';
import { HOME, openImage, PATH } from './drivers/image.ts';
import { type Ended as SandboxEnded, type Sandboxed, startSandbox } from './drivers/sandbox.ts';
import { type FullLimits, worldLimits } from './limits.ts';
import { asEnd, hold, type MountLease, type Place } from './mounts.ts';
import { OutputStream } from './output.ts';
import { place } from './queue.ts';
import type { Ended, Job, SignalName } from './shell-cap.ts';
import type { World } from './world.ts';

/** What runs in which world. */
export interface Order {
  readonly program: string;
  readonly is?: World['is'];
  /** With the program's own name in front. */
  readonly args: readonly string[];
  /** What the ledger keeps of it. */
  readonly said: readonly string[];
  readonly method: string;
  readonly places: readonly Place[];
  /** More of the machine that has to be there. */
  readonly more?: World['mounts'];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: FullLimits;
  readonly timeoutMs: number | undefined;
  readonly stdin: 'open' | string | undefined;
}

/** Of an answer that goes over a wire: two of these and the rest are less than a frame. */
export const FRAME: number = 448 * 1024;
/** Between TERM and the end of the world. */
const GRACE_MS = 500;
const LARGEST_WRITE = 1024 * 1024;
const MOST_UNSETTLED = 4 * 1024 * 1024;
const SIGNALS: Readonly<Record<SignalName, number>> = { HUP: 1, INT: 2, KILL: 9, TERM: 15 };

type Why = 'timeout' | 'limit' | 'revoked';

let time: Clock | undefined;
let jobs = 0;

export class Running {
  readonly #sandboxed: Sandboxed;
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  readonly #order: Order;
  readonly #timers: (() => void)[] = [];
  /** Why it was killed. */
  #why: Why | undefined;
  #limit: Ended['limit'];
  #over = false;
  #closedInput: boolean;
  #unsettled = 0;
  #bytes = 0;
  /** Its last process is gone and all was told. */
  readonly ended: Promise<SandboxEnded>;
  readonly job: Job;

  private constructor(sandboxed: Sandboxed, order: Order) {
    this.#sandboxed = sandboxed;
    this.#order = order;
    const took = (bytes: number): void => this.#took(bytes);
    this.#stdout = new OutputStream(sandboxed.stdout, took, () => this.#stderr.waitElsewhere());
    this.#stderr = new OutputStream(sandboxed.stderr, took, () => this.#stdout.waitElsewhere());
    this.#closedInput = order.stdin !== 'open';
    if (order.stdin !== 'open' && order.stdin !== undefined) sandboxed.stdin?.end(order.stdin);
    const { timeoutMs, limits } = order;
    time ??= systemClock();
    this.#after(Math.min(timeoutMs ?? limits.wallMs, limits.wallMs), () => this.#timeIsOver());
    this.ended = this.#end();
    this.ended.catch(() => {});
    this.job = this.#face();
  }

  /** Answers when the program runs. Errors: those of README.md; then nothing ran, and nothing is left. `closes`: of the cap. */
  static async start(order: Order, caller: Caller, payer: object, closes: readonly AbortSignal[]): Promise<Running> {
    const watch = caller.watch();
    let givesBack = (): void => {};
    let holding: MountLease | undefined;
    let running: Running | undefined;
    const end = (): void => running?.end('revoked');
    const ends = [...closes, watch.signal];
    const release = (): void => {
      for (const signal of ends) signal.removeEventListener('abort', end);
      holding?.release();
      givesBack();
      watch.done();
    };
    try {
      givesBack = await place(payer, ends);
      holding = await hold(order.places);
      ends.push(...holding.ended);
      for (const signal of ends) signal.throwIfAborted();
      running = Running.#launch(order, holding.mounts);
      for (const signal of ends) signal.addEventListener('abort', end, { once: true });
      running.#told = running.#follow(caller, holding, release);
      await running.#sandboxed.started;
      return running;
    } catch (error) {
      await running?.over();
      release();
      // What was killed before it began says why.
      throw asEnd(ends.find(({ aborted }) => aborted)?.reason ?? error);
    }
  }

  static #launch(order: Order, mounts: World['mounts']): Running {
    using world = worldOf(order, mounts);
    return new Running(startSandbox(world), order);
  }

  async #follow(caller: Caller, { told }: MountLease, release: () => void): Promise<void> {
    jobs += 1;
    const job = `job${jobs}`;
    try {
      const end = await this.ended;
      await this.#tell(this.#verdict(end), job, told, caller);
    } catch {
      // It never ran, which its caller is told; or the ledger cannot be written, which stops what comes next.
    }
    release();
  }

  /** The ledger was told, and what it held is given back. */
  #told: Promise<void> = Promise.resolve();

  /** Everything of it is over. */
  async over(): Promise<void> {
    await this.ended.catch(() => {});
    await this.#told;
  }

  /** Without grace. */
  end(why: Why, limit?: Ended['limit']): void {
    if (this.#over) return;
    this.#why ??= why;
    this.#limit ??= limit;
    this.#sandboxed.signal(9);
  }

  /** `budget`: each stream as so many bytes of a frame at the most. */
  async wait(budget?: number): Promise<Ended> {
    this.#stdout.drain();
    this.#stderr.drain();
    const end = await this.ended;
    await this.#told;
    return this.#outcome(end, budget);
  }

  get isOver(): boolean {
    return this.#over;
  }

  async #end(): Promise<SandboxEnded> {
    const { ended, closed } = this.#sandboxed;
    let end: SandboxEnded | undefined;
    let broken: unknown;
    try {
      end = await ended;
    } catch (error) {
      broken = error;
    }
    this.#over = true;
    for (const stop of this.#timers) stop();
    this.#sandboxed.stdin?.destroy();
    // What it wrote last: less than what is kept, so a reader that is behind still finds it.
    this.#stdout.drain();
    this.#stderr.drain();
    await Promise.all([this.#stdout.ended, this.#stderr.ended, closed]);
    if (end === undefined) throw broken;
    return end;
  }

  #outcome(end: SandboxEnded, budget?: number): Ended {
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

  #verdict(end: SandboxEnded): Omit<Ended, 'stdout' | 'stderr' | 'truncated'> {
    const limit = end.how === 'limit' ? end.limit : this.#limit;
    const ended: Ended['ended'] = this.#why ?? (end.how === 'exit' || end.how === 'limit' ? end.how : 'signal');
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

  #timeIsOver(): void {
    if (this.#over) return;
    this.#why ??= 'timeout';
    this.#sandboxed.signal(SIGNALS.TERM);
    this.#after(GRACE_MS, () => this.end('timeout'));
  }

  #took(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#order.limits.outputBytes) this.end('limit', 'output');
  }

  async #tell(
    { ended, status, usage }: Omit<Ended, 'stdout' | 'stderr' | 'truncated'>,
    job: string,
    mounts: Readonly<Record<string, string>>,
    caller: Caller,
  ): Promise<void> {
    const { method, said } = this.#order;
    const [grant] = caller.grants;
    await caller.tell('result', { grant, method, code: ended, job, status, mounts, usage }, said);
  }

  #face(): Job {
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
      wait: () => this.wait(FRAME),
    });
  }

  async #write(chunk: unknown): Promise<void> {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array))
      throw new CapError('invalid', 'a program is given text or bytes');
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk);
    if (bytes.length > LARGEST_WRITE) throw new CapError('limit', 'at most 1 MiB at a time');
    if (this.#over) throw jobEnded();
    const { stdin } = this.#sandboxed;
    if (this.#closedInput || stdin === undefined || stdin.destroyed) throw inputClosed();
    if (this.#unsettled + bytes.length > MOST_UNSETTLED)
      throw new CapError('limit', 'too much is written and not taken yet: wait for the writes before');
    this.#unsettled += bytes.length;
    // A program that waits for its output to be read takes no input.
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
const inputClosed = (): CapError => new CapError('E_INPUT_CLOSED', 'the program takes no more input');

function worldOf(
  { program, is, args, env, cwd, limits, more = [], stdin }: Order,
  mounts: World['mounts'],
): World & Disposable {
  const image = openImage();
  return {
    mounts: [...image.mounts, ...more, ...mounts].sort((a, b) => (a.at < b.at ? -1 : 1)),
    links: image.links,
    files: image.files,
    program,
    ...(is === undefined ? {} : { is }),
    args,
    env: { PATH, HOME, TMPDIR: '/tmp', LANG: 'C.UTF-8', ...env },
    cwd,
    limits: worldLimits(limits),
    input: stdin !== undefined,
    linger: false,
    channel: false,
    [Symbol.dispose]: () => image.close(),
  };
}
