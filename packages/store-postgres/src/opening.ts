/**
 * Opens the store: decides whether this host may have it, compares it with its sentinel, and writes the new opening.
 *
 * Promise: a store has one opening at a time. The newest one fences all others: their commits change nothing. A new one
 * can begin when the session of the previous one has ended and did not come back. It can also begin when the lease of
 * the previous one has run out by the clock of the database.
 */

import {
  type Doubt,
  type Era,
  type Head,
  History,
  lineHash,
  type Reached,
  type Sentinel,
  type StoreFacts,
  seenOf,
  signerFrom,
} from '@hob/vat/engine';
import { CapError } from '@hob/vat/errors';
import type { Connection, Row } from './drivers/connection.ts';
import { randomNumber, randomText } from './drivers/random.ts';
import { bringForward, lockClass, makeStore, type Step, versionsOf } from './schema.ts';

export interface OpeningOptions {
  readonly schema: string;
  /** How long an opening keeps the store after it last renewed its lease, in ms. */
  readonly leaseMs: number;
  /** Waits while another host has the store. */
  readonly standby?: boolean;
  /** Several machines open it in turn, each with its own sentinel. */
  readonly shared?: boolean;
  readonly sentinel: Sentinel | undefined;
  /** Only reads. Another host may have the store. */
  readonly look: boolean;
  /** The versions of the tables. Tests give their own. */
  readonly steps: readonly Step[];
}

export interface Opening {
  readonly epoch: number;
  /** A random name. Two copies of the tables can reach the same epoch, but not the same name. */
  readonly opening: string;
  readonly head: Head;
  readonly era: Era;
  readonly doubt: Doubt | undefined;
  readonly history: History;
  readonly key: string;
}

/** The previous opening by this process. */
export interface Before {
  readonly opening: string;
  readonly reached: Reached;
}

/** Another host is taking the store just now. This can take long, because it may change the tables to its version. */
export const TAKING: unique symbol = Symbol('taking');

/** Another host has the store. */
export class Held {
  /** When the lease ends, as text of the database. It changes when the lease is renewed. */
  readonly until: string;
  /** The session of that host has ended. The host may be about to connect again. */
  readonly isFree: boolean;
  constructor(until: string, isFree: boolean) {
    this.until = until;
    this.isFree = isFree;
  }
}

/** This opening can commit nothing any more. */
export class TakenOver extends CapError {
  constructor() {
    super('unavailable', 'another host has taken this store over, or the database was put back: start this one again');
  }
}

interface Claim {
  readonly before: Before | undefined;
  /**
   * A lease, named by its end as text of the database. The store of the host with this lease may be taken before the
   * lease ends, if the session of that host has ended.
   */
  readonly freeLease: string | undefined;
}

/**
 * Opens the store, in one transaction. Returns `Held` or `TAKING` while another host has it. Errors: `invalid` (no
 * store to look at, a newer one, an emptied one), `unavailable` (another host has taken it over).
 */
