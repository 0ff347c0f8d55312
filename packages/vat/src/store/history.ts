/**
 * How far a store has come, and whether somebody put it back to an earlier state.
 *
 * Promise: when a store is opened, it is noticed if the store is older than it was (a backup, a copy of its
 * folder, a snapshot without the sentinel), or if its sentinel cannot be found. The store then begins a new
 * era. Grants with a limit of an earlier era are suspended until a person has looked, because uses and
 * revocations may be missing. A ledger that was put back alone, or cut, is noticed by the cell in `bound.ts`.
 */
import type { Signer } from '../drivers/keys.ts';
import { systemRandom } from '../drivers/random.ts';
import { bind, cutOf, doubtOf, hashOfLine } from './bound.ts';
import type { OldSentinel, Reached, Sentinel } from './drivers/sentinel.ts';
import type { Sqlite } from './drivers/sqlite.ts';
import type { Head } from './records.ts';
import type { Doubt, Era } from './rows.ts';

export interface History {
  readonly era: Era;
  readonly doubt: Doubt | undefined;
  trusted(): void;
  /**
   * Called before the transaction of a commit that drops lines. The sentinel durably records a line that
   * stays. Otherwise a power cut could put the sentinel back to a line that is gone.
   */
  beforeCut(): void;
  /** Called in the transaction of a commit. If `cut` is not 0, the commit dropped lines 2 to `cut`. */
  count(head: Head, cut: number): void;
  /** Called when the commit is durable. */
  counted(head: Head, cut: number): void;
  /** Updates the sentinel now. */
  note(): void;
}

export interface Opening {
  readonly sqlite: Sqlite;
  readonly signer: Signer;
  /** Undefined if no folder was given for it. */
  readonly sentinel: Sentinel | undefined;
  readonly old: OldSentinel;
  /** The store was made from a backup, and this is its first opening. */
  readonly backup: boolean;
  /** Compares and changes nothing: neither the store nor the sentinel. */
  readonly look: boolean;
  /** Runs in the transaction of the opening. */
  readonly also: () => void;
}

/**
 * Where the sentinel is: nowhere, beside the folder of the store (up to 0.1), or in a folder that the
 * operator gave.
 */
const NOWHERE = 0;
const BESIDE = 1;
const NAMED = 2;

/** Counts this opening and compares the store with its sentinel. */
export function openHistory(opening: Opening): History {
  const found = compare(opening);
  if (opening.look) {
    const { era, doubt } = found;
    return { era, doubt, trusted() {}, beforeCut() {}, count() {}, counted() {}, note() {} };
  }
  const history = new CommitHistory(opening, found);
  history.begin(opening, found.watched);
  return history;
}

/** The state of a store as it was found at the opening. */
interface Found {
  readonly store: string;
  /** Including this opening. */
  readonly commits: number;
  readonly watched: number;
  readonly era: Era;
  readonly doubt: Doubt | undefined;
  readonly head: Head;
}

function compare({ sqlite, signer, sentinel, old, backup }: Opening): Found {
  const [row] = sqlite.all('SELECT store, commits, watched, era, trusted, bound FROM history');
  const watched = Number(row?.['watched']);
  let store = String(row?.['store']);
  let commits = Number(row?.['commits']);
  let era: Era = { now: Number(row?.['era']), trusted: Number(row?.['trusted']) };
  const [stored] = sqlite.all('SELECT seq, hash FROM store');
  const head: Head = { seq: Number(stored?.['seq']), hash: String(stored?.['hash']) };
  const isNew = store === '';
  if (isNew) store = Buffer.from(systemRandom(16)).toString('hex');

  const seen = sentinel?.read(store) ?? (watched === BESIDE ? old.read(store) : undefined);
  const known = seen?.commits;
  const older = known !== undefined && known > commits;
  const lost = known === undefined && watched !== NOWHERE;
  // If the sentinel has seen a last line, the store had the cell that names its last line.
  const isBound = row?.['bound'] === 1 || seen?.head !== undefined;
  let doubt = isNew || !isBound ? undefined : doubtOf(sqlite, signer, head, commits);
  const other = older || doubt !== undefined ? undefined : otherLedger(sqlite, head, seen);
  doubt ??= other;
  if (!isNew && (backup || older || lost || other !== undefined)) {
    const why = older ? 'older' : other ? 'ledger' : backup ? 'backup' : sentinel === undefined ? 'unnamed' : 'lost';
    era = { ...era, now: era.now + 1, missing: older ? known - commits : 'unknown', why };
    // So that it is noticed again if the store is put back a second time.
    commits = Math.max(commits, known ?? 0);
  }
  return { store, commits: commits + 1, watched, era, doubt, head };
}

