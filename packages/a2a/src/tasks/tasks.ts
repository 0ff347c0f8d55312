/**
 * The tasks of other agents at work.
 *
 * Promise: each task has a session of its own, which ends before the peer reads that the task is over. A
 * message that is sent again begins nothing. A task that a host did not live to end is failed, and is not
 * begun again. A peer finds its own tasks and no others.
 */
import { CapError, E, type Far } from '@hob/vat';
import type { TaskRows } from './rows.ts';
import { type Asked, isEnd, type Task, type TaskOutput, type TaskRow } from './task.ts';

/** A session that works on one task. */
export interface TaskWork {
  /** Its id. */
  readonly session: string;
  /**
   * Does what was asked. `end` is aborted when the task is cancelled. Errors: `CapError`, whose texts the
   * peer reads.
   */
  run(asked: Asked, end: AbortSignal): Promise<TaskOutput>;
  /** Ends the session. */
  end(): Promise<void>;
}

/** The parts that tasks need. */
export interface TasksParts {
  readonly rows: Far<TaskRows>;
  /** Opens a session for a task of this peer. `waits` is told the ids of the requests that wait for a person. */
  readonly open: (
    task: Pick<TaskRow, 'id' | 'peer'>,
    waits: (requests: readonly string[]) => void,
  ) => Promise<TaskWork>;
  /** Ends the session of a task that an earlier process left. */
  readonly endLeft: (session: string) => Promise<void>;
  /** In ms since 1970. */
  readonly now: () => number;
  /** A new id that nobody guesses. */
  readonly newId: () => string;
  readonly log: (line: string) => void;
}

/** A message that may begin a task. */
export interface Sent {
  readonly message: string;
  readonly context?: string;
  readonly asked: Asked;
}

/** A peer may have so many tasks under way. */
const MOST_LIVE = 8;
const LARGEST_OUTPUT = 256 << 10;

