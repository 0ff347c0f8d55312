/**
 * One program on its way: from a process that waited to what came of it.
 *
 * Promise: its process runs this program and nothing after it, and is killed when it has answered, when a limit is reached, when it
 * is aborted: whatever it does. What it printed until then is kept. Nothing that it sent is taken for a word of this process.
 */
import { CapError, captp, E, isReference, type Meter } from '@hob/vat';
import type { Outcome, Runner } from './child/order.ts';
import type { Gone, GuestProcess } from './drivers/process.ts';
import { type Used, watchOver } from './drivers/watchdog.ts';
import { EvaluationError, noReference } from './errors.ts';
import type { FullLimits } from './limits.ts';
import type { Ready } from './pool.ts';
import type { Evaluation, GuestJob } from './types.ts';

export interface Work {
  readonly source: string;
  readonly caps: Readonly<Record<string, object>>;
  readonly limits: FullLimits;
  readonly meter: Meter | undefined;
}

/** `over`: whether it ended meanwhile. */
type Take = (over: () => boolean) => Promise<Ready>;

interface Why {
  readonly code: string;
  readonly message: string;
}

const nothing: Used = Object.freeze({ wallMs: 0, cpuMs: 0, peakBytes: 0 });
const MiB = 2 ** 20;
const longestError = 16_384;

export class Job {
  readonly #work: Work;
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

  constructor(work: Work, take: Take) {
    this.#work = work;
    this.#ended.promise.catch(() => {});
    this.result = this.#run(take);
    this.result.catch(() => {});
  }

  /** The first reason counts. */
  end(code: string, message: string): void {
    if (this.#over || this.#why !== undefined) return;
    this.#why = { code, message };
    this.#ended.reject(new CapError(code, message));
  }

  /** What was printed since it was last asked; undefined when there is no more. */
  async next(): Promise<string | undefined> {
    while (this.#readTo >= this.#console.length) {
      if (this.#over) return undefined;
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
    const part = this.#console.slice(this.#readTo, this.#readTo + MiB / 4);
    this.#readTo += part.length;
    return part;
  }

  get face(): GuestJob {
    return Object.freeze({
      console: Object.freeze({ next: () => this.next(), return: async () => {} }),
      result: () => this.result,
      abort: async () => {
        this.end('revoked', 'the program was aborted');
        await this.result.catch(() => {});
        await this.#gone;
      },
    });
  }

  async #run(take: Take): Promise<Evaluation> {
    try {
      const caps = await Promise.race([here(this.#work.caps), this.#ended.promise]);
      return await this.#inside(await this.#taken(take), caps);
    } catch (error) {
      throw this.#failure(error);
    } finally {
      this.#over = true;
      this.#wake();
    }
  }

  /** One that comes after the end is not used for anything else. */
  async #taken(take: Take): Promise<Ready> {
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

  /** A value is answered at once; what has failed or was ended, when its process is gone. */
  async #inside({ started, duplex, onSaid }: Ready, caps: Work['caps']): Promise<Evaluation> {
    const { source, limits, meter } = this.#work;
    this.#gone = started.gone;
    const connection = captp<Runner>(duplex, meter === undefined ? {} : { meter });
    const watched = watchOver(started.pid, (used) => this.#look(used));
    let answered: Evaluation | undefined;
    try {
      onSaid((said) => this.#print(said));
      const order = { source, caps, outputBytes: limits.outputBytes };
      const died = started.gone.then((how) => {
        throw diedOf(how);
      });
      died.catch(() => {});
      const answer = E(connection.bootstrap).run(order) as Promise<unknown>;
      // Its end breaks the connection, too; which of both is told first says nothing.
      answer.catch(() => {});
      const outcome = await Promise.race([this.#ended.promise, died, answer.catch((error) => broken(error, started))]);
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

  /** What a guest answers may be anything. */
  #outcome(outcome: unknown): Evaluation {
    const { failed, code, value } = (outcome ?? {}) as Partial<
      Record<keyof Outcome | 'value' | 'failed' | 'code', unknown>
    >;
    if (typeof failed === 'string') throw new CapError(codeOf(code), said(failed));
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
      this.end('limit', over('memory', `${Math.round(limits.memoryBytes / MiB)} MiB`, 'work in smaller parts'));
    else if (cpuMs > limits.cpuMs)
      this.end('limit', over('processor time', `${limits.cpuMs} ms`, 'is there a loop that never ends?'));
    else if (wallMs > limits.wallMs)
      this.end('limit', over('time', `${limits.wallMs} ms`, 'does it wait for something that never comes?'));
  }

  #print(text: string): void {
    if (this.#over || this.#printed > this.#work.limits.outputBytes) return;
    const bytes = Buffer.from(text);
    const room = this.#work.limits.outputBytes - this.#printed;
    this.#printed += bytes.length;
    this.#console += bytes.length <= room ? text : `${bytes.toString('utf8', 0, Math.max(room, 0))}…`;
    this.#wake();
    if (bytes.length > room)
      this.end(
        'limit',
        over('output', `${this.#work.limits.outputBytes} bytes`, 'print less, or return it as the value'),
      );
  }

  #wake(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

/** Its end breaks the connection, too; which of both is told first says nothing. */
async function broken(error: unknown, started: GuestProcess): Promise<never> {
  const { code, message } = error as CapError;
  if (code !== 'disconnected')
    throw new CapError(
      'E_PROGRAM',
      `the value cannot leave the program: return plain data, bytes or caps (${said(message)})`,
    );
  started.kill();
  throw diedOf(await started.gone);
}

/** Those that were promised, too. */
async function here(caps: Work['caps']): Promise<Work['caps']> {
  const found = await Promise.all(
    Object.entries(caps).map(async ([name, promised]) => {
      const cap: unknown = await promised;
      if (!isReference(cap)) throw noReference(name);
      return [name, cap as object] as const;
    }),
  );
  return Object.freeze(Object.fromEntries(found));
}

function diedOf(how: Gone): CapError {
  if (how === 'out') return new CapError('limit', over('memory or time', 'what its process had in all'));
  if (how === 'killed') return new CapError('E_PROGRAM', 'the program broke its connection: it said what is no answer');
  return new CapError('limit', 'the process of the program ended: it needs more memory than there is, or ended itself');
}

const over = (what: string, limit: string, remedy = 'use less'): string =>
  `the program was stopped: its ${what} is limited to ${limit} (${remedy})`;

/** Text of the program's. */
const said = (text: unknown): string => (typeof text === 'string' ? text.slice(0, longestError) : 'it gives no reason');

/** A program may say how a cap refused it; it is no code of this process's. */
const codeOf = (code: unknown): string => (code === 'invalid' ? code : 'E_PROGRAM');
