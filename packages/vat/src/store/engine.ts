/**
 * The rules of a store, the same whatever keeps its rows: epochs, one unbroken sequence of lines, poison, listeners.
 */
import { CapError } from '../core/errors.ts';
import type { Signer } from '../drivers/keys.ts';
import { soon } from '../drivers/loop.ts';
import { type Disk, diskOf, type Outcome, type Write } from './disk.ts';
import type { Head, Line, StoredArgs, StoredLine, Writes } from './records.ts';
import { type Doubt, type Era, noCells, type Rows } from './rows.ts';

/** What the vat holds. */
export interface StoreEngine {
  /** Counts the openings. A commit of an older one is refused: two hosts on one store can then not both go on. */
  readonly epoch: number;
  /** Durable on return; throws `unavailable` where it is not. */
  commit(epoch: number, writes: Writes): void;
  /** Calls back once, in the order of the calls: durable, or why not. What follows one that failed fails with it. */
  commitLater(epoch: number, writes: Writes, done: (error: unknown) => void): void;
  /** The last line that was given to be committed: the next one follows it. After a failure, the last that was. */
  head(): Head;
  /** A cell that goes with every commit. */
  stampBy(stamp: () => readonly [key: string, value: string]): void;
  /** How often the store was found to have been put back, and whether a person has looked since. */
  readonly era: Era;
  /** Of the ledger as it was found at the opening. */
  readonly doubt: Doubt | undefined;
  trust(): void;
  /** An online copy in one new file. */
  backup(file: string): Promise<void>;
  /** Only what ends authority is committed, for want of room. */
  readonly full: boolean;
  /** Looks whether a full disk has room again; calls back if so. */
  makeRoom(then: () => void): void;
  /** A write failed, not only for want of room: nothing is committed before `reopen`. */
  readonly failed: boolean;
  /** After a failure: what is on the disk counts from here on. Throws where it cannot be opened. */
  reopen(): void;
  /** Lines in order, from `from` on, at most `limit`. */
  lines(from: number, limit: number): readonly StoredLine[];
  /** A cell as last committed. */
  get(key: string): string | undefined;
  /** The cells whose key begins with `prefix`, in the order of their keys' UTF-8 bytes. */
  scan(prefix: string): readonly (readonly [key: string, value: string])[];
  /** At most `limit` of those whose key is greater than `after`. */
  page(prefix: string, after: string, limit: number): readonly (readonly [key: string, value: string])[];
  pageLater(prefix: string, after: string, limit: number): Promise<readonly (readonly [key: string, value: string])[]>;
  getAllLater(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** The arguments that are kept of lines `from` to `to`. */
  args(from: number, to: number): readonly StoredArgs[];
  /** Signs for this store. */
  readonly signer: Signer;
  /** Makes sure that what was deleted is in no file any more. */
  scrub(): void;
  /** After each commit that wrote; answers how to stop. A listener must not throw. */
  onCommit(listener: () => void): () => void;
  /** Once, before the close, while it can still be committed; an error of a listener is dropped. */
  onClosing(listener: () => void): () => void;
  /** Once, while `lines` can still be read. */
  onClose(listener: () => void): () => void;
  close(): Promise<void>;
}

export const makeEngine = (rows: Rows): StoreEngine => engineOn(diskOf(() => rows));

export function engineOn(disk: Disk): StoreEngine {
  let state: 'open' | 'full' | 'failed' | 'gone' | 'closed' = 'open';
  let { epoch, head: durable, era, doubt } = disk.opened;
  /** The last line that the disk was given, done or not. */
  let head = durable;
  /** Commits that the disk was given, and those that it has done. */
  let given = 0;
  let done = 0;
  /** Given, and not known to be done. */
  let flying: Write[] = [];
  /** Answers to what was asked before the disk was opened anew say nothing about it now. */
  let openings = 0;
  const closingListeners = new Set<() => void>();
  const commitListeners = new Set<() => void>();
  const closeListeners = new Set<() => void>();

  let stamp: (() => readonly [key: string, value: string]) | undefined;

  const check = (): void => {
    if (state === 'closed') throw closed();
    if (state === 'gone') throw unwritten();
  };
  /** What the disk is to be given; undefined where there is nothing to write. */
  const take = (of: number, { lines, cells = noCells }: Writes): Write | undefined => {
    check();
    const ends = endsAuthority(lines);
    if (state === 'failed' || (state === 'full' && !ends))
      throw new CapError('unavailable', 'an earlier write to the store failed: start the host again');
    if (of !== epoch)
      throw new CapError('unavailable', 'this store has been opened again since: use the newer opening');
    const last = lines.at(-1);
    if (last === undefined && cells.size === 0) return undefined;
    // Ours, not the disk's: lines that do not follow the head were made for another one.
    lines.forEach((line, index) => {
      if (line.seq !== head.seq + 1 + index)
        throw new CapError('invalid', 'these lines do not follow the last one: prepare them again');
    });
    const stamped = stamp === undefined ? cells : new Map(cells).set(...stamp());
    if (last !== undefined) head = Object.freeze({ seq: last.seq, hash: last.hash, mark: last.mark });
    const write: Write = { follows: given, epoch, lines, head, cells: stamped, ends };
    given += 1;
    flying.push(write);
    return write;
  };
  /** The disk has answered; it may have done others before this one whose answers are still on their way. */
  const settle = (answer: Outcome): CapError | undefined => {
    if (answer.done > done) {
      done = answer.done;
      for (const write of flying) if (write.follows < done) durable = write.head;
      flying = flying.filter((write) => write.follows >= done);
    }
    if (state === 'open' && answer.full) state = 'full';
    if (answer.is === 'done') {
      tell(commitListeners);
      return undefined;
    }
    // What was prepared to follow it is not done either: the disk says `stale` to each.
    if (answer.is === 'failed' && state !== 'closed' && state !== 'gone') state = 'failed';
    if (answer.is !== 'stale') {
      flying = [];
      given = done;
      head = durable;
    }
    return unwritten();
  };

  return Object.freeze({
    get epoch(): number {
      return epoch;
    },
    get signer(): Disk['signer'] {
      return disk.signer;
    },
    stampBy(how: () => readonly [key: string, value: string]) {
      stamp = how;
    },
    get era(): Era {
      return era;
    },
    get doubt(): Doubt | undefined {
      return doubt;
    },
    trust() {
      check();
      disk.trust();
      era = { now: era.now, trusted: era.now };
    },
    async backup(file: string) {
      check();
      await disk.backup(file);
    },
    get full(): boolean {
      return state === 'full';
    },
    head: () => head,
    commit(of: number, writes: Writes) {
      const write = take(of, writes);
      if (write === undefined) return;
      const failure = settle(disk.write(write));
      if (failure !== undefined) throw failure;
    },
    commitLater(of: number, writes: Writes, then: (error: unknown) => void) {
      let write: Write | undefined;
      try {
        write = take(of, writes);
      } catch (error) {
        return then(error);
      }
      if (write === undefined) return then(undefined);
      const asked = openings;
      disk.writeLater(write, (answer) => then(asked === openings ? settle(answer) : unwritten()));
    },
    makeRoom(then: () => void) {
      if (state !== 'full') return;
      disk.refill((room) => {
        if (!room || state !== 'full') return;
        state = 'open';
        then();
      });
    },
    get failed(): boolean {
      return state === 'failed';
    },
    reopen() {
      check();
      openings += 1;
      try {
        ({ epoch, head: durable, era, doubt } = disk.reopen());
      } catch (error) {
        state = 'gone';
        throw error;
      }
      head = durable;
      given = 0;
      done = 0;
      flying = [];
      state = 'open';
    },
    lines(from: number, limit: number) {
      check();
      return disk.read('lines', from, limit) as readonly StoredLine[];
    },
    get(key: string) {
      check();
      return disk.read('get', key) as string | undefined;
    },
    scan(prefix: string) {
      check();
      return disk.read('scan', prefix) as readonly (readonly [string, string])[];
    },
    page(prefix: string, after: string, limit: number) {
      check();
      return disk.read('page', prefix, after, limit) as readonly (readonly [string, string])[];
    },
    async pageLater(prefix: string, after: string, limit: number) {
      check();
      return (await disk.readLater('page', prefix, after, limit)) as readonly (readonly [string, string])[];
    },
    async getAllLater(keys: readonly string[]) {
      check();
      return (await disk.readLater('getAll', keys)) as readonly (string | undefined)[];
    },
    args(from: number, to: number) {
      check();
      return disk.read('args', from, to) as readonly StoredArgs[];
    },
    scrub() {
      check();
      disk.scrub();
    },
    onCommit: (listener: () => void) => listen(commitListeners, listener),
    onClosing: (listener: () => void) => listen(closingListeners, listener),
    onClose: (listener: () => void) => listen(closeListeners, listener),
    async close() {
      if (state === 'closed') return;
      // A store that failed cannot take their last words, which is no reason not to close it.
      for (const listener of [...closingListeners]) {
        try {
          listener();
        } catch {}
      }
      tell(closeListeners);
      state = 'closed';
      closingListeners.clear();
      commitListeners.clear();
      closeListeners.clear();
      await disk.close();
    },
  });
}

/** At least one line that ends authority, and beside such lines only what goes along. */
export function endsAuthority(lines: readonly Pick<Line, 'urgency'>[]): boolean {
  return (
    lines.some(({ urgency }) => urgency === 'ends') &&
    lines.every(({ urgency }) => urgency === 'ends' || urgency === 'along')
  );
}

function unwritten(): CapError {
  return new CapError('unavailable', 'the store could not be written: make room on its disk and start the host again');
}

function closed(): CapError {
  return new CapError('unavailable', 'this store is closed: open it again');
}

function listen(listeners: Set<() => void>, listener: () => void): () => void {
  const own = (): void => listener(); // a listener added twice is told twice and stopped one by one
  listeners.add(own);
  return () => {
    listeners.delete(own);
  };
}

function tell(listeners: ReadonlySet<() => void>): void {
  for (const listener of [...listeners]) {
    try {
      listener();
    } catch (error) {
      // What was committed is committed: the committer must not hear of a failure. Nor may a bug of ours pass unseen.
      soon(() => {
        throw error;
      });
    }
  }
}