/**
 * The sentinel saw a line that is missing here or differs. Then another copy of this store was used, or
 * somebody wrote the ledger anew with its key.
 */
function otherLedger(sqlite: Sqlite, head: Head, seen: Reached | undefined): Doubt | undefined {
  const { seq, hash } = seen?.head ?? { seq: 0, hash: '' };
  if (seq === 0) return undefined;
  if (seq > head.seq)
    return { line: head.seq + 1, why: `it is missing: the sentinel of this store saw ${seq} lines`, refused: false };
  const here = hashOfLine(sqlite, seq);
  if (here === hash) return undefined;
  if (here === '')
    return { line: seq, why: 'it was dropped, but the sentinel of this store saw none after it', refused: false };
  return { line: seq, why: 'it is not the line that the sentinel of this store saw', refused: false };
}

/** Counts the commits of this opening, in the store and in the sentinel. */
class CommitHistory implements History {
  readonly doubt: Doubt | undefined;
  readonly #sqlite: Sqlite;
  readonly #signer: Signer;
  readonly #sentinel: Sentinel | undefined;
  readonly #store: string;
  /** The hash of line 1, and the number of the last dropped line. */
  #stream: string;
  #cutTo: number;
  #era: Era;
  #commits: number;
  #head: Head;
  /** An update of the sentinel is scheduled. */
  #scheduled = false;

  constructor({ sqlite, signer, sentinel }: Opening, { store, commits, era, doubt, head }: Found) {
    this.#sqlite = sqlite;
    this.#signer = signer;
    this.#sentinel = sentinel;
    this.#store = store;
    this.#commits = commits;
    this.#era = era;
    this.doubt = doubt;
    this.#head = head;
    this.#stream = hashOfLine(sqlite, 1);
    this.#cutTo = cutOf(sqlite);
  }

  get era(): Era {
    return this.#era;
  }

  begin({ old, also }: Opening, watched: number): void {
    const sqlite = this.#sqlite;
    // Nothing is counted for a ledger in doubt: when its files are put right, they must be as they were.
    if (this.doubt?.refused === true) sqlite.run('UPDATE store SET epoch = epoch + 1');
    else {
      // The sentinel is written before the store says that it has one. So the store always finds it.
      this.#sentinel?.begin({ ...this.#reached(), commits: Math.max(0, this.#commits - 1) });
      sqlite.transaction(() => {
        also();
        sqlite.run('UPDATE store SET epoch = epoch + 1');
        sqlite.run(
          'UPDATE history SET store = ?, commits = ?, watched = ?, era = ?, bound = 1',
          this.#store,
          this.#commits,
          this.#sentinel !== undefined || watched === NAMED ? NAMED : NOWHERE,
          this.#era.now,
        );
        this.#bind(this.#head, this.#commits, this.#cutTo);
      });
      old.remove(this.#store);
    }
    this.note();
  }

  trusted(): void {
    this.#era = { now: this.#era.now, trusted: this.#era.now };
  }

  beforeCut(): void {
    this.#sentinel?.begin(this.#reached());
  }

  count(to: Head, cut: number): void {
    this.#sqlite.run('UPDATE history SET commits = ?', this.#commits + 1);
    this.#bind(to, this.#commits + 1, Math.max(cut, this.#cutTo));
  }

  counted(to: Head, cut: number): void {
    this.#commits += 1;
    this.#head = to;
    this.#cutTo = Math.max(cut, this.#cutTo);
    if (this.#stream === '') this.#stream = hashOfLine(this.#sqlite, 1);
    // The result of the commit leaves first: nobody waits for the sentinel.
    if (!this.#scheduled) queueMicrotask(() => this.note());
    this.#scheduled = true;
  }

  note(): void {
    this.#scheduled = false;
    if (this.doubt?.refused !== true) this.#sentinel?.note(this.#reached());
  }

  #reached(): Reached {
    const { seq, hash } = this.#head;
    return { store: this.#store, commits: this.#commits, head: { seq, hash } };
  }

  #bind({ seq, hash }: Head, commits: number, cut: number): void {
    if (this.doubt?.refused === true) return;
    const stream = this.#stream === '' ? hashOfLine(this.#sqlite, 1) : this.#stream;
    bind(this.#sqlite, this.#signer, { stream, commits, seq, hash, cut: cut === 0 ? undefined : cut });
  }
}
