/**
 * One evaluation: takes an idle process, runs the program in it, and returns the result.
 *
 * Promise: the process runs this program and nothing after it. It is killed when the program has returned,
 * when a limit is reached, or when the evaluation is aborted, whatever the program does. Its output until
 * then is kept. Nothing that the program sends is presented as a message of this process.
 */
import { CapError, captp, E, isReference, type Meter } from '@hob/vat';
import type { Runner, RunOutcome } from './child/run-request.ts';
import type { ExitReason, GuestProcess } from './drivers/process.ts';
import { type Used, watchOver } from './drivers/watchdog.ts';
import { EvaluationError, noReference } from './errors.ts';
import type { ProgramLimits } from './limits.ts';
import type { IdleProcess } from './pool.ts';
import type { Evaluation, GuestJob } from './types.ts';

interface EvaluationRequest {
  readonly source: string;
  readonly caps: Readonly<Record<string, object>>;
  readonly limits: ProgramLimits;
  readonly meter: Meter | undefined;
}

/** Takes an idle process. `over` tells whether the program has ended meanwhile. */
type Take = (over: () => boolean) => Promise<IdleProcess>;

interface Why {
  readonly code: string;
  readonly message: string;
}

const nothing: Used = Object.freeze({ wallMs: 0, cpuMs: 0, peakBytes: 0 });
const MiB = 2 ** 20;
const longestError = 16_384;

export class RunningProgram {
  readonly #work: EvaluationRequest;
  #console = '';
  #printed = 0;
  #readTo = 0;
  #listeners: (() => void)[] = [];
  #used = nothing;
  #over = false;
  #why: Why | undefined;
  readonly #ended = Promise.withResolvers<never>();
  readonly result: Promise<Evaluation>;

  #gone: Promise<unknown> = Promise.resolve();

  constructor(work: EvaluationRequest, take: Take) {
    this.#work = work;
    this.#ended.promise.catch(() => {});
    this.result = this.#run(take);
    this.result.catch(() => {});
  }

