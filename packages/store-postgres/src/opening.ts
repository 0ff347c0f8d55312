/**
 * One opening of the store: who may have it, what was found, and what the opening writes.
 *
 * Promise: a store has one opening at a time. The newest one fences all others: their commits change nothing. It begins
 * when the connection of the one before has ended, or when the lease of that one has run out by the clock of the database.
 */

import {
  type Doubt,
  type Era,
  type Head,
  History,
  lineHash,
  type OpeningMarks,
  type Reached,
  type Sentinel,
  type Signer,
  type StoreFacts,
  seenOf,
  signerFrom,
} from '@hob/vat/engine';
import { CapError } from '@hob/vat/errors';
import type { Connection, Row } from './drivers/connection.ts';
import { hasStore, lockClass, makeStore } from './schema.ts';

export interface OpeningOptions {
  readonly schema: string;
  /** How long an opening that nobody hears of keeps the store, in ms. */
  readonly leaseMs: number;
  readonly sentinel: Sentinel | undefined;
  /** Nothing is written, and somebody else may have the store. */
  readonly look: boolean;
}

export interface Opening {
  readonly epoch: number;
  readonly head: Head;
  readonly era: Era;
  readonly doubt: Doubt | undefined;
  readonly history: History;
  readonly signer: Signer;
  readonly key: string;
}

/** What this process knows of the store from its opening before. */
export interface Before {
  readonly epoch: number;
  readonly reached: Reached;
}

const held = (): CapError =>
  new CapError('unavailable', 'another process uses this store: stop that host first, or give another schema');
const goneFrom = (): CapError =>
  new CapError('unavailable', 'another host has taken this store over: stop this one, or start it again');

/**
 * Opens the store, in one transaction. Returns undefined while somebody else has it, and when that lease ends. Errors:
 * `invalid` (no store to look at, a newer one, an emptied one), `unavailable` (another host has taken it over).
 */
