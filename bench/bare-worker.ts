/**
 * The cost of durability without Hob: SQLite in a worker thread commits one row and one line with the hash
 * of the line before.
 *
 * Its settings are those of `drivers/sqlite.ts`, since they decide durability and speed: exclusive, WAL,
 * `synchronous=FULL`. It has no epochs, references, signatures or checks. With `grouped` one commit takes
 * all requests that have arrived; otherwise each request is a commit.
 */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

export interface Asked {
  readonly id: number;
  readonly key: string;
  readonly value: string;
}

const port = parentPort as MessagePort;
const { folder, grouped } = workerData as { readonly folder: string; readonly grouped: boolean };
const database = new DatabaseSync(join(folder, 'bare.db'));
database.exec('PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
database.exec(`CREATE TABLE cell (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE line (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT`);
const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
const putCell = database.prepare(
  'INSERT INTO cell VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
);
const putLine = database.prepare('INSERT INTO line VALUES (?, ?)');

let seq = 0;
let prev = '';
function append({ key, value }: Asked): void {
  seq += 1;
  const bytes = Buffer.from(
    JSON.stringify({ v: 1, seq, t: Date.now(), k: 'call', session: 'bench', method: 'next', key, prev }),
  );
  prev = hash('sha256', bytes, 'base64url');
  putCell.run(key, value);
  putLine.run(seq, bytes);
}

port.on('message', (first: Asked | 'close') => {
  if (first === 'close') {
    database.close();
    return port.close();
  }
  const group = [first];
  for (;;) {
    const more = grouped ? receiveMessageOnPort(port) : undefined;
    if (more === undefined) break;
    group.push(more.message as Asked);
  }
  begin.run();
  for (const asked of group) append(asked);
  commit.run();
  port.postMessage(group.map(({ id }) => id));
});
