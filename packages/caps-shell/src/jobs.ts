/**
 * The jobs of a cap while it is open.
 *
 * After `close` no job starts in this cap or in one attenuated from it, and `close` returns when the last
 * process is gone. Each grant of the cap has its own jobs and names. Its holder finds nobody else's, and
 * closes only its own: jobs of other grants go on.
 */
import { CapError } from '@hob/vat';
import type { Caller } from './caller.ts';
import { type JobRequest, RunningJob } from './job.ts';

/** So many ended jobs with names are kept, for a holder that comes back to ask. */
const KEPT_NAMES = 16;
const MOST_NAMES = 64;

class HolderJobs {
  readonly #above: HolderJobs | undefined;
  readonly #closing = new AbortController();
  readonly #jobs = new Set<Promise<unknown>>();
  readonly names: Map<string, RunningJob | undefined> = new Map();
  /** A cap was attenuated from it, and ends with it. */
  hasAttenuated: boolean = false;

  constructor(above: HolderJobs | undefined) {
    this.#above = above;
  }

  /** This one, and those above, with which it ends. */
  *withThoseAbove(): Generator<HolderJobs> {
    yield this;
    if (this.#above !== undefined) yield* this.#above.withThoseAbove();
  }

  get closes(): readonly AbortSignal[] {
    return [...this.withThoseAbove()].map((one) => one.#closing.signal);
  }

  /** Until `over` settles, whoever closes this or one above waits. */
  async during(over: Promise<unknown>): Promise<void> {
    for (const one of this.withThoseAbove()) one.#jobs.add(over);
    await over.catch(() => {});
    for (const one of this.withThoseAbove()) one.#jobs.delete(over);
  }

  get idle(): boolean {
    return this.#jobs.size === 0 && this.names.size === 0 && !this.hasAttenuated && !this.#closing.signal.aborted;
  }

  async close(): Promise<void> {
    this.#closing.abort(closed());
    await Promise.allSettled([...this.#jobs]);
    this.names.clear();
  }
}

const closed = (): CapError => new CapError('revoked', 'this cap was closed: ask for a new one');

export class Jobs {
  readonly #holders = new Map<string, HolderJobs>();
  readonly #above: HolderJobs | undefined;
  #closed = false;

  constructor(above?: HolderJobs) {
    this.#above = above;
  }

  async start(request: JobRequest, caller: Caller): Promise<RunningJob> {
    const holder = this.#holder(caller.holder);
    // Jobs that the host itself starts are counted for the cap, all others for their payer.
    const starting = RunningJob.start(request, caller, caller.payer ?? this, holder.closes);
    const over = starting.then((running) => running.over());
    void holder.during(over).then(() => {
      if (holder.idle) this.#holders.delete(caller.holder);
    });
    return await starting;
  }

  /** Errors: `revoked`, if it is closed. */
  check(of: string): void {
    this.#holder(of);
  }

  /** Takes a name. Call the returned function with the job, or with undefined if none started. */
  reserve(of: string, name: string): (running: RunningJob | undefined) => void {
    const { names } = this.#holder(of);
    if (names.has(name) && names.get(name)?.isOver !== true)
      throw new CapError('invalid', `a job called "${name}" runs already: job(name) finds it`);
    const live = [...names.values()].filter((job) => job?.isOver !== true).length;
    if (live >= MOST_NAMES) throw new CapError('E_TOO_MANY_JOBS', `at most ${MOST_NAMES} jobs may have names`);
    const over = [...names].filter(([, job]) => job?.isOver === true);
    for (const [old] of over.slice(0, Math.max(0, over.length - KEPT_NAMES + 1))) names.delete(old);
    // It becomes the last one: the oldest are dropped first.
    names.delete(name);
    names.set(name, undefined);
    return (running) => {
      if (running === undefined) names.delete(name);
      else names.set(name, running);
    };
  }

  named(of: string, name: string): RunningJob {
    const found = this.#holder(of).names.get(name);
    if (found === undefined) throw new CapError('no-such-object', `there is no job called "${name}"`);
    return found;
  }

  /** The jobs of a cap that is attenuated from this one. */
  below(of: string): Jobs {
    const holder = this.#holder(of);
    holder.hasAttenuated = true;
    return new Jobs(holder);
  }

  /** Closes for one holder. The host (`''`) closes for everybody. */
  async close(of: string): Promise<void> {
    if (of !== '') return await this.#at(of).close();
    this.#closed = true;
    await Promise.all([...this.#holders.values()].map((holder) => holder.close()));
  }

  #at(of: string): HolderJobs {
    const key = of;
    let holder = this.#holders.get(key);
    if (holder === undefined) this.#holders.set(key, (holder = new HolderJobs(this.#above)));
    return holder;
  }

  #holder(of: string): HolderJobs {
    if (this.#closed) throw closed();
    const holder = this.#at(of);
    if (holder.closes.some(({ aborted }) => aborted)) throw closed();
    return holder;
  }
}