export async function open(
  connection: Connection,
  options: OpeningOptions,
  claim: Claim,
): Promise<Opening | Held | typeof TAKING> {
  const { look } = options;
  // While a host uses the store, its sentinel moves on. Read it before the snapshot, or the store would seem put back.
  const seen = look ? await seenBefore(connection, options) : undefined;
  await connection.query(look ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN');
  try {
    const opened = look
      ? await found(connection, options, seen)
      : ((await heldBy(connection, options, claim)) ?? (await begin(connection, options, claim.before)));
    const isOurs = opened !== TAKING && !(opened instanceof Held);
    await connection.query(isOurs ? 'COMMIT' : 'ROLLBACK');
    if (isOurs && !look) opened.history.begun();
    return opened;
  } catch (error) {
    if (!connection.lost) await connection.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function seenBefore(connection: Connection, { sentinel, steps }: OpeningOptions): Promise<Reached | undefined> {
  if ((await versionsOf(connection, steps)) === undefined)
    throw new CapError('invalid', 'there is no store in this schema: give the schema of a store');
  const [row] = await connection.query('SELECT name FROM store');
  return sentinel?.read(String(row?.['name']));
}

/** Creates the store if it is missing. Returns undefined if this host may take it. */
async function heldBy(
  connection: Connection,
  { schema, sentinel, steps }: OpeningOptions,
  { before, freeLease }: Claim,
): Promise<Held | typeof TAKING | undefined> {
  // Only one opening runs at a time.
  if (!(await lock(connection, 'pg_try_advisory_xact_lock', schema, 0))) return TAKING;
  if ((await versionsOf(connection, steps)) === undefined) {
    const emptied = sentinel?.storeHere();
    if (emptied !== undefined)
      throw new CapError(
        'invalid',
        `this store was emptied: its sentinel saw ${emptied.commits} commits in this schema, and none of them is here. Restore a backup, or give another schema`,
      );
    await makeStore(connection, schema, steps);
  }
  const [owner] = await connection.query(
    'SELECT opening, lock, until::text, until > clock_timestamp() AS live FROM owner',
  );
  if (before !== undefined) {
    if (owner?.['opening'] !== before.opening) throw new TakenOver();
    return undefined;
  }
  if (owner?.['live'] !== true) return undefined;
  // The lock of an opening is released when its session ends.
  const isFree = await lock(connection, 'pg_try_advisory_xact_lock', schema, Number(owner['lock']));
  return isFree && freeLease === owner['until'] ? undefined : new Held(String(owner['until']), isFree);
}

/** Reads the store, and compares it with its sentinel. */
async function found(
  connection: Connection,
  { sentinel, shared = false }: OpeningOptions,
  latestReached: Reached | undefined,
): Promise<Opening> {
  const [row] = await connection.query('SELECT * FROM store');
  const read = await factsOf(connection, row as Row);
  // A machine that has never opened the store has no sentinel to lose.
  const facts = shared && latestReached === undefined ? { ...read, watched: 0 } : read;
  const key = String(row?.['key']);
  const signer = signerFrom(key);
  const seenSeq = latestReached?.head?.seq ?? 0;
  const seenHash = await hashOfLine(connection, seenSeq);
  // Another machine may have dropped that line. Then only the number of commits shows if the store was put back.
  const isDropped = shared && seenHash === '' && seenSeq <= facts.head.seq;
  const reached = latestReached && isDropped ? { ...latestReached, head: undefined } : latestReached;
  const hashOf = (): string => seenHash;
  const history = new History({ facts, signer, sentinel, seen: reached, backup: false, hashOf });
  const mark = (row?.['mark'] as Uint8Array | null) ?? undefined;
  const head: Head = Object.freeze({ ...facts.head, mark });
  const { era, doubt } = history;
  return { epoch: Number(row?.['epoch']), opening: '', head, era, doubt, history, key };
}

/** Increments the epoch, and takes the store. */
async function begin(connection: Connection, options: OpeningOptions, before: Before | undefined): Promise<Opening> {
  const { sentinel, steps } = options;
  // `FOR UPDATE` waits until a commit of the previous opening that is under way has ended.
  const [row] = await connection.query('SELECT name, watched FROM store FOR UPDATE');
  await bringForward(connection, steps, (await versionsOf(connection, steps))?.tables ?? 1);
  const facts = { store: String(row?.['name']), watched: Number(row?.['watched']) };
  const opened = await found(connection, options, latest(seenOf({ facts, sentinel }), before?.reached));
  const [epoch, opening] = [opened.epoch + 1, randomText()];
  const marks = opened.history.begin();
  await connection.query('UPDATE store SET epoch = $1::bigint, opening = $2', [epoch, opening]);
  if (marks !== undefined) {
    const { store, commits, watched, era, bound } = marks;
    await connection.query(
      `UPDATE store SET name = $1, commits = $2::bigint, watched = $3::int, era = $4::int, bound = coalesce($5, bound)`,
      [store, commits, watched, era, bound ?? null],
    );
  }
  await connection.query('UPDATE owner SET opening = $1', [opening]);
  await hold(connection, options, opening);
  return { ...opened, epoch, opening };
}

/** Returns the newer record. `before` is from the memory of this process. `one` is from a file, which may be older. */
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

type Lock = 'pg_try_advisory_xact_lock' | 'pg_try_advisory_lock';

async function lock(connection: Connection, how: Lock, schema: string, number: number): Promise<boolean> {
  const [row] = await connection.query(`SELECT ${how}(${lockClass(schema)}, $1::int) AS free`, [number]);
  return row?.['free'] === true;
}

/**
 * Takes the store for this session. The session gets a lock, which ends with it, and the lease. Each session has a lock
 * of its own, because the previous session may still hold one. Returns false if another opening has the store.
 */
export async function hold(connection: Connection, options: Leased, opening: string): Promise<boolean> {
  const number = randomNumber();
  await lock(connection, 'pg_try_advisory_lock', options.schema, number);
  const rows = await connection.query('UPDATE owner SET lock = $2::int WHERE opening = $1 RETURNING 1 AS ours', [
    opening,
    number,
  ]);
  return rows.length === 1 && (await renew(connection, options, opening));
}

type Leased = Pick<OpeningOptions, 'schema' | 'leaseMs'>;

/** Renews the lease: it ends `leaseMs` from now. Returns false if another opening has the store. */
export async function renew(
  connection: Connection,
  { leaseMs }: Pick<Leased, 'leaseMs'>,
  opening: string,
): Promise<boolean> {
  const rows = await connection.query(
    `UPDATE owner SET until = clock_timestamp() + $2::int * interval '1 millisecond' WHERE opening = $1 RETURNING 1 AS ours`,
    [opening, leaseMs],
  );
  return rows.length === 1;
}
