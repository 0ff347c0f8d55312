/**
 * Which hosts use a store: the one that has it, and those that wait for it. And how far the standbys of its server are.
 *
 * The server itself knows: the session of a host has the host's name and an advisory lock. So a host that is gone leaves
 * nothing behind, a standby writes nothing, and reading this changes nothing.
 */
import type { Connection, Row } from './drivers/connection.ts';
import { lockClass, type Versions } from './schema.ts';

/** The hosts of a store, by the clock of its database. */
export interface StoreHosts {
  /** How often the store was opened. */
  readonly epoch: number;
  /** The version of its tables, and the oldest version of a program that may serve them. */
  readonly versions: Versions;
  /** The host whose lease runs. Undefined if no lease does. */
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
  /** The session that has the store is there. */
  readonly connected: boolean;
}

/** A host that waits for a store. */
export interface WaitingHost {
  readonly name?: string;
  /** When it last looked whether the store is free, in ms before now. */
  readonly heardMs?: number;
}

/** What happens to a commit when the server is gone for good. */
export interface Replication {
  /**
   * `synchronous`: a commit that was reported is on a standby of the server, too. `asynchronous`: the last commits may be
   * lost. `none`: no standby of the server is connected.
   */
  readonly mode: 'synchronous' | 'asynchronous' | 'none';
  readonly standbys: readonly ServerStandby[];
  /** Standbys of which this user of the database may see nothing but that they are there. */
  readonly hidden: number;
}

/** A standby of the database server. */
export interface ServerStandby {
  /** As the server's administrator named it. */
  readonly name: string;
  /** As the server says it: `streaming`, `catchup`. */
  readonly state: string;
  /** As the server says it: `sync`, `quorum`, `potential`, `async`. */
  readonly sync: string;
  readonly unsentBytes: number;
  /** What is not on its disk. */
  readonly unflushedBytes: number;
  /** How long the last commit took to get onto its disk, in ms. Undefined if there was none lately. */
  readonly flushMs?: number;
}

/** Tables of the first version have no column `tables`. */
const LEASE = `
  SELECT s.epoch, s.version AS serves, coalesce((to_jsonb(s) ->> 'tables')::int, 1) AS tables, o.lock,
    extract(epoch FROM o.until - clock_timestamp())::float8 * 1000 AS left,
    current_setting('synchronous_standby_names') <> '' AS synchronous
  FROM store s, owner o`;

/** The sessions with a lock of this store. The server keeps both halves of a lock without a sign. */
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

/** A standby shares this lock. No opening has it: theirs are by chance, and below. */
const WAITS = 2 ** 31 - 1;

/** Says that the host of this session waits for the store, until the session ends or `waitsNoMore`. */
export async function waits(connection: Connection, schema: string): Promise<void> {
  await connection.query(`SELECT pg_try_advisory_lock_shared(${lockClass(schema)}, ${WAITS})`);
}

/** The host of this session has the store, or no longer wants it. */
export async function waitsNoMore(connection: Connection, schema: string): Promise<void> {
  await connection.query(`SELECT pg_advisory_unlock_shared(${lockClass(schema)}, ${WAITS})`);
}

/** Reads which hosts use the store, and how far the standbys of the server are. */
export async function hostsOf(connection: Connection, schema: string): Promise<StoreHosts> {
  const [lease] = await connection.query(LEASE);
  const found = await connection.query(sessions(schema));
  const waiting = found.filter(({ lock }) => Number(lock) === WAITS);
  // A standby tries the lock of a host whose session has ended, for a moment.
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

/** A standby may have come further since the server's own position was read. */
const atLeast0 = (value: unknown): number => Math.max(0, Math.round(Number(value)));

/** Anybody who may connect to the database chooses such a name. */
const plain = (text: unknown): string => String(text ?? '').replaceAll(/[^\w.:-]/g, '?');

/** The name that a host gave itself. */
function named(session: Row | undefined): { readonly name?: string } {
  const name = /^hob ([\w.-]{1,40})$/.exec(String(session?.['name'] ?? ''))?.[1];
  return name === undefined ? {} : { name };
}
