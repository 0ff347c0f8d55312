/**
 * How far a store came, and whether somebody put it back.
 *
 * Promise: a store that is older than it was (a backup put in its place, a copy of its folder, a snapshot of the machine's disk
 * without the sentinel) is known for it at its opening, and counts a new era until a person has looked. Whoever was granted
 * something with a limit in an earlier era waits for that: uses and revocations may be among what is missing.
 */

import { systemRandom } from '../drivers/random.ts';
import type { Sentinel } from '../drivers/sentinel.ts';
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

/** Counts the opening, and looks at what the sentinel knows. */
export function openHistory(sqlite: Sqlite, sentinel: Sentinel): History {
  const [row] = sqlite.all('SELECT store, commits, watched, era, trusted FROM history');
  let store = String(row?.['store']);
  let commits = Number(row?.['commits']);
  let era: Era = { now: Number(row?.['era']), trusted: Number(row?.['trusted']) };
  const seen = sentinel.read();

  if (store === '') store = Buffer.from(systemRandom(16)).toString('hex');
  else if (row?.['watched'] === 1) {
    const known = seen?.store === store ? seen.commits : undefined;
    if (known === undefined || known > commits) {
      era = { ...era, now: era.now + 1, missing: known === undefined ? 'unknown' : known - commits };
      // Put back a second time, it is to be known again.
      commits = Math.max(commits, known ?? 0);
    }
  }
  commits += 1;
  let waits = false;
  const note = (): void => {
    waits = false;
    sentinel.note({ store, commits });
  };
  // First beside it: a store that says it is watched must find its sentinel, whatever happens in between.
  const watched = sentinel.begin({ store, commits: Math.max(0, commits - 1) });
  sqlite.transaction(() => {
    sqlite.run('UPDATE store SET epoch = epoch + 1');
    sqlite.run(
      'UPDATE history SET store = ?, commits = ?, watched = ?, era = ?',
      store,
      commits,
      watched ? 1 : 0,
      era.now,
    );
  });
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
