/**
 * The store's edge: turns run ahead of the disk, what leaves does not.
 *
 * Promise: what goes out (driver calls, frames, promises of the host program) waits until every turn that it could have observed
 * is durable, and goes out in turn order; also what a read-only turn says after an uncommitted one. On a clean store nothing
 * waits. If a commit fails, no turn that is not durable ever happened: what waited for one never goes out, and is told so.
 *
 * Group commit: turns that end while a commit is under way form the next one. A batch closes when no message is waiting, or at
 * 256 turns or half a million characters, or 5 ms after its first turn; there are no other timers. While one is under way and the next one is full, no turn runs: else
 * batches grow with what waits, commits with them, and whoever asks for one durable turn waits for thousands of somebody else's.
 * After output commit in Strom and Yemini, Optimistic Recovery in Distributed Systems (1985).
 */
import type { Barrier } from '../core/barrier.ts';
import { CapError } from '../core/errors.ts';
import type { LedgerEntry } from '../core/ledger-entry.ts';

const mostTurns = 256;
const longestMs = 5;
/** Characters of cells and lines that make a batch full. */
const mostText = 512 << 10;

/** What one commit writes: cells by key, `undefined` deletes. */
export interface Writes {
  readonly cells: ReadonlyMap<string, string | undefined>;
  readonly lines: readonly LedgerEntry[];
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
  readonly lines: LedgerEntry[] = [];
  turns: number = 0;
  /** About how many characters it writes. */
  text: number = 0;
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

  get lost(): CapError | undefined {
    return this.#why;
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

export interface Ground {
  readonly commit: Commit;
  tick(): number;
  /** A commit is over: turns may run that waited because a batch was full. */
  room(): void;
  /** Why these may not be committed now: the disk is full. */
  refuses(lines: readonly LedgerEntry[]): CapError | undefined;
  /**
   * No turn that is not durable ever happened; `keys` are the cells that those wrote. Puts everything back to what the disk says;
   * answers whether that was done and the vats go on.
   */
  lost(why: CapError, keys: ReadonlySet<string>): boolean;
}

const isFull = ({ turns, text }: Batch): boolean => turns >= mostTurns || text >= mostText;

export class OutputCommit {
  readonly #ground: Ground;
  #numbers = 0;
  #open: Batch | undefined;
  #openedAt = 0;
  #flying: Batch | undefined;
  #why: CapError | undefined;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** A turn has ended that took the message in the cell `taken`. Answers what its outputs have to wait for; undefined on a clean store. */
  turn(
    cells: ReadonlyMap<string, string | undefined> | undefined,
    lines: readonly LedgerEntry[],
    taken?: string,
  ): Batch | undefined {
    const writes = (cells !== undefined && cells.size > 0) || lines.length > 0 || taken !== undefined;
    if (!writes) return this.newest();
    const refused = this.refuses(lines);
    if (refused !== undefined) return this.#never(refused);
    const batch = this.#batch();
    batch.turns += 1;
    for (const [key, value] of cells ?? []) {
      batch.cells.set(key, value);
      batch.text += key.length + (value?.length ?? 0);
    }
    for (const line of lines) batch.text += line.args?.bytes.length ?? 0;
    // Sent and taken in one batch: the disk need never hear of it, for a message's key is used once.
    if (taken !== undefined && !batch.cells.delete(taken)) batch.cells.set(taken, undefined);
    batch.lines.push(...lines);
    return batch;
  }

  /** Why these may not be committed now; undefined where they may. */
  refuses(lines: readonly LedgerEntry[]): CapError | undefined {
    return this.#why ?? this.#ground.refuses(lines);
  }

  /** What waits for a turn that was lost is told. */
  unknown(): CapError {
    return new CapError(
      'unknown-outcome',
      'the store could not be written: look at what happened before you try again',
    );
  }

  /** Why nothing is durable any more. */
  get failed(): CapError | undefined {
    return this.#why;
  }

  /** No more turns before the commit that is under way is over. */
  get full(): boolean {
    return this.#flying !== undefined && this.#open !== undefined && isFull(this.#open);
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
    if (idle || isFull(batch) || this.#ground.tick() - this.#openedAt >= longestMs) this.#fly(batch);
  }

  /** Fulfilled when every turn before now is durable. */
  settled(): Promise<void> {
    const newest = this.newest();
    if (newest === undefined && this.#why !== undefined) return Promise.reject(this.#why);
    return this.durable(newest);
  }

  /** Fulfilled when `batch` is; broken with why it never will be. */
  durable(batch: Batch | undefined): Promise<void> {
    if (batch === undefined) return Promise.resolve();
    const durable = new Promise<void>((resolve, reject) => batch.then(resolve, reject));
    this.afterTurn(true);
    return durable;
  }

  #batch(): Batch {
    if (this.#open === undefined) {
      this.#open = this.#make();
      this.#openedAt = this.#ground.tick();
    }
    return this.#open;
  }

  #make(): Batch {
    this.#numbers += 1;
    return new Batch(this, this.#numbers);
  }

  /** A batch that is there only to say that it never was. */
  #never(why: CapError): Batch {
    const batch = this.#make();
    batch.done(why);
    return batch;
  }

  #fly(batch: Batch): void {
    this.#open = undefined;
    this.#flying = batch;
    this.#ground.commit(batch, (error) => {
      this.#flying = undefined;
      if (error !== undefined) {
        this.#lose(batch);
        return this.#ground.room();
      }
      batch.done(undefined);
      // What gathered meanwhile is the next group; a lone turn waits for nobody.
      if (this.#flying === undefined && this.#open !== undefined) this.#fly(this.#open);
      this.#ground.room();
    });
  }

  #lose(batch: Batch): void {
    const open = this.#open;
    this.#open = undefined;
    const why = this.unknown();
    // While the disk is read again nothing may be written.
    this.#why = why;
    if (this.#ground.lost(why, new Set([...batch.cells.keys(), ...(open?.cells.keys() ?? [])]))) this.#why = undefined;
    batch.done(why);
    open?.done(why);
  }
}
