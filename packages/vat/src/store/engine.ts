/**
 * The rules of a store, the same for every disk: epochs, one unbroken sequence of lines, refusal after a
 * failed write, listeners.
 */
import { CapError } from '../core/errors.ts';
import type { Signer } from '../drivers/keys.ts';
import { type CommitOutcome, type Disk, diskOf, type Write } from './disk.ts';
import { listen, tell } from './listeners.ts';
import type { Head, LedgerLine, StoredArgs, StoredLine, Writes } from './records.ts';
import { type Doubt, type Era, noCells, type Rows } from './rows.ts';

/** The store, as the vat and the ledger see it. */
export interface StoreEngine {
  /**
   * Counts the openings of the store. A commit of an older opening is refused, so two hosts on one store
   * cannot both go on.
   */
  readonly epoch: number;
  /** Durable on return. Throws `unavailable` if the commit could not be written. */
  commit(epoch: number, writes: Writes): void;
  /**
   * Calls `done` once, in the order of the calls, with an error if the commit is not durable. A commit that
   * follows a failed one fails too.
   */
  commitLater(epoch: number, writes: Writes, done: (error: unknown) => void): void;
  /**
   * Calls `done` once, with an error if another process may have taken the store. A turn that writes nothing learns of
   * that only by this.
   */
  confirmLater(done: (error: unknown) => void): void;
  /** No other process can take the store within this time after the start of the last commit or check that was done. */
  readonly heldMs: number;
  /**
   * The last line passed to a commit, which the next line follows. After a failure, the last durable line.
   */
  head(): Head;
  /** Sets a cell that is added to every commit. */
  stampBy(stamp: () => Cell): void;
  /** How often the store was found put back, and whether a person has looked since. */
  readonly era: Era;
  /** A fault of the ledger that was found at the opening. */
  readonly doubt: Doubt | undefined;
  trust(): void;
  /** Copies the store into one new file while it is in use. */
  backup(file: string): Promise<void>;
  /** True if the disk is full. Then only lines that end authority are committed. */
  readonly full: boolean;
  /** Checks whether a full disk has room again. Calls `then` if so. */
  makeRoom(then: () => void): void;
  /** True after a failed write, except for lack of room. Nothing is committed before `reopen`. */
  readonly failed: boolean;
  /** Goes on, after a failure, from what is on the disk. Throws if the disk cannot be opened. */
  reopen(): void;
  /** Returns at most `limit` lines in order, starting with line `from`. */
  lines(from: number, limit: number): readonly StoredLine[];
  /** Returns a cell as last committed. */
  get(key: string): string | undefined;
  /** Returns these cells as last committed, in the order of `keys`. */
  getAll(keys: readonly string[]): readonly (string | undefined)[];
  /** Returns the cells whose key begins with `prefix`, in the order of the UTF-8 bytes of their keys. */
  scan(prefix: string): readonly Cell[];
  /** Returns at most `limit` of these cells, with keys greater than `after`. */
  page(prefix: string, after: string, limit: number): readonly Cell[];
  pageLater(prefix: string, after: string, limit: number): Promise<readonly Cell[]>;
  getAllLater(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Returns the stored arguments of lines `from` to `to`. */
  args(from: number, to: number): readonly StoredArgs[];
  /** Signs for this store. */
  readonly signer: Signer;
  /** `settle` writes what the vats on this store hold back: lines about how calls ended. */
  heldBackBy(settle: () => Promise<void>): void;
  /** Resolves when all that happened before now is on disk, or cannot come there. */
  settled(): Promise<void>;
  /** Removes deleted data from every file of the store. */
  scrub(): void;
  /** Adds a listener that is called after each commit with writes. Returns a function that removes it. */
  onCommit(listener: () => void): () => void;
  /** Adds a listener that is called if the store fails without a commit. Nothing is committed before `reopen`. */
  onFailure(listener: () => void): () => void;
  /** Called once before the close, while commits are still possible. Errors of the listener are dropped. */
  onClosing(listener: () => void): () => void;
  /** Called once at the close, while `lines` can still be read. */
  onClose(listener: () => void): () => void;
  close(): Promise<void>;
}

type Cell = readonly [key: string, value: string];

export const makeEngine = (rows: Rows): StoreEngine => engineOn(diskOf(() => rows));
export const engineOn = (disk: Disk): StoreEngine => new Engine(disk);

class Engine implements StoreEngine {
  readonly #disk: Disk;
  #state: 'open' | 'full' | 'failed' | 'gone' | 'closed' = 'open';
  #epoch: number;
  #era: Era;
  #doubt: Doubt | undefined;
  /** The last durable line. */
  #durable: Head;
  /** The last line that the disk was given, durable or not. */
  #head: Head;
  /** Count of commits that the disk was given, and of those that it has done. */
  #given = 0;
  #done = 0;
  /** Commits that the disk was given and that are not known to be done. */
  #inFlight: Write[] = [];
  #heldMs: number;
  /** Results of commits that were requested before the last `reopen` say nothing about the disk now. */
  #openings = 0;
  #stamp: (() => Cell) | undefined;
  #settleVats: (() => Promise<void>) | undefined;
  readonly #closingListeners = new Set<() => void>();
  readonly #commitListeners = new Set<() => void>();
  readonly #failureListeners = new Set<() => void>();
  readonly #closeListeners = new Set<() => void>();

