/**
 * The jobs of a cap, for as long as it is open.
 *
 * Promise: after `close` nothing new starts, here and in what was attenuated from here, and it answers when the last process is gone. Who
 * holds the cap by a grant has jobs and names of his own, finds nobody else's, and closes for himself: what somebody else was granted of
 * the same cap goes on.
 */
import { CapError } from '@hob/vat';
import type { Caller } from './caller.ts';
import { type Order, Running } from './job.ts';

/** Of ended jobs that have a name so many are kept, for whoever comes back to ask. */
const KEPT_NAMES = 16;
const MOST_NAMES = 64;

class Holder {
  readonly #above: Holder | undefined;
  readonly #closing = new AbortController();
  readonly #jobs = new Set<Promise<unknown>>();
  readonly names: Map<string, Running | undefined> = new Map();
  /** Something was made of the cap, and ends with this. */
  leads: boolean = false;

  constructor(above: Holder | undefined) {
    this.#above = above;
  }

  /** With those that it ends with. */
  *line(): Generator<Holder> {
    yield this;
    if (this.#above !== undefined) yield* this.#above.line();
  }

  get closes(): readonly AbortSignal[] {
    return [...this.line()].map((one) => one.#closing.signal);
  }

  /** Until `over`, whoever closes this or one above waits. */
  async during(over: Promise<unknown>): Promise<void> {
    for (const one of this.line()) one.#jobs.add(over);
    await over.catch(() => {});
    for (const one of this.line()) one.#jobs.delete(over);
  }

  get idle(): boolean {
    return this.#jobs.size === 0 && this.names.size === 0 && !this.leads && !this.#closing.signal.aborted;
  }

  async close(): Promise<void> {
    this.#closing.abort(closed());
    await Promise.allSettled([...this.#jobs]);
    this.names.clear();
  }
}

const closed = (): CapError => new CapError('revoked', 'this cap was closed: ask for a new one');

export class Jobs {
  readonly #holders = new Map<string, Holder>();
  readonly #above: Holder | undefined;
  #closed = false;

  constructor(above?: Holder) {
    this.#above = above;
  }

  async start(order: Order, caller: Caller): Promise<Running> {
    const holder = this.#holder(caller.holder);
    // Jobs that the host starts itself are counted by cap, all others by who pays.
    const starting = Running.start(order, caller, caller.payer ?? this, holder.closes);
    const over = starting.then((running) => running.over());
    void holder.during(over).then(() => {
      if (holder.idle) this.#holders.delete(caller.holder);
    });
    return await starting;
  }

  /** Errors: `revoked`, where it is closed. */
  check(of: string): void {
    this.#holder(of);
  }

  /** Takes a name; what is answered says whose it is, or that it is nobody's after all. */
  reserve(of: string, name: string): (running: Running | undefined) => void {
    const { names } = this.#holder(of);
    if (names.has(name) && names.get(name)?.isOver !== true)
      throw new CapError('invalid', `a job called "${name}" runs already: job(name) finds it`);
    const live = [...names.values()].filter((job) => job?.isOver !== true).length;
    if (live >= MOST_NAMES) throw new CapError('E_TOO_MANY_JOBS', `at most ${MOST_NAMES} jobs may have names`);
    const over = [...names].filter(([, job]) => job?.isOver === true);
    for (const [old] of over.slice(0, Math.max(0, over.length - KEPT_NAMES + 1))) names.delete(old);
    // Last again, for the oldest go first.
    names.delete(name);
    names.set(name, undefined);
    return (running) => {
      if (running === undefined) names.delete(name);
      else names.set(name, running);
    };
  }

  named(of: string, name: string): Running {
    const found = this.#holder(of).names.get(name);
    if (found === undefined) throw new CapError('no-such-object', `there is no job called "${name}"`);
    return found;
  }

  /** For a cap that is made of this one. */
  below(of: string): Jobs {
    const holder = this.#holder(of);
    holder.leads = true;
    return new Jobs(holder);
  }

  /** The host closes for everybody. */
  async close(of: string): Promise<void> {
    if (of !== '') return await this.#at(of).close();
    this.#closed = true;
    await Promise.all([...this.#holders.values()].map((holder) => holder.close()));
  }

  #at(of: string): Holder {
    const key = of;
    let holder = this.#holders.get(key);
    if (holder === undefined) this.#holders.set(key, (holder = new Holder(this.#above)));
    return holder;
  }

  #holder(of: string): Holder {
    if (this.#closed) throw closed();
    const holder = this.#at(of);
    if (holder.closes.some(({ aborted }) => aborted)) throw closed();
    return holder;
  }
}
