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
import { boundCell, cutOf, doubtOf } from './bound.ts';
import type { OldSentinel, Reached, Sentinel } from './drivers/sentinel.ts';
import type { Head, LedgerLine } from './records.ts';
import type { Doubt, Era, StoreFacts } from './rows.ts';

/** The values that a commit writes in addition to lines and cells. */
export interface Marks {
  readonly commits: number;
  /** The text of the cell of `bound.ts`; undefined if it stays as it is. */
  readonly bound: string | undefined;
}

/** The values that an opening writes. */
export interface OpeningMarks extends Marks {
  readonly store: string;
  readonly watched: number;
  readonly era: number;
}

export interface Opening {
  readonly facts: StoreFacts;
  readonly signer: Signer;
  /** Undefined if no folder was given for it. */
  readonly sentinel: Sentinel | undefined;
  readonly old?: OldSentinel | undefined;
  /** How far the store has come, as far as is known apart from it: `seenOf`, or what this process wrote itself. */
  readonly seen: Reached | undefined;
  /** The store was made from a backup, and this is its first opening. */
  readonly backup: boolean;
  /** Returns the hash of a line as stored; '' if there is none. */
  readonly hashOf: (seq: number) => string;
}

/**
 * Where the sentinel is: nowhere, beside the folder of the store (up to 0.1), or in a folder that the
 * operator gave.
 */
const NOWHERE = 0;
const BESIDE = 1;
const NAMED = 2;

/** The state of a store as it was found at the opening. */
interface Found {
  readonly store: string;
  /** Including this opening. */
  readonly commits: number;
  readonly era: Era;
  readonly doubt: Doubt | undefined;
}

type Seer = Pick<Opening, 'sentinel' | 'old'> & { readonly facts: Pick<StoreFacts, 'store' | 'watched'> };

/** What the sentinel of a store has seen of it. */
export const seenOf = ({ facts, sentinel, old }: Seer): Reached | undefined =>
  sentinel?.read(facts.store) ?? (facts.watched === BESIDE ? old?.read(facts.store) : undefined);

function compare(opening: Opening): Found {
  const { facts, signer, sentinel, seen, backup, hashOf } = opening;
  let { store, commits, era } = facts;
  const isNew = store === '';
  if (isNew) store = Buffer.from(systemRandom(16)).toString('hex');

  const known = seen?.commits;
  const older = known !== undefined && known > commits;
  const lost = known === undefined && facts.watched !== NOWHERE;
  // If the sentinel has seen a last line, the store had the cell that names its last line.
  const isBound = facts.isBound || seen?.head !== undefined;
  let doubt = isNew || !isBound ? undefined : doubtOf(facts, signer);
  const other = older || doubt !== undefined ? undefined : otherLedger(facts.head, seen, hashOf);
  doubt ??= other;
  if (!isNew && (backup || older || lost || other !== undefined)) {
    const why = older ? 'older' : other ? 'ledger' : backup ? 'backup' : sentinel === undefined ? 'unnamed' : 'lost';
    era = { ...era, now: era.now + 1, missing: older ? known - commits : 'unknown', why };
    // So that it is noticed again if the store is put back a second time.
    commits = Math.max(commits, known ?? 0);
  }
  return { store, commits: commits + 1, era, doubt };
}

/**
 * The sentinel saw a line that is missing here or differs. Then another copy of this store was used, or
 * somebody wrote the ledger anew with its key.
 */
function otherLedger(head: Head, seen: Reached | undefined, hashOf: Opening['hashOf']): Doubt | undefined {
  const { seq, hash } = seen?.head ?? { seq: 0, hash: '' };
  if (seq === 0) return undefined;
  if (seq > head.seq)
    return { line: head.seq + 1, why: `it is missing: the sentinel of this store saw ${seq} lines`, refused: false };
  const here = hashOf(seq);
  if (here === hash) return undefined;
  if (here === '')
    return { line: seq, why: 'it was dropped, but the sentinel of this store saw none after it', refused: false };
  return { line: seq, why: 'it is not the line that the sentinel of this store saw', refused: false };
}