  constructor(disk: Disk) {
    this.#disk = disk;
    ({ epoch: this.#epoch, head: this.#durable, era: this.#era, doubt: this.#doubt } = disk.opened);
    this.#head = this.#durable;
    this.#heldMs = disk.opened.leased === true ? 0 : Number.POSITIVE_INFINITY;
    disk.onFailure(() => this.#fail());
  }

  get epoch(): number {
    return this.#epoch;
  }
  get signer(): Signer {
    return this.#disk.signer;
  }
  get era(): Era {
    return this.#era;
  }
  get doubt(): Doubt | undefined {
    return this.#doubt;
  }
  get heldMs(): number {
    return this.#heldMs;
  }
  get full(): boolean {
    return this.#state === 'full';
  }
  get failed(): boolean {
    return this.#state === 'failed';
  }

  // ---- commits --------------------------------------------------------------------------------------------

  head(): Head {
    return this.#head;
  }

  stampBy(stamp: () => Cell): void {
    this.#stamp = stamp;
  }

  commit(epoch: number, writes: Writes): void {
    const write = this.#take(epoch, writes);
    if (write === undefined) return;
    const failure = this.#committed(this.#disk.write(write));
    if (failure !== undefined) throw failure;
  }

  commitLater(epoch: number, writes: Writes, done: (error: unknown) => void): void {
    let write: Write | undefined;
    try {
      write = this.#take(epoch, writes);
    } catch (error) {
      return done(error);
    }
    if (write === undefined) return done(undefined);
    const opening = this.#openings;
    this.#disk.writeLater(write, (outcome) =>
      done(opening === this.#openings ? this.#committed(outcome) : unwritten()),
    );
  }

  confirmLater(done: (error: unknown) => void): void {
    if (this.#disk.confirmLater === undefined) return done(undefined);
    if (this.#state !== 'open' && this.#state !== 'full') return done(unwritten());
    const opening = this.#openings;
    this.#disk.confirmLater((outcome) => done(opening === this.#openings ? this.#settle(outcome) : unwritten()));
  }

  /** Checks the writes and returns them for the disk; undefined if there is nothing to write. */
  #take(epoch: number, { lines, cells = noCells }: Writes): Write | undefined {
    this.#check();
    const ends = endsAuthority(lines);
    if (this.#state === 'failed' || (this.#state === 'full' && !ends))
      throw new CapError('unavailable', 'an earlier write to the store failed: start the host again');
    if (epoch !== this.#epoch)
      throw new CapError('unavailable', 'this store has been opened again since: use the newer one');
    const last = lines.at(-1);
    if (last === undefined && cells.size === 0) return undefined;
    // A mistake of the caller, not of the disk: lines that do not follow the head were prepared for another
    // one.
    lines.forEach((line, index) => {
      if (line.seq !== this.#head.seq + 1 + index)
        throw new CapError('invalid', 'these lines do not follow the last one: prepare them again');
    });
    const stamped = this.#stamp === undefined ? cells : new Map(cells).set(...this.#stamp());
    if (last !== undefined) this.#head = Object.freeze({ seq: last.seq, hash: last.hash, mark: last.mark });
    const write: Write = { follows: this.#given, epoch, lines, head: this.#head, cells: stamped, ends };
    this.#given += 1;
    this.#inFlight.push(write);
    return write;
  }

  #committed(outcome: CommitOutcome): CapError | undefined {
    const failure = this.#settle(outcome);
    if (failure === undefined) tell(this.#commitListeners);
    return failure;
  }

  /**
   * Takes in the result of a commit or a check. The disk may already have done later commits whose results are on their
   * way.
   */
  #settle(outcome: CommitOutcome): CapError | undefined {
    if (outcome.done > this.#done) {
      this.#done = outcome.done;
      for (const write of this.#inFlight) if (write.follows < outcome.done) this.#durable = write.head;
      this.#inFlight = this.#inFlight.filter((write) => write.follows >= outcome.done);
    }
    if (this.#state === 'open' && outcome.onlyEndings) this.#state = 'full';
    this.#heldMs = outcome.heldMs ?? this.#heldMs;
    if (outcome.status === 'done') return undefined;
    // Commits that were prepared to follow this one fail too: the disk returns `stale` for each.
    if (outcome.status === 'failed' && this.#state !== 'closed' && this.#state !== 'gone') this.#state = 'failed';
    if (outcome.status !== 'stale') {
      this.#inFlight = [];
      this.#given = this.#done;
      this.#head = this.#durable;
    }
    return unwritten();
  }

  /** Tells the listeners, also if a commit has failed before: nobody may have waited for that commit. */
  #fail(): void {
    if (this.#state === 'closed' || this.#state === 'gone') return;
    this.#state = 'failed';
    tell(this.#failureListeners);
  }

  heldBackBy(settle: () => Promise<void>): void {
    this.#settleVats = settle;
  }

  async settled(): Promise<void> {
    await this.#settleVats?.().catch(() => {});
  }

  makeRoom(then: () => void): void {
    if (this.#state !== 'full') return;
    this.#disk.refill((room) => {
      if (!room || this.#state !== 'full') return;
      this.#state = 'open';
      then();
    });
  }

  reopen(): void {
    this.#check();
    this.#openings += 1;
    const { now } = this.#era;
    try {
      ({ epoch: this.#epoch, head: this.#durable, era: this.#era, doubt: this.#doubt } = this.#disk.reopen());
      // What is in memory came from commits that are gone. Written on top of the older state it would tear turns apart.
      if (this.#era.now !== now)
        throw new CapError('unavailable', 'the store was put back while it was in use: start this host again');
    } catch (error) {
      this.#state = 'gone';
      throw error;
    }
    this.#head = this.#durable;
    this.#given = 0;
    this.#done = 0;
    this.#inFlight = [];
    this.#state = 'open';
  }

  #check(): void {
    if (this.#state === 'closed') throw new CapError('unavailable', 'this store is closed: open it again');
    if (this.#state === 'gone') throw unwritten();
  }

  // ---- reads ----------------------------------------------------------------------------------------------

  lines(from: number, limit: number): readonly StoredLine[] {
    this.#check();
    return this.#disk.read('lines', from, limit) as readonly StoredLine[];
  }

  get(key: string): string | undefined {
    this.#check();
    return this.#disk.read('get', key) as string | undefined;
  }

  getAll(keys: readonly string[]): readonly (string | undefined)[] {
    this.#check();
    return this.#disk.read('getAll', keys) as readonly (string | undefined)[];
  }

  scan(prefix: string): readonly Cell[] {
    this.#check();
    return this.#disk.read('scan', prefix) as readonly Cell[];
  }

  page(prefix: string, after: string, limit: number): readonly Cell[] {
    this.#check();
    return this.#disk.read('page', prefix, after, limit) as readonly Cell[];
  }

  async pageLater(prefix: string, after: string, limit: number): Promise<readonly Cell[]> {
    this.#check();
    return (await this.#disk.readLater('page', prefix, after, limit)) as readonly Cell[];
  }

  async getAllLater(keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    this.#check();
    return (await this.#disk.readLater('getAll', keys)) as readonly (string | undefined)[];
  }

  args(from: number, to: number): readonly StoredArgs[] {
    this.#check();
    return this.#disk.read('args', from, to) as readonly StoredArgs[];
  }

  // ---- the whole store ------------------------------------------------------------------------------------

  trust(): void {
    this.#check();
    this.#disk.trust();
    this.#era = { now: this.#era.now, trusted: this.#era.now };
  }

  async backup(file: string): Promise<void> {
    this.#check();
    await this.#disk.backup(file);
  }

  scrub(): void {
    this.#check();
    this.#disk.scrub();
  }

  onCommit(listener: () => void): () => void {
    return listen(this.#commitListeners, listener);
  }
  onFailure(listener: () => void): () => void {
    return listen(this.#failureListeners, listener);
  }
  onClosing(listener: () => void): () => void {
    return listen(this.#closingListeners, listener);
  }
  onClose(listener: () => void): () => void {
    return listen(this.#closeListeners, listener);
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    for (const listener of [...this.#closingListeners]) {
      try {
        listener();
      } catch {
        // A failed store takes no more commits. It is closed all the same.
      }
    }
    tell(this.#closeListeners);
    this.#state = 'closed';
    this.#closingListeners.clear();
    this.#commitListeners.clear();
    this.#failureListeners.clear();
    this.#closeListeners.clear();
    await this.#disk.close();
  }
}

/** True if at least one line ends authority and the others only accompany it. */
export function endsAuthority(lines: readonly Pick<LedgerLine, 'urgency'>[]): boolean {
  return (
    lines.some(({ urgency }) => urgency === 'ends') &&
    lines.every(({ urgency }) => urgency === 'ends' || urgency === 'along')
  );
}

function unwritten(): CapError {
  return new CapError('unavailable', 'the store could not be written: make room on its disk and start the host again');
}
