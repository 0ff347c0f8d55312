/**
 * How far a store came, and whether somebody put it back.
 *
 * Promise: a store that is older than it was (a backup, a copy of its folder, a snapshot without the sentinel) is known for it when it
 * is opened, and so is one whose sentinel cannot be found. It then counts a new era until a person has looked. What was granted with a
 * limit in an earlier era waits for that: uses and revocations may be among what is missing.
 */
import { systemRandom } from '../drivers/random.ts';
import type { OldSentinel, Sentinel } from '../drivers/sentinel.ts';
import type { Sqlite } from '../drivers/sqlite.ts';
import type { Era } from './rows.ts';

export interface History {
  readonly era: Era;
  trusted(): void;
  /** In the transaction of a commit. */
  count(): void;
  /** It is durable. */
  counted(): void;
  /** Tells the sentinel now. */
  note(): void;
}

export interface Opening {
  readonly sqlite: Sqlite;
  /** Undefined where no folder was named for it. */
  readonly sentinel: Sentinel | undefined;
  readonly old: OldSentinel;
  /** The store was made of a backup, and this is its first opening. */
  readonly backup: boolean;
  /** Runs in the transaction of the opening. */
  readonly also: () => void;
}

/** Where the sentinel of a store is: nowhere, beside its folder (up to 0.1), or in a folder that the operator named. */
const NOWHERE = 0;
const BESIDE = 1;
const NAMED = 2;

/** Counts the opening, and compares it with what the sentinel knows. */
export function openHistory({ sqlite, sentinel, old, backup, also }: Opening): History {
  const [row] = sqlite.all('SELECT store, commits, watched, era, trusted FROM history');
  const watched = Number(row?.['watched']);
  let store = String(row?.['store']);
  let commits = Number(row?.['commits']);
  let era: Era = { now: Number(row?.['era']), trusted: Number(row?.['trusted']) };
  const isNew = store === '';
  if (isNew) store = Buffer.from(systemRandom(16)).toString('hex');

  const known = (sentinel?.read(store) ?? (watched === BESIDE ? old.read(store) : undefined))?.commits;
  const older = known !== undefined && known > commits;
  const lost = known === undefined && watched !== NOWHERE;
  if (!isNew && (backup || older || lost)) {
    const why = older ? 'older' : backup ? 'backup' : sentinel === undefined ? 'unnamed' : 'lost';
    era = { ...era, now: era.now + 1, missing: older ? known - commits : 'unknown', why };
    // If it is put back a second time, that is to be known again.
    commits = Math.max(commits, known ?? 0);
  }
  commits += 1;
  let waits = false;
  const note = (): void => {
    waits = false;
    sentinel?.note({ store, commits });
  };
  // Before the store says that it is watched: then it must find its sentinel, whatever happens in between.
  sentinel?.begin({ store, commits: Math.max(0, commits - 1) });
  sqlite.transaction(() => {
    also();
    sqlite.run('UPDATE store SET epoch = epoch + 1');
    sqlite.run(
      'UPDATE history SET store = ?, commits = ?, watched = ?, era = ?',
      store,
      commits,
      sentinel !== undefined || watched === NAMED ? NAMED : NOWHERE,
      era.now,
    );
  });
  old.remove(store);
  note();
  return {
    get era(): Era {
      return era;
    },
    trusted() {
      era = { now: era.now, trusted: era.now };
    },
    count() {
      sqlite.run('UPDATE history SET commits = ?', commits + 1);
    },
    counted() {
      commits += 1;
      // After the answer has gone out: nobody waits for this.
      if (!waits) queueMicrotask(note);
      waits = true;
    },
    note,
  };
}