/**
 * Compares a store with its sentinel, and counts this opening and its commits in both.
 *
 * Who opens a store writes `begin()` in the transaction of the opening, calls `begun`, and for each commit writes `next`
 * and calls `counted`. Who only looks at a store calls none of them.
 */
export class History {
  readonly doubt: Doubt | undefined;
  readonly #signer: Signer;
  readonly #sentinel: Sentinel | undefined;
  readonly #old: OldSentinel | undefined;
  readonly #store: string;
  readonly #watched: number;
  /** The hash of line 1, and the number of the last dropped line. */
  #stream: string;
  #nextStream: string;
  #cutTo: number;
  #era: Era;
  #commits: number;
  #head: Head;
  /** An update of the sentinel is scheduled. */
  #scheduled = false;

  constructor(opening: Opening) {
    const { facts, signer, sentinel, old } = opening;
    const { store, commits, era, doubt } = compare(opening);
    this.#signer = signer;
    this.#sentinel = sentinel;
    this.#old = old;
    this.#store = store;
    this.#watched = facts.watched;
    this.#commits = commits;
    this.#era = era;
    this.doubt = doubt;
    this.#head = facts.head;
    this.#stream = facts.ledger.firstHash;
    this.#nextStream = this.#stream;
    this.#cutTo = cutOf(facts);
  }

  get era(): Era {
    return this.#era;
  }

  /**
   * What the opening writes. Undefined for a ledger in doubt: nothing is counted, because when its files are put right
   * they must be as they were.
   */
  begin(): OpeningMarks | undefined {
    if (this.doubt?.refused === true) return undefined;
    // The sentinel is written before the store says that it has one. So the store always finds it.
    this.#sentinel?.begin({ ...this.reached, commits: Math.max(0, this.#commits - 1) });
    return {
      store: this.#store,
      commits: this.#commits,
      watched: this.#sentinel !== undefined || this.#watched === NAMED ? NAMED : NOWHERE,
      era: this.#era.now,
      bound: this.#bound(this.#stream, this.#head, this.#commits, this.#cutTo),
    };
  }

  /** Called when the opening is durable. */
  begun(): void {
    if (this.doubt?.refused !== true) this.#old?.remove(this.#store);
    this.note();
  }

  trusted(): void {
    this.#era = { now: this.#era.now, trusted: this.#era.now };
  }

  /**
   * Called before the transaction of a commit that drops lines. The sentinel durably records a line that
   * stays. Otherwise a power cut could put the sentinel back to a line that is gone.
   */
  beforeCut(): void {
    this.#sentinel?.begin(this.reached);
  }

  /** What a commit writes that ends with `head`. If `cut` is not 0, it drops lines 2 to `cut`. */
  next(lines: readonly LedgerLine[], head: Head, cut: number): Marks {
    this.#nextStream = this.#stream || (lines.find(({ seq }) => seq === 1)?.hash ?? '');
    const commits = this.#commits + 1;
    return { commits, bound: this.#bound(this.#nextStream, head, commits, Math.max(cut, this.#cutTo)) };
  }

  /** Called when the commit is durable. */
  counted(to: Head, cut: number): void {
    this.#commits += 1;
    this.#stream = this.#nextStream;
    this.#head = to;
    this.#cutTo = Math.max(cut, this.#cutTo);
    // The result of the commit leaves first: nobody waits for the sentinel.
    if (!this.#scheduled) queueMicrotask(() => this.note());
    this.#scheduled = true;
  }

  /** Updates the sentinel now. */
  note(): void {
    this.#scheduled = false;
    if (this.doubt?.refused !== true) this.#sentinel?.note(this.reached);
  }

  /** How far the store has come. */
  get reached(): Reached {
    const { seq, hash } = this.#head;
    return { store: this.#store, commits: this.#commits, head: { seq, hash } };
  }

  #bound(stream: string, { seq, hash }: Head, commits: number, cut: number): string | undefined {
    if (this.doubt?.refused === true) return undefined;
    return boundCell(this.#signer, { stream, commits, seq, hash, cut: cut === 0 ? undefined : cut });
  }
}
