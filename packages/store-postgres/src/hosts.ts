/**
 * Reads which host has a store, which hosts wait for it, and how far the standbys of its server are.
 *
 * The server knows the hosts: the session of each has the host's name and an advisory lock. Both end with the session,
 * so a host that is gone is not listed. A standby writes nothing, and neither does a reader.
 */
import type { Connection, Row } from './drivers/connection.ts';
import { lockClass, type Versions } from './schema.ts';

/** The hosts of a store. Times are measured by the clock of its database. */
export interface StoreHosts {
  /** How often the store was opened. */
  readonly epoch: number;
  /** The version of its tables, and the oldest version of a program that may serve them. */
  readonly versions: Versions;
  /** The host that has the lease. Undefined if no lease is running. */
  readonly holder?: Holder;
  /** The hosts that wait for the store. */
  readonly standbys: readonly WaitingHost[];
  readonly replication: Replication;
}

/** The host that has a store. */
export interface Holder {
  /** Undefined if it is not connected, or if this user of the database may not see it. */
  readonly name?: string;
  /** How long its lease runs unless it is renewed, in ms. */
  readonly leaseMs: number;
  /** The server has a session that holds the lock of the store. */
  readonly connected: boolean;
}

/** A host that waits for a store. */
export interface WaitingHost {
  readonly name?: string;
  /** How long ago it last looked whether the store is free, in ms. */
  readonly heardMs?: number;
}

/** Whether a commit survives the loss of the server, and how far the standbys of the server have come. */
export interface Replication {
  /**
   * `synchronous`: a commit that was reported is also on a standby of the server. `asynchronous`: the last commits may
   * be lost. `none`: no standby of the server is connected.
   */
  readonly mode: 'synchronous' | 'asynchronous' | 'none';
  readonly standbys: readonly ServerStandby[];
  /** The number of standbys whose state this user of the database may not see. */
  readonly hidden: number;
}

/** A standby of the database server. */
export interface ServerStandby {
  /** As the server's administrator named it. */
  readonly name: string;
  /** In the server's words: `streaming`, `catchup` and others. */
  readonly state: string;
  /** In the server's words: `sync`, `quorum`, `potential` or `async`. */
  readonly sync: string;
  readonly unsentBytes: number;
  /** Bytes of the write-ahead log that the standby has not stored yet. */
  readonly unflushedBytes: number;
  /** How long the standby took to store the last commit, in ms. Undefined if there was none lately. */
  readonly flushMs?: number;
}

/** Tables of the first version have no column `tables`. */
const LEASE = `
  SELECT s.epoch, s.version AS serves, coalesce((to_jsonb(s) ->> 'tables')::int, 1) AS tables, o.lock,
    extract(epoch FROM o.until - clock_timestamp())::float8 * 1000 AS left,
    current_setting('synchronous_standby_names') <> '' AS synchronous
  FROM store s, owner o`;

/** The sessions with a lock of this store. `pg_locks` shows both halves of a lock as unsigned numbers. */
const sessions = (schema: string): string => `
  SELECT l.pid, l.objid::bigint AS lock, a.application_name AS name,
    extract(epoch FROM clock_timestamp() - a.state_change)::float8 * 1000 AS heard
  FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.classid::bigint = (${lockClass(schema)}::bigint & 4294967295)
  ORDER BY l.pid`;

const STANDBYS = `
  SELECT application_name AS name, state, sync_state AS sync,
    pg_wal_lsn_diff(pg_current_wal_lsn(), sent_lsn)::float8 AS unsent,
    pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn)::float8 AS unflushed,
    extract(epoch FROM flush_lag)::float8 * 1000 AS lag
  FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup' ORDER BY pid`;

/** All standbys share this lock. No opening has it: the number of an opening is random, and smaller. */
const WAITS = 2 ** 31 - 1;

/** Marks the host of this session as waiting, until the session ends or `waitsNoMore` is called. */
export async function waits(connection: Connection, schema: string): Promise<void> {
  await connection.query(`SELECT pg_try_advisory_lock_shared(${lockClass(schema)}, ${WAITS})`);
}

/** Removes the mark of `waits`: the host of this session has the store now. */
export async function waitsNoMore(connection: Connection, schema: string): Promise<void> {
  await connection.query(`SELECT pg_advisory_unlock_shared(${lockClass(schema)}, ${WAITS})`);
}

/** Reads which hosts use the store, and how far the standbys of the server are. */
export async function hostsOf(connection: Connection, schema: string): Promise<StoreHosts> {
  const [lease] = await connection.query(LEASE);
  const found = await connection.query(sessions(schema));
  const waiting = found.filter(({ lock }) => Number(lock) === WAITS);
  // A standby that tries to take the store holds the lock of an ended session for a moment.
  const isWaiting = ({ pid }: Row): boolean => waiting.some((each) => each['pid'] === pid);
  const session = found.find((each) => Number(each['lock']) === Number(lease?.['lock']) && !isWaiting(each));
  const leaseMs = Number(lease?.['left']);
  return {
    epoch: Number(lease?.['epoch']),
    versions: { tables: Number(lease?.['tables']), serves: Number(lease?.['serves']) },
    ...(leaseMs > 0 && {
      holder: { ...named(session), leaseMs: Math.round(leaseMs), connected: session !== undefined },
    }),
    standbys: waiting.map((each) => ({
      ...named(each),
      ...(each['heard'] !== null && { heardMs: atLeast0(each['heard']) }),
    })),
    replication: await replicationOf(connection, lease?.['synchronous'] === true),
  };
}

async function replicationOf(connection: Connection, isSynchronous: boolean): Promise<Replication> {
  const found = await connection.query(STANDBYS);
  const seen = found.filter(({ state }) => state !== null);
  const mode = isSynchronous ? 'synchronous' : found.length > 0 ? 'asynchronous' : 'none';
  return { mode, standbys: seen.map(standbyOf), hidden: found.length - seen.length };
}

const standbyOf = ({ name, state, sync, unsent, unflushed, lag }: Row): ServerStandby => ({
  ...{ name: plain(name), state: plain(state), sync: plain(sync) },
  ...{ unsentBytes: atLeast0(unsent), unflushedBytes: atLeast0(unflushed) },
  ...(lag !== null && { flushMs: atLeast0(lag) }),
});

/** Some differences can be negative: a standby may have moved on since the server's own position was read. */
const atLeast0 = (value: unknown): number => Math.max(0, Math.round(Number(value)));

/** Replaces odd characters: anybody who may connect to the database can choose such a name. */
const plain = (text: unknown): string => String(text ?? '').replaceAll(/[^\w.:-]/g, '?');

/** The name that a host gave itself. */
function named(session: Row | undefined): { readonly name?: string } {
  const name = /^hob ([\w.-]{1,40})$/.exec(String(session?.['name'] ?? ''))?.[1];
  return name === undefined ? {} : { name };
}
