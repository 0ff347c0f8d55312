/**
 * `openGuests`: runs programs of models, each in its own process.
 *
 * Promise: each evaluation has a fresh process, which ends with the program. So nothing of one session is
 * ever in a process of another. Without a sandbox nothing runs, unless the caller asked for that by name.
 */
import { types } from 'node:util';
import { CapError, isReference, systemClock } from '@hob/vat';
import { bare, confined, type GuestProcess, type SpawnConfined } from './drivers/process.ts';
import { noReference } from './errors.ts';
import { Job } from './job.ts';
import { defaultLimits, type FullLimits, limitsOf } from './limits.ts';
import { Pool, type Ready } from './pool.ts';
import type { EvaluateOptions, Evaluation, Guests, GuestsOptions } from './types.ts';

/** The most processes of one `Guests` that run at once. Others wait. */
const mostRunning = 64;
const mostQueued = 1024;
/** In characters. The source is sent in one frame. */
const longestSource = 256 * 1024;
/** Processor time for starting Node and reading the program, on a busy machine. */
const startCpuMs = 5_000;

/** Opens guests and starts a first process, so that a sandbox that does not work is reported now. */
export async function openGuests(options: GuestsOptions = {}): Promise<Guests> {
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
  return new OpenGuests(pool, limits).face;
}

function startOf(
  isolation: unknown,
  spawnConfined: unknown,
  { memoryBytes, cpuMs }: FullLimits,
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
  readonly #limits: FullLimits;
  readonly #jobs = new Set<Job>();
  readonly #queue: (() => void)[] = [];
  #running = 0;
  #closed = false;

  constructor(pool: Pool, limits: FullLimits) {
    this.#pool = pool;
    this.#limits = limits;
  }

  get face(): Guests {
    return Object.freeze({
      evaluate: (source: string, options: EvaluateOptions) => this.#evaluate(source, options),
      start: (source: string, options: EvaluateOptions) => this.#start(source, options).face,
      close: () => this.#close(),
    });
  }

  async #evaluate(source: string, options: EvaluateOptions): Promise<Evaluation> {
    return await this.#start(source, options).result;
  }

  #start(source: string, { caps, limits, signal, meter }: EvaluateOptions): Job {
    if (this.#closed) throw new CapError('revoked', 'guests were closed: open them again');
    if (typeof source !== 'string') throw new CapError('invalid', 'a program is a text');
    if (source.length > longestSource)
      throw new CapError('limit', `a program has at most ${longestSource} letters: read what is long through a cap`);
    if (this.#queue.length >= mostQueued) throw new CapError('limit', 'too many programs wait: wait for some to end');
    const work = { source, caps: checked(caps), limits: limitsOf(this.#limits, limits, true), meter };
    const job = new Job(work, (over) => this.#take(over));
    const abort = (): void => job.end('revoked', 'the program was stopped from outside');
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    this.#jobs.add(job);
    const over = (): void => {
      signal?.removeEventListener('abort', abort);
      this.#jobs.delete(job);
    };
    job.result.then(over, over);
    return job;
  }

  /** A slot is free again when the process is gone, which is later than its answer. */
  async #take(over: () => boolean): Promise<Ready> {
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
    for (const job of this.#jobs) job.end('revoked', 'guests were closed');
    const jobs = [...this.#jobs].map(({ result }) => result.catch(() => {}));
    for (const go of this.#queue.splice(0)) go();
    await this.#pool.close();
    await Promise.all(jobs);
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