export async function open(
  connection: Connection,
  options: OpeningOptions,
  before: Before | undefined,
): Promise<Opening | Held> {
  await connection.query('BEGIN');
  try {
    const opened = await openIn(connection, options, before);
    await connection.query(opened instanceof Held ? 'ROLLBACK' : 'COMMIT');
    if (!(opened instanceof Held) && !options.look) opened.history.begun();
    return opened;
  } catch (error) {
    if (!connection.lost) await connection.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** Somebody else has the store. */
export class Held {
  /** When the lease ends, as text of the database. A lease that is renewed has another end. */
  readonly until: string;
  constructor(until: string) {
    this.until = until;
  }
  get error(): CapError {
    return held();
  }
}

async function openIn(connection: Connection, options: OpeningOptions, before: Before | undefined) {
  const { schema, sentinel, look } = options;
  // Openings come one after the other.
  await connection.query(`SELECT pg_advisory_xact_lock(${lockClass(schema)}, 0)`);
  if (!(await hasStore(connection))) {
    if (look) throw new CapError('invalid', 'there is no store in this schema: give another');
    const emptied = sentinel?.storeHere();
    if (emptied !== undefined)
      throw new CapError(
        'invalid',
        `this store was emptied: its sentinel saw ${emptied.commits} commits in this schema, and none of them is here. Restore a backup, or give another schema`,
      );
    await makeStore(connection, schema);
  }
  const taken = look ? undefined : await takenBy(connection, options, before);
  if (taken !== undefined) return taken;
  // Waits for a commit of the opening before that is under way.
  const [row] = await connection.query(`SELECT * FROM store ${look ? '' : 'FOR UPDATE'}`);
  const facts = await factsOf(connection, row as Row);
  const key = String(row?.['key']);
  const signer = signerFrom(key);
  const seen = latest(seenOf({ facts, sentinel }), before?.reached);
  const seenHash = await hashOfLine(connection, seen?.head?.seq ?? 0);
  const hashOf = (): string => seenHash;
  const history = new History({ facts, signer, sentinel, seen, backup: false, hashOf });
  const epoch = Number(row?.['epoch']) + (look ? 0 : 1);
  if (!look) await begin(connection, options, epoch, history.begin());
  const mark = (row?.['mark'] as Uint8Array | null) ?? undefined;
  const head: Head = Object.freeze({ ...facts.head, mark });
  return { epoch, head, era: history.era, doubt: history.doubt, history, signer, key };
}

/** Who has the store, if that is neither this process nor one that is gone. */
async function takenBy(
  connection: Connection,
  { schema }: OpeningOptions,
  before: Before | undefined,
): Promise<Held | undefined> {
  const [owner] = await connection.query('SELECT epoch, until::text, until > clock_timestamp() AS live FROM owner');
  const epoch = Number(owner?.['epoch']);
  if (before !== undefined) {
    if (epoch !== before.epoch) throw goneFrom();
    return undefined;
  }
  if (owner?.['live'] !== true) return undefined;
  // The lock of an opening ends with its connection. So a host that was killed is known to be gone at once.
  const [lock] = await connection.query(`SELECT pg_try_advisory_xact_lock(${lockClass(schema)}, $1::int) AS free`, [
    epoch,
  ]);
  return lock?.['free'] === true ? undefined : new Held(String(owner?.['until']));
}

/** `before` is of this process, the other of a file that may have been put back or be behind. */
function latest(one: Reached | undefined, before: Reached | undefined): Reached | undefined {
  return before !== undefined && before.commits >= (one?.commits ?? 0) ? before : one;
}

async function factsOf(connection: Connection, row: Row): Promise<StoreFacts> {
  const [ends] = await connection.query(
    'SELECT (SELECT max(seq) FROM line) AS last, (SELECT min(seq) FROM line WHERE seq > 1) AS second',
  );
  const number = (value: unknown): number => Number(value ?? 0);
  const last = number(ends?.['last']);
  return {
    store: String(row['name']),
    commits: number(row['commits']),
    watched: number(row['watched']),
    era: { now: number(row['era']), trusted: number(row['trusted']) },
    isBound: true,
    bound: (row['bound'] as string | null) ?? undefined,
    head: { seq: number(row['seq']), hash: String(row['hash']) },
    ledger: {
      firstHash: await hashOfLine(connection, 1),
      last,
      lastHash: await hashOfLine(connection, last),
      second: number(ends?.['second']),
    },
  };
}

async function hashOfLine(connection: Connection, seq: number): Promise<string> {
  const [row] = await connection.query('SELECT bytes FROM line WHERE seq = $1::bigint', [seq]);
  return lineHash(row?.['bytes'] as Uint8Array | undefined);
}

async function begin(
  connection: Connection,
  options: OpeningOptions,
  epoch: number,
  marks: OpeningMarks | undefined,
): Promise<void> {
  await connection.query('UPDATE store SET epoch = $1::bigint', [epoch]);
  if (marks !== undefined) {
    const { store, commits, watched, era, bound } = marks;
    await connection.query(
      `UPDATE store SET name = $1, commits = $2::bigint, watched = $3::int, era = $4::int, bound = coalesce($5, bound)`,
      [store, commits, watched, era, bound ?? null],
    );
  }
  await connection.query('UPDATE owner SET epoch = $1::bigint', [epoch]);
  await renew(connection, epoch, options.leaseMs);
  await hold(connection, options.schema, epoch);
}

/** Takes the lock of this opening, which the session keeps. */
export async function hold(connection: Connection, schema: string, epoch: number): Promise<void> {
  await connection.query(`SELECT pg_try_advisory_lock(${lockClass(schema)}, $1::int)`, [epoch]);
}

/** Moves the end of the lease. Returns false if another opening has the store. */
export async function renew(connection: Connection, epoch: number, leaseMs: number): Promise<boolean> {
  const rows = await connection.query(
    `UPDATE owner SET until = clock_timestamp() + $2::int * interval '1 millisecond' WHERE epoch = $1::bigint RETURNING 1 AS ours`,
    [epoch, leaseMs],
  );
  return rows.length === 1;
}
