/**
 * Output commit: turns run ahead of the disk, effects do not.
 *
 * Promise: every effect (driver calls, frames, promises of the host program) waits until each turn that it
 * could have observed is durable. Effects leave in turn order. This includes the results of a read-only turn
 * that follows an uncommitted one. On a clean store nothing waits, unless another process may have taken the
 * store. Then a read-only turn waits for a commit or a check, which shows that this process still has it. If the
 * answer of the disk comes too late to show that, another check follows. If a commit fails, the turns that are not
 * durable never happened: effects that waited for them never leave, and their waiters are told.
 *
 * Group commit: turns that end during a commit form the next batch. A batch closes when no message is waiting (those
 * of meters that rest do not count), at 256 turns, at half a million characters, or 5 ms after its first turn. While a
 * commit is under way and the next batch is full, no turn runs. Otherwise batches and commit times would grow, and a
 * caller of one durable turn would wait for thousands of others. The scheduler limits the part of a batch that one
 * meter takes while others are active.
 *
 * Outcomes: `result` lines say how calls ended. A turn that writes only such lines counts as read-only. Its lines
 * join the next batch. If there is none after 5 ms, they form a batch of their own. So a call waits for the disk
 * before it leaves, and not again before its answer. A crash may lose such lines, but no other acknowledged line.
 *
 * After output commit in Strom and Yemini, Optimistic Recovery in Distributed Systems (1985).
 */
import type { Barrier } from '../core/barrier.ts';
import { CapError } from '../core/errors.ts';
import { fenced, fencedOr } from '../core/faults.ts';
import { isOutcome, type LedgerEntry } from '../core/ledger-entry.ts';
import { Counts } from './counts.ts';

const mostTurns = 256;
const longestMs = 5;
/** If this many checks after a late answer are late too, the disk has failed. A stall of seconds needs one or two. */
const mostChecks = 10;
/** A batch with this many characters of cells and lines is full. */
const mostText = 512 << 10;

/** The writes of one commit: cells by key, where `undefined` deletes, and ledger lines. */
export interface Writes {
  readonly cells: ReadonlyMap<string, string | undefined>;
  readonly lines: readonly LedgerEntry[];
}

interface Output {
  readonly release: () => void;
  readonly lost: (why: CapError) => void;
}

/** The turns of one commit, and the effects that wait for it. */
export class Batch implements Writes, Barrier {
  readonly owner: object;
  readonly number: number;
  readonly cells: Map<string, string | undefined> = new Map();
  readonly lines: LedgerEntry[] = [];
  turns: number = 0;
  /** About the number of characters it writes. */
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

  /** Whether it writes nothing, and only checks that no other process has taken the store. */
  get isCheck(): boolean {
    return this.cells.size === 0 && this.lines.length === 0;
  }

  /**
   * Runs `release` once the batch is durable, or `lost` once it is lost. Callbacks run in the order they were
   * added.
   */
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
    // A promise settled in one of these turns refers to the batch for its whole life. It must not keep the
    // written text.
    this.cells.clear();
    this.lines.length = 0;
    // An internal error in one effect holds up no other.
    for (const output of outputs)
      if (why === undefined) fencedOr(() => output.release(), output.lost);
      else fenced(() => output.lost(why));
  }
}

/** Makes a batch durable. Calls `done` once, at once or later, with an error if the commit failed. */
export type Commit = (writes: Writes, done: (error: unknown) => void) => void;

interface CommitPowers {
  readonly commit: Commit;
  /** Checks that no other process has taken the store. Calls `done` once, with an error if that is not certain. */
  confirm(done: (error: unknown) => void): void;
  /** False if another process may have taken the store since the last commit or check. */
  held(): boolean;
  tick(): number;
  /** Calls `then` once, after `ms` or a little later. */
  after(ms: number, then: () => void): void;
  /** A commit has ended. Turns that waited because a batch was full may run. */
  room(): void;
  /** Returns the error if these lines cannot be committed now because the disk is full. */
  refuses(lines: readonly LedgerEntry[]): CapError | undefined;
  /**
   * A commit failed: the turns that are not durable never happened. `keys` are the cells they wrote. Resets
   * everything to the state on disk. Returns whether that worked and the vats go on.
   */
  lost(why: CapError, keys: ReadonlySet<string>): boolean;
}