/** A task that is under way. */
export class LiveTask implements Task {
  readonly #put: (row: TaskRow, output?: TaskOutput) => Promise<void>;
  readonly #now: () => number;
  readonly cancel: AbortController = new AbortController();
  row: TaskRow;
  output: TaskOutput | undefined;
  /** The newest row; `row` is the one that is stored. */
  #next: TaskRow;
  #storing: Promise<void> = Promise.resolve();
  #changed: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(row: TaskRow, put: (row: TaskRow, output?: TaskOutput) => Promise<void>, now: () => number) {
    this.row = row;
    this.#next = row;
    this.#put = put;
    this.#now = now;
  }

  /** Resolves at the next change. */
  get changed(): Promise<void> {
    return this.#changed.promise;
  }

  /** Stores a change, and then tells it. A task that is over does not change. */
  async set(change: Partial<TaskRow>, output?: TaskOutput): Promise<void> {
    if (isEnd(this.#next.state)) return;
    const row = { ...this.#next, ...change, at: this.#now() };
    this.#next = row;
    this.#storing = this.#storing
      .then(() => this.#put(row, output))
      .finally(() => {
        this.row = row;
        this.output = output;
        const { resolve } = this.#changed;
        this.#changed = Promise.withResolvers();
        resolve();
      });
    await this.#storing;
  }
}

/** All tasks of a host. */
export class Tasks {
  readonly #parts: TasksParts;
  readonly #live = new Map<string, LiveTask>();
  /** How many tasks of each peer are under way, or begin. */
  readonly #counts = new Map<string, number>();

  private constructor(parts: TasksParts) {
    this.#parts = parts;
  }

  /** Ends what an earlier process left. */
  static async open(parts: TasksParts): Promise<Tasks> {
    const { rows, endLeft, now, log } = parts;
    for (const row of (await E(rows).open()) as readonly TaskRow[]) {
      log(`task ${row.id} of ${row.peer} was cut by the end of its host, and is not begun again`);
      if (row.session !== undefined) await endLeft(row.session);
      const { requests: _, ...rest } = row;
      await E(rows).put({ ...rest, state: 'failed', at: now(), said: 'the host ended during the task: send it again with a new message id' }); // biome-ignore format: one line
    }
    return new Tasks(parts);
  }

  /** Begins the task of a message, or returns the one that it has begun before. Errors: `limit`. */
  async send(peer: string, { message, context, asked }: Sent): Promise<Task> {
    const { rows, newId, now } = this.#parts;
    const release = this.#take(peer);
    let live: LiveTask | undefined;
    try {
      const row: TaskRow = { id: newId(), peer, message, context: context ?? newId(), state: 'working', at: now() };
      const before = (await E(rows).begin(row)) as TaskRow | undefined;
      if (before !== undefined) return (await this.find(peer, before.id)) ?? { row: before };
      live = new LiveTask(row, async (next, output) => void (await E(rows).put(next, output)), now);
      this.#live.set(row.id, live);
      void this.#work(live, asked).finally(release);
      return live;
    } finally {
      if (live === undefined) release();
    }
  }

  /** A task of this peer. */
  async find(peer: string, id: string): Promise<Task | undefined> {
    const task = this.#live.get(id) ?? ((await E(this.#parts.rows).find(id)) as Task | undefined);
    return task?.row.peer === peer ? task : undefined;
  }

  /** The tasks of this peer, newest first. */
  async of(peer: string): Promise<readonly TaskRow[]> {
    return ((await E(this.#parts.rows).of(peer)) as readonly TaskRow[]).toReversed();
  }

  /** Ends a task of this peer. Returns it when it has ended; undefined if it is over, or there is none. */
  async cancel(peer: string, id: string): Promise<Task | undefined> {
    const live = this.#live.get(id);
    if (live?.row.peer !== peer || isEnd(live.row.state)) return undefined;
    live.cancel.abort();
    while (!isEnd(live.row.state)) await live.changed;
    return live;
  }

  #take(peer: string): () => void {
    const before = this.#counts.get(peer) ?? 0;
    if (before >= MOST_LIVE)
      throw new CapError('limit', `${MOST_LIVE} tasks of yours are under way: wait for one, or cancel it`);
    this.#counts.set(peer, before + 1);
    return () => {
      const left = (this.#counts.get(peer) ?? 1) - 1;
      if (left === 0) this.#counts.delete(peer);
      else this.#counts.set(peer, left);
    };
  }

  /** Never rejects. */
  async #work(live: LiveTask, asked: Asked): Promise<void> {
    const { open, log } = this.#parts;
    const { id, peer } = live.row;
    const { signal } = live.cancel;
    const fault = (error: unknown): void => log(`task ${id} of ${peer}: ${(error as Error).message}`);
    const waits = (requests: readonly string[]): void =>
      void live.set({ state: requests.length === 0 ? 'working' : 'auth-required', requests }).catch(fault);
    let end: Partial<TaskRow> & Pick<TaskRow, 'state'>;
    let output: TaskOutput | undefined;
    let work: TaskWork | undefined;
    try {
      work = await open(live.row, waits);
      await live.set({ session: work.session });
      signal.throwIfAborted();
      output = bounded(await work.run(asked, signal));
      end = { state: 'completed' };
    } catch (error) {
      end = signal.aborted ? { state: 'canceled', said: 'it was cancelled' } : failureOf(error);
      if (!(error instanceof CapError) && !signal.aborted) fault(error);
    }
    await work?.end().catch(fault);
    await live.set({ ...end, requests: [] }, output).catch(fault);
    this.#live.delete(id);
  }
}

/** A peer reads the codes and texts of Hob. Anything else is a fault of ours, and stays here. */
function failureOf(error: unknown): { readonly state: 'failed' | 'rejected'; readonly said: string } {
  if (!(error instanceof CapError)) return { state: 'failed', said: 'the host could not do it: its log says why' };
  // A person, or the time that a request waits for one, has said no.
  const state = error.code === 'denied' ? 'rejected' : 'failed';
  return { state, said: `${error.code}: ${error.message}` };
}

function bounded(output: TaskOutput): TaskOutput {
  if (JSON.stringify(output).length <= LARGEST_OUTPUT) return output;
  throw new CapError('limit', `a result may have ${LARGEST_OUTPUT} characters: ask for less of it`);
}
