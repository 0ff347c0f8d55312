/**
 * `openGuests`: runs programs of models, each in its own process.
 *
 * Promise: each evaluation has a fresh process, which ends with the program. So nothing of one session is
 * ever in a process of another. Without a sandbox nothing runs, unless the caller asked for that by name.
 */
import { types } from 'node:util';
import { CapError, isReference, systemClock } from '@hob/vat';
import { type OptionNames, takeOptions } from '@hob/vat/forwarder';
import { bare, confined, type GuestProcess, type SpawnConfined } from './drivers/process.ts';
import { noReference } from './errors.ts';
import { defaultLimits, limitsOf, type ProgramLimits } from './limits.ts';
import { type IdleProcess, Pool } from './pool.ts';
import { RunningProgram } from './running-program.ts';
import type { EvaluateOptions, Evaluation, Guests, GuestsOptions } from './types.ts';

/** The most processes of one `Guests` that run at once. Others wait. */
const mostRunning = 64;
const mostQueued = 1024;
/** In characters. The source is sent in one frame. */
const longestSource = 256 * 1024;
/** Processor time for starting Node and reading the program, on a busy machine. */
const startCpuMs = 5_000;

const guestsOptions: OptionNames<GuestsOptions> = {
  spawnConfined: true,
  pool: true,
  limits: true,
  isolation: true,
  clock: true,
};
const evaluateOptions: OptionNames<EvaluateOptions> = { caps: true, limits: true, meter: true, signal: true };

/** Opens guests and starts a first process, so that a sandbox that does not work is reported now. */
export async function openGuests(given?: GuestsOptions): Promise<Guests> {
  const options = takeOptions(given, 'openGuests', guestsOptions);
  const { spawnConfined, isolation = 'sandbox', pool: most = 4, clock = systemClock() } = options;
  const limits = limitsOf(defaultLimits, options.limits, false);
  if (!Number.isSafeInteger(most) || most < 0 || most > mostRunning)
    throw new CapError('invalid', `pool is how many processes may wait: 0 to ${mostRunning}`);
  const pool = new Pool(startOf(isolation, spawnConfined, limits), most, clock);
  try {
    await pool.open();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return new OpenGuests(pool, limits).handle;
}

function startOf(
  isolation: unknown,
  spawnConfined: unknown,
  { memoryBytes, cpuMs }: ProgramLimits,
): () => Promise<GuestProcess> {
  const limits = { memoryBytes, cpuMs: Math.min(cpuMs + startCpuMs, 0x7fff_ffff) };
  if (isolation === 'ses-only') return () => bare(limits);
  if (isolation !== 'sandbox') throw new CapError('invalid', "isolation is 'sandbox' or 'ses-only'");
  if (typeof spawnConfined !== 'function')
    throw new CapError(
      'E_SANDBOX_UNAVAILABLE',
      "programs run in a sandbox: give spawnConfined of @hob/caps-shell, or ask for isolation 'ses-only' by name",
    );
  return () => confined(spawnConfined as SpawnConfined, limits);
}

class OpenGuests {
  readonly #pool: Pool;
  readonly #limits: ProgramLimits;
  readonly #programs = new Set<RunningProgram>();
  readonly #queue: (() => void)[] = [];
  #running = 0;
  #closed = false;

  constructor(pool: Pool, limits: ProgramLimits) {
    this.#pool = pool;
    this.#limits = limits;
  }

  get handle(): Guests {
    return Object.freeze({
      evaluate: (source: string, options: EvaluateOptions) => this.#evaluate(source, options),
      start: (source: string, options: EvaluateOptions) => this.#start(source, options).handle,
      close: () => this.#close(),
    });
  }

  async #evaluate(source: string, options: EvaluateOptions): Promise<Evaluation> {
    return await this.#start(source, options).result;
  }

  #start(source: string, options: EvaluateOptions): RunningProgram {
    const { caps, limits, signal, meter } = takeOptions(options, 'evaluate', evaluateOptions);
    if (this.#closed) throw new CapError('revoked', 'guests were closed: open them again');
    if (typeof source !== 'string') throw new CapError('invalid', 'a program is a text');
    if (source.length > longestSource)
      throw new CapError('limit', `a program has at most ${longestSource} characters: read long data through a cap`);
    if (this.#queue.length >= mostQueued) throw new CapError('limit', 'too many programs wait: wait for some to end');
    const work = { source, caps: checked(caps), limits: limitsOf(this.#limits, limits, true), meter };
    const running = new RunningProgram(work, (over) => this.#take(over));
    const abort = (): void => running.kill('revoked', 'the program was stopped from outside');
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    this.#programs.add(running);
    const over = (): void => {
      signal?.removeEventListener('abort', abort);
      this.#programs.delete(running);
    };
    running.result.then(over, over);
    return running;
  }

  /** A slot is free again when the process is gone, which is later than its answer. */
  async #take(over: () => boolean): Promise<IdleProcess> {
    this.#running += 1;
    const free = (): void => {
      this.#running -= 1;
      this.#queue.shift()?.();
    };
    try {
      if (this.#running > mostRunning) await new Promise<void>((go) => this.#queue.push(go));
      if (over()) throw new CapError('revoked', 'the program was stopped from outside');
      const ready = await this.#pool.take();
      void ready.started.gone.then(free);
      return ready;
    } catch (error) {
      free();
      throw error;
    }
  }

  async #close(): Promise<void> {
    this.#closed = true;
    for (const running of this.#programs) running.kill('revoked', 'guests were closed');
    const programs = [...this.#programs].map(({ result }) => result.catch(() => {}));
    for (const go of this.#queue.splice(0)) go();
    await this.#pool.close();
    await Promise.all(programs);
  }
}

/** Accepts references and promises. A promise is checked when it resolves. */
function checked(caps: unknown): Readonly<Record<string, object>> {
  if (typeof caps !== 'object' || caps === null)
    throw new CapError('invalid', 'caps are a record of references by petname');
  const made: Record<string, object> = {};
  for (const [name, cap] of Object.entries(caps)) {
    if (!isReference(cap) && !types.isPromise(cap)) throw noReference(name);
    made[name] = cap as object;
  }
  return Object.freeze(made);
}