function addLines(batch: Batch, lines: readonly LedgerEntry[]): void {
  for (const line of lines) batch.text += line.args?.bytes.length ?? 0;
  batch.lines.push(...lines);
}

/** Returns the part of a batch that is filled. 1 is full, and a long last turn may take it above 1. */
const takenOf = ({ turns, text }: Batch): number => Math.max(turns / mostTurns, text / mostText);

export class OutputCommit {
  readonly counts: Counts = new Counts();
  readonly #ground: CommitPowers;
  #numbers = 0;
  #open: Batch | undefined;
  #openedAt = 0;
  /** Lines about how calls ended that are not in a batch yet. */
  #outcomes: LedgerEntry[] = [];
  #flushes = false;
  #committing: Batch | undefined;
  #why: CapError | undefined;

  constructor(ground: CommitPowers) {
    this.#ground = ground;
  }

  /**
   * Adds an ended turn, which consumed the message in the cell `taken`. Returns the batch that its effects
   * must wait for; undefined on a clean store.
   */
  turn(
    cells: ReadonlyMap<string, string | undefined> | undefined,
    lines: readonly LedgerEntry[],
    taken?: string,
  ): Batch | undefined {
    const changes = (cells !== undefined && cells.size > 0) || taken !== undefined;
    if (!changes && lines.length === 0) return this.newestOrCheck();
    const refused = this.refuses(lines);
    if (refused !== undefined) return this.#never(refused);
    if (!changes && lines.every(isOutcome)) return this.#later(lines);
    const batch = this.#batch();
    batch.turns += 1;
    for (const [key, value] of cells ?? []) {
      batch.cells.set(key, value);
      batch.text += key.length + (value?.length ?? 0);
    }
    // Sent and consumed in one batch: the disk need not see it, since each message key is used once.
    if (taken !== undefined && !batch.cells.delete(taken)) batch.cells.set(taken, undefined);
    addLines(batch, lines);
    return batch;
  }

