/**
 * How far a store came, and whether somebody put it back.
 *
 * Promise: a store that is older than it was (a backup, a copy of its folder, a snapshot without the sentinel) is known for it when it
 * is opened, and so is one whose sentinel cannot be found. It then counts a new era until a person has looked. What was granted with a
 * limit in an earlier era waits for that: uses and revocations may be among what is missing. A ledger that was put back alone, or cut,
 * is known by what the state says of it (`bound.ts`).
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
   * Before the transaction of a commit that drops lines: the sentinel says a line that stays, durably. Otherwise a power cut could put the
   * sentinel back to a line that is gone.
   */
  beforeCut(): void;
  /** In the transaction of a commit. Where `cut` is not 0 it dropped lines 2 to `cut`. */
  count(head: Head, cut: number): void;
  /** It is durable. */
  counted(head: Head, cut: number): void;
  /** Tells the sentinel now. */
  note(): void;
}

export interface Opening {
  readonly sqlite: Sqlite;
  readonly signer: Signer;
  /** Undefined where no folder was named for it. */
  readonly sentinel: Sentinel | undefined;
  readonly old: OldSentinel;
  /** The store was made of a backup, and this is its first opening. */
  readonly backup: boolean;
  /** Compares, and changes nothing: neither the store nor the sentinel. */
  readonly look: boolean;
  /** Runs in the transaction of the opening. */
  readonly also: () => void;
}

/** Where the sentinel of a store is: nowhere, beside its folder (up to 0.1), or in a folder that the operator named. */
const NOWHERE = 0;
const BESIDE = 1;
const NAMED = 2;

/** Counts the opening, and compares it with what the sentinel knows. */
export function openHistory({ sqlite, signer, sentinel, old, backup, look, also }: Opening): History {
  const [row] = sqlite.all('SELECT store, commits, watched, era, trusted, bound FROM history');
  const watched = Number(row?.['watched']);
  let store = String(row?.['store']);
  let commits = Number(row?.['commits']);
  let era: Era = { now: Number(row?.['era']), trusted: Number(row?.['trusted']) };
  const [stored] = sqlite.all('SELECT seq, hash FROM store');
  let head: Head = { seq: Number(stored?.['seq']), hash: String(stored?.['hash']) };
  let stream = hashOfLine(sqlite, 1);
  let cutTo = cutOf(sqlite);
  const isNew = store === '';
  if (isNew) store = Buffer.from(systemRandom(16)).toString('hex');

  const seen = sentinel?.read(store) ?? (watched === BESIDE ? old.read(store) : undefined);
  const known = seen?.commits;
  const older = known !== undefined && known > commits;
  const lost = known === undefined && watched !== NOWHERE;
  // A sentinel that has seen a last line has seen a store that says which line is its last.
  const isBound = row?.['bound'] === 1 || seen?.head !== undefined;
  let doubt = isNew || !isBound ? undefined : doubtOf(sqlite, signer, head, commits);
  const other = older || doubt !== undefined ? undefined : otherLedger(sqlite, head, seen);
  doubt ??= other;
  if (!isNew && (backup || older || lost || other !== undefined)) {
    const why = older ? 'older' : other ? 'ledger' : backup ? 'backup' : sentinel === undefined ? 'unnamed' : 'lost';
    era = { ...era, now: era.now + 1, missing: older ? known - commits : 'unknown', why };
    // If it is put back a second time, that is to be known again.
    commits = Math.max(commits, known ?? 0);
  }
  commits += 1;
  if (look) return { era, doubt, trusted() {}, beforeCut() {}, count() {}, counted() {}, note() {} };
  const bindTo = ({ seq, hash }: Head, after: number, cut: number): void => {
    if (doubt?.refused === true) return;
    const first = stream === '' ? hashOfLine(sqlite, 1) : stream;
    bind(sqlite, signer, { stream: first, commits: after, seq, hash, cut: cut === 0 ? undefined : cut });
  };
  const reached = (): Reached => ({ store, commits, head: { seq: head.seq, hash: head.hash } });
  let waits = false;
  const note = (): void => {
    waits = false;
    if (doubt?.refused !== true) sentinel?.note(reached());
  };
  // Of a ledger in doubt nothing is counted: a key that was put back must find all as it was.
  if (doubt?.refused === true) sqlite.run('UPDATE store SET epoch = epoch + 1');
  else {
    // Before the store says that it is watched: then it must find its sentinel, whatever happens in between.
    sentinel?.begin({ ...reached(), commits: Math.max(0, commits - 1) });
    sqlite.transaction(() => {
      also();
      sqlite.run('UPDATE store SET epoch = epoch + 1');
      sqlite.run(
        'UPDATE history SET store = ?, commits = ?, watched = ?, era = ?, bound = 1',
        store,
        commits,
        sentinel !== undefined || watched === NAMED ? NAMED : NOWHERE,
        era.now,
      );
      bindTo(head, commits, cutTo);
    });
    old.remove(store);
  }
  note();
  return {
    get era(): Era {
      return era;
    },
    doubt,
    trusted() {
      era = { now: era.now, trusted: era.now };
    },
    beforeCut() {
      sentinel?.begin(reached());
    },
    count(to, cut) {
      sqlite.run('UPDATE history SET commits = ?', commits + 1);
      bindTo(to, commits + 1, Math.max(cut, cutTo));
    },
    counted(to, cut) {
      commits += 1;
      head = to;
      cutTo = Math.max(cut, cutTo);
      if (stream === '') stream = hashOfLine(sqlite, 1);
      // After the answer has gone out: nobody waits for this.
      if (!waits) queueMicrotask(note);
      waits = true;
    },
    note,
  };
}

/** The sentinel saw a line that is not here, or not the same: another copy of this store was used, or its key was used to write it anew. */
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