  /** Kills the program. Only the first reason counts. */
  kill(code: string, message: string): void {
    if (this.#over || this.#why !== undefined) return;
    this.#why = { code, message };
    this.#ended.reject(new CapError(code, message));
  }

  /** Returns the output since the last call, or undefined at the end. */
  async next(): Promise<string | undefined> {
    while (this.#readTo >= this.#console.length) {
      if (this.#over) return undefined;
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
    const part = this.#console.slice(this.#readTo, this.#readTo + MiB / 4);
    this.#readTo += part.length;
    return part;
  }

  get handle(): GuestJob {
    return Object.freeze({
      console: Object.freeze({ next: () => this.next(), return: async () => {} }),
      result: () => this.result,
      abort: async () => {
        this.kill('revoked', 'the program was aborted');
        await this.result.catch(() => {});
        await this.#gone;
      },
    });
  }

  async #run(take: Take): Promise<Evaluation> {
    try {
      const caps = await Promise.race([resolvedCaps(this.#work.caps), this.#ended.promise]);
      return await this.#inside(await this.#taken(take), caps);
    } catch (error) {
      throw this.#failure(error);
    } finally {
      this.#over = true;
      this.#wake();
    }
  }

  /** A process that arrives after the program has ended is killed, and not used for another one. */
  async #taken(take: Take): Promise<IdleProcess> {
    const taking = take(() => this.#why !== undefined);
    try {
      return await Promise.race([taking, this.#ended.promise]);
    } catch (error) {
      taking.then(
        (ready) => ready.started.kill(),
        () => {},
      );
      throw error;
    }
  }

  /** Returns a value at once. After a failure or an abort it first waits until the process is gone. */
  async #inside(
    { started, processes, duplex, onOutput, onFirstFrame }: IdleProcess,
    caps: EvaluationRequest['caps'],
  ): Promise<Evaluation> {
    const { source, limits, meter } = this.#work;
    this.#gone = started.gone;
    const connection = captp<Runner>(duplex, meter === undefined ? {} : { meter });
    const watched = watchOver(processes, (used) => this.#look(used));
    // The first look comes after the order is written. Otherwise the start of the program would wait for it.
    onFirstFrame(watched.begin);
    let answered: Evaluation | undefined;
    try {
      onOutput((text) => this.#print(text));
      const order = { source, caps, outputBytes: limits.outputBytes };
      const died = started.gone.then((how) => {
        throw errorForExit(how);
      });
      died.catch(() => {});
      const answer = E(connection.bootstrap).run(order) as Promise<unknown>;
      // The end of the process also breaks the connection. Either may be reported first.
      answer.catch(() => {});
      const outcome = await Promise.race([
        this.#ended.promise,
        died,
        answer.catch((error) => throwFailure(error, started)),
      ]);
      this.#used = watched.used();
      answered = this.#outcome(outcome);
      return answered;
    } finally {
      if (answered === undefined) this.#used = watched.used();
      watched.stop();
      started.kill();
      connection.close();
      if (answered === undefined) await started.gone;
    }
  }

  /** Checks the reply of the guest, which may be anything. */
  #outcome(outcome: unknown): Evaluation {
    const { failed, code, value } = (outcome ?? {}) as Partial<
      Record<keyof RunOutcome | 'value' | 'failed' | 'code', unknown>
    >;
    if (typeof failed === 'string') throw new CapError(codeOf(code), programText(failed));
    return Object.freeze({ value, console: this.#console, usage: this.#used });
  }

  #failure(error: unknown): EvaluationError {
    const { code, message } = this.#why ?? (error as CapError);
    const known = error instanceof CapError || this.#why !== undefined;
    return new EvaluationError(known ? code : 'unavailable', known ? message : 'the program could not be run', {
      console: this.#console,
      usage: this.#used,
    });
  }

  #look({ wallMs, cpuMs, peakBytes }: Used): void {
    const { limits } = this.#work;
    if (peakBytes > limits.memoryBytes)
      this.kill('limit', over('memory', `${Math.round(limits.memoryBytes / MiB)} MiB`, 'work in smaller parts'));
    else if (cpuMs > limits.cpuMs)
      this.kill('limit', over('processor time', `${limits.cpuMs} ms`, 'is there a loop that never ends?'));
    else if (wallMs > limits.wallMs)
      this.kill('limit', over('time', `${limits.wallMs} ms`, 'does it wait for something that never comes?'));
  }

  #print(text: string): void {
    if (this.#over || this.#printed > this.#work.limits.outputBytes) return;
    const bytes = Buffer.from(text);
    const room = this.#work.limits.outputBytes - this.#printed;
    this.#printed += bytes.length;
    this.#console += bytes.length <= room ? text : `${bytes.toString('utf8', 0, Math.max(room, 0))}…`;
    this.#wake();
    if (bytes.length > room)
      this.kill(
        'limit',
        over('output', `${this.#work.limits.outputBytes} bytes`, 'print less, or return it as the value'),
      );
  }

  #wake(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

/**
 * Throws the error for a call that rejected. If the connection broke, it waits for the process to end and
 * says how.
 */
async function throwFailure(error: unknown, started: GuestProcess): Promise<never> {
  const { code, message } = error as CapError;
  if (code !== 'disconnected')
    throw new CapError(
      'E_PROGRAM',
      `the value cannot leave the program: return plain data, bytes or caps (${programText(message)})`,
    );
  started.kill();
  throw errorForExit(await started.gone);
}

/** Waits for the caps that were promised. */
async function resolvedCaps(caps: EvaluationRequest['caps']): Promise<EvaluationRequest['caps']> {
  const found = await Promise.all(
    Object.entries(caps).map(async ([name, promised]) => {
      const cap: unknown = await promised;
      if (!isReference(cap)) throw noReference(name);
      return [name, cap as object] as const;
    }),
  );
  return Object.freeze(Object.fromEntries(found));
}

function errorForExit(how: ExitReason): CapError {
  if (how === 'cpu-limit') return new CapError('limit', over('memory or time', 'what its process had in all'));
  if (how === 'killed')
    return new CapError('E_PROGRAM', 'the process of the program sent a malformed answer and was stopped');
  return new CapError('limit', 'the process of the program ended: it ran out of memory, or ended itself');
}

const over = (what: string, limit: string, remedy = 'use less'): string =>
  `the program was stopped: its ${what} is limited to ${limit} (${remedy})`;

/** Text that comes from the program, cut to a limit. */
const programText = (text: unknown): string =>
  typeof text === 'string' ? text.slice(0, longestError) : 'it gives no reason';

/**
 * `invalid` is the only code that a program may set. All others become `E_PROGRAM`, so it cannot imitate this
 * process.
 */
const codeOf = (code: unknown): string => (code === 'invalid' ? code : 'E_PROGRAM');