  /**
   * Returns the batch that must be durable before anything that is read now may leave: the newest, or a check if
   * another process may have the store. Undefined on a clean store.
   */
  newestOrCheck(): Batch | undefined {
    return this.newest() ?? (this.#why !== undefined || this.#ground.held() ? undefined : this.#batch());
  }

  /** Takes lines about how calls ended. Returns the batch that was the newest before, since effects wait for it. */
  #later(lines: readonly LedgerEntry[]): Batch | undefined {
    const before = this.newestOrCheck();
    if (this.#open === undefined) {
      this.#outcomes.push(...lines);
      if (!this.#flushes) this.#ground.after(longestMs, () => this.#flush());
      this.#flushes = true;
    } else {
      this.#open.turns += 1;
      addLines(this.#open, lines);
    }
    return before;
  }

  /** Adds a line outside of a turn. Resolves when it is durable. If it only says how a call ended, resolves at once. */
  async line(line: LedgerEntry): Promise<void> {
    const batch = this.turn(undefined, [line]);
    if (!isOutcome(line) || batch?.lost !== undefined) await this.durable(batch);
  }

  #flush(): void {
    this.#flushes = false;
    this.#batchOutcomes();
    this.afterTurn(true);
  }

  /** Puts the waiting outcomes into a batch. Drops them if the store has failed. */
  #batchOutcomes(): void {
    if (this.#why !== undefined) this.#outcomes = [];
    if (this.#outcomes.length > 0) this.#batch();
  }

  /** Returns the error if these lines cannot be committed now; otherwise undefined. */
  refuses(lines: readonly LedgerEntry[]): CapError | undefined {
    return this.#why ?? this.#ground.refuses(lines);
  }

  /** The error for callers that wait for a lost turn. */
  unknown(): CapError {
    return new CapError(
      'unknown-outcome',
      'the store could not be written: look at what happened before you try again',
    );
  }

  /** Set when the store has failed: nothing becomes durable any more. */
  get failed(): CapError | undefined {
    return this.#why;
  }

  /**
   * The part of the next batch that is filled while a commit is under way, else 0. From 1 on, turns must wait until
   * that commit ends.
   */
  get taken(): number {
    return this.#committing === undefined || this.#open === undefined ? 0 : takenOf(this.#open);
  }

  /** The number of the next batch. */
  get next(): number {
    return this.#open?.number ?? this.#numbers + 1;
  }

  /** The newest batch that is not durable. */
  newest(): Batch | undefined {
    return this.#open ?? this.#committing;
  }

  /** The value of `key` in a batch that is not durable yet; undefined if none writes it. */
  pending(key: string): { readonly value: string | undefined } | undefined {
    for (const batch of [this.#open, this.#committing])
      if (batch?.cells.has(key) === true) return { value: batch.cells.get(key) };
    return undefined;
  }

  /** Like `pending`, for all keys that begin with `prefix`, older batch first. */
  *pendingWith(prefix: string): Generator<readonly [key: string, value: string | undefined]> {
    for (const batch of [this.#committing, this.#open])
      for (const cell of batch?.cells ?? []) if (cell[0].startsWith(prefix)) yield cell;
  }

  /** Call after each turn. Starts the commit when the batch should close. */
  afterTurn(idle: boolean): void {
    const batch = this.#open;
    if (batch === undefined || this.#committing !== undefined) return;
    if (idle || takenOf(batch) >= 1 || this.#ground.tick() - this.#openedAt >= longestMs) this.#startCommit(batch);
  }

  /** Call if the store fails without a commit. A commit under way fails by itself. */
  storeFailed(): void {
    if (this.#committing === undefined) this.#lose(this.#make());
  }

  /** Resolves when every turn before now is durable. */
  settled(): Promise<void> {
    this.#batchOutcomes();
    const newest = this.newest();
    if (newest === undefined && this.#why !== undefined) return Promise.reject(this.#why);
    return this.durable(newest);
  }

  /** Resolves when `batch` is durable. Rejects with the reason if it is lost. */
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
      addLines(this.#open, this.#outcomes);
      this.#outcomes = [];
    }
    return this.#open;
  }

  #make(): Batch {
    this.#numbers += 1;
    return new Batch(this, this.#numbers);
  }

  /** Returns a batch that is already lost, for a turn that cannot be committed. */
  #never(why: CapError): Batch {
    const batch = this.#make();
    batch.done(why);
    return batch;
  }

  #startCommit(batch: Batch): void {
    this.#open = undefined;
    this.#committing = batch;
    const began = this.#ground.tick();
    let checks = 0;
    const ended = (given: unknown): void => {
      let error = given;
      if (this.#committing !== batch) return;
      // The disk may have done the commit long before its answer came, and another process may have the store by now.
      // So a check comes first. Otherwise the effects of the batch would leave, and those of turns that read meanwhile.
      if (error === undefined && !this.#ground.held()) {
        checks += 1;
        if (checks <= mostChecks) return fencedOr(() => this.#ground.confirm(ended), ended);
        error = new CapError('unavailable', 'the disk answers too late to show that this process has the store');
      }
      this.#committing = undefined;
      fenced(() => this.#ended(batch, began, error));
      this.#ground.room();
    };
    // A commit that cannot even begin has failed.
    fencedOr(() => (batch.isCheck ? this.#ground.confirm(ended) : this.#ground.commit(batch, ended)), ended);
  }

  #ended(batch: Batch, began: number, error: unknown): void {
    if (error !== undefined) {
      this.counts.failed();
      return this.#lose(batch);
    }
    if (!batch.isCheck) this.counts.committed(this.#ground.tick() - began, batch.lines);
    batch.done(undefined);
    // The turns that ended meanwhile form the next batch. A single turn does not wait for more.
    if (this.#committing === undefined && this.#open !== undefined) this.#startCommit(this.#open);
  }

  #lose(batch: Batch): void {
    const open = this.#open;
    this.#open = undefined;
    const why = this.unknown();
    // Nothing may be written while the disk is read again.
    this.#why = why;
    if (this.#ground.lost(why, new Set([...batch.cells.keys(), ...(open?.cells.keys() ?? [])]))) this.#why = undefined;
    batch.done(why);
    open?.done(why);
  }
}
