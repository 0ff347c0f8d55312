/**
 * The store's edge: turns run ahead of the disk, what leaves does not.
 *
 * Promise: what goes out (driver calls, frames, promises of the host program) waits until every turn that it could have observed
 * is durable, and goes out in turn order; also what a read-only turn says after an uncommitted one. On a clean store nothing
 * waits. If a commit fails, what waited for it never goes out, and is told so.
 *
 * Group commit: turns that end while a commit is under way form the next one. A batch closes when no message is waiting, or at
 * 256 turns, or 5 ms after its first turn; there are no other timers.
 * After output commit in Strom and Yemini, Optimistic Recovery in Distributed Systems (1985).
 */
import type { Barrier } from '../barrier.ts';
import { mutant } from '../drivers/mutant.ts';
import { CapError } from '../errors.ts';
import type { Line } from '../turn.ts';

const mostTurns = 256;
const longestMs = 5;

const readsAhead = mutant('durable-read-only');

/** What one commit writes: cells by key, `undefined` deletes. */
export interface Writes {
  readonly cells: ReadonlyMap<string, string | undefined>;
  readonly lines: readonly Line[];
}

interface Output {
  release(): void;
  lost(why: CapError): void;
}

/** The turns of one commit, and what waits for it. */
export class Batch implements Writes, Barrier {
  readonly owner: object;
  readonly number: number;
  readonly cells: Map<string, string | undefined> = new Map();
  readonly lines: Line[] = [];
  turns: number = 0;
  #outputs: Output[] = [];
  #state: 'waiting' | 'durable' | 'lost' = 'waiting';
  #why: CapError | undefined;

  constructor(owner: object, number: number) {
    this.owner = owner;
    this.number = number;
  }

  get durable(): boolean {
    return this.#state === 'durable';
  }

  /** Runs `release` once the batch is durable, in the order of asking; or `lost`. */
  then(release: () => void, lost: (why: CapError) => void): void {
    if (this.#state === 'durable') release();
    else if (this.#state === 'lost') lost(this.#why as CapError);
    else this.#outputs.push({ release, lost });
  }

  done(why: CapError | undefined): void {
    this.#state = why === undefined ? 'durable' : 'lost';
    this.#why = why;
    const outputs = this.#outputs;
    this.#outputs = [];
    // A promise that was settled in one of its turns holds it for as long as it lives: not what was written.
    this.cells.clear();
    this.lines.length = 0;
    for (const output of outputs) {
      try {
        if (why === undefined) output.release();
        else output.lost(why);
      } catch (error) {
        // A bug of ours, in one of them: the others leave all the same.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

/** Makes a batch durable; calls back once, with an error where it could not. At once, or later. */
export type Commit = (writes: Writes, done: (error: unknown) => void) => void;

export class Edge {
  readonly #commit: Commit;
  readonly #tick: () => number;
  /** A commit failed: nothing after it can be trusted to last. */
  readonly #failed: (why: CapError) => void;
  #numbers = 0;
  #open: Batch | undefined;
  #openedAt = 0;
  #flying: Batch | undefined;
  #why: CapError | undefined;

  constructor(commit: Commit, tick: () => number, failed: (why: CapError) => void) {
    this.#commit = commit;
    this.#tick = tick;
    this.#failed = failed;
  }

  /** A turn has ended that took the message in the cell `taken`. Answers what its outputs have to wait for; undefined on a clean store. */
  turn(
    cells: ReadonlyMap<string, string | undefined> | undefined,
    lines: readonly Line[],
    taken?: string,
  ): Batch | undefined {
    const writes = (cells !== undefined && cells.size > 0) || lines.length > 0 || taken !== undefined;
    if (!writes) return readsAhead ? undefined : this.newest();
    const batch = this.#batch();
    // Nothing is written any more: it is there to say so.
    if (this.#why !== undefined) return batch;
    batch.turns += 1;
    for (const [key, value] of cells ?? []) batch.cells.set(key, value);
    // Sent and taken in one batch: the disk need never hear of it, for a message's key is used once.
    if (taken !== undefined && !batch.cells.delete(taken)) batch.cells.set(taken, undefined);
    batch.lines.push(...lines);
    return batch;
  }

  /** Why nothing is durable any more. */
  get failed(): CapError | undefined {
    return this.#why;
  }

  /** The latest batch that is not on the disk yet: what an observer of now may have seen. */
  newest(): Batch | undefined {
    return this.#open ?? this.#flying;
  }

  /** What `key` is, or will be, where a batch that is not on the disk yet says it. */
  pending(key: string): { readonly value: string | undefined } | undefined {
    for (const batch of [this.#open, this.#flying])
      if (batch?.cells.has(key) === true) return { value: batch.cells.get(key) };
    return undefined;
  }

  /** As `pending`, for all keys that begin with `prefix`, older first. */
  *pendingWith(prefix: string): Generator<readonly [key: string, value: string | undefined]> {
    for (const batch of [this.#flying, this.#open])
      for (const cell of batch?.cells ?? []) if (cell[0].startsWith(prefix)) yield cell;
  }

  /** Called after each turn: closes the batch where it is time. */
  afterTurn(idle: boolean): void {
    const batch = this.#open;
    if (batch === undefined || this.#flying !== undefined) return;
    if (idle || batch.turns >= mostTurns || this.#tick() - this.#openedAt >= longestMs) this.#fly(batch);
  }

  /** Fulfilled when every turn before now is durable. */
  settled(): Promise<void> {
    const newest = this.newest();
    if (newest === undefined) return this.#why === undefined ? Promise.resolve() : Promise.reject(this.#why);
    const durable = new Promise<void>((resolve, reject) => newest.then(resolve, reject));
    this.afterTurn(true);
    return durable;
  }

  #batch(): Batch {
    if (this.#open === undefined) {
      this.#numbers += 1;
      this.#open = new Batch(this, this.#numbers);
      this.#openedAt = this.#tick();
      if (this.#why !== undefined) this.#open.done(this.#why);
    }
    return this.#open;
  }

  #fly(batch: Batch): void {
    this.#open = undefined;
    if (this.#why !== undefined) return;
    this.#flying = batch;
    this.#commit(batch, (error) => {
      this.#flying = undefined;
      if (error === undefined) {
        batch.done(undefined);
        // What gathered meanwhile is the next group; a lone turn waits for nobody.
        if (this.#flying === undefined && this.#open !== undefined) this.#fly(this.#open);
        return;
      }
      this.#why = new CapError(
        'unknown-outcome',
        'the store could not be written: look at what happened before you try again',
      );
      const open = this.#open as Batch | undefined;
      this.#open = undefined;
      this.#failed(this.#why);
      batch.done(this.#why);
      open?.done(this.#why);
    });
  }
}
