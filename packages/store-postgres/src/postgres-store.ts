/**
 * A store in a schema of a PostgreSQL database, for `openVats` and `openHost`.
 *
 * Promise: the same as that of `openStore` for a folder. A thread of its own speaks to the server. Options that are not
 * given are not taken from the environment.
 */
import { CapError, type Store } from '@hob/vat';
import { diskIn, signerFrom, startThread, storeOn, type Thread } from '@hob/vat/engine';
import { takeOptions } from '@hob/vat/forwarder';
import { serverAt } from './address.ts';
import type { Given } from './drivers/store-thread.ts';
import { STORE_THREAD } from './drivers/thread-place.ts';
import type { StoreHosts } from './hosts.ts';
import type { LineTime } from './reads.ts';
import { STEPS } from './schema.ts';

/** Where the store lies, and how it is used. */
export interface PostgresStoreOptions {
  /**
   * `postgres://user@host:port/database`, or `postgres:///database?host=/run/postgresql&user=hob` for a Unix socket. A
   * server on another machine is reached over TLS, and its certificate must be valid for `host`.
   */
  readonly url: string;
  /** Default: the one in `url`, or none. The environment is not read. */
  readonly password?: string;
  /** The certificate of the private authority of the server (PEM). Default: the authorities that Node trusts. */
  readonly ca?: string;
  /** The schema of the store's tables. It is created if it is missing. Default: `hob`. */
  readonly schema?: string;
  /** A folder of this machine that records how far the store has come: see `openStore`. */
  readonly sentinel?: string;
  /** Only reads, for example to verify or export the ledger. A host may use the store meanwhile. */
  readonly look?: boolean;
  /** How long a host keeps the store after it last renewed its lease, in ms. Default: 10,000. */
  readonly leaseMs?: number;
  /** Waits while another host has the store, and then takes it. Default: `unavailable` if another host keeps it. */
  readonly standby?: boolean;
  /**
   * Several machines open this store in turn, each with its own sentinel. A machine that has none yet starts one.
   * Default: a store whose sentinel is missing counts as put back.
   */
  readonly shared?: boolean;
  /** The name of this host in `storeHosts`: up to 40 letters, digits and `. _ -`. Default: it has no name. */
  readonly name?: string;
}

const threads = new WeakMap<Store, Thread>();

/**
 * Opens a store. Errors: `invalid` (an option, the server's configuration, a newer store, one that was emptied),
 * `unavailable` (the server does not answer, or another process has the store).
 */
export async function postgresStore(given: PostgresStoreOptions): Promise<Store> {
  const {
    url,
    password,
    ca,
    schema = 'hob',
    sentinel,
    look = false,
    leaseMs = 10_000,
    standby = false,
    shared = false,
    name,
  } = takeOptions(given, 'postgresStore', {
    ...{
      url: true,
      password: true,
      ca: true,
      schema: true,
      sentinel: true,
      look: true,
      leaseMs: true,
      standby: true,
      shared: true,
      name: true,
    },
  });
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith('pg_'))
    throw new CapError('invalid', 'schema is a name of small letters, digits and _, and does not begin with pg_');
  if (!(Number.isInteger(leaseMs) && leaseMs >= 1000 && leaseMs <= 3_600_000))
    throw new CapError('invalid', 'leaseMs is a number of ms, from 1000 to an hour');
  if (name !== undefined && !(typeof name === 'string' && /^[\w.-]{1,40}$/.test(name)))
    throw new CapError('invalid', 'name has 1 to 40 letters, digits and . _ -');
  const at = serverAt(url, { ...(password !== undefined && { password }), ...(ca !== undefined && { ca }) });
  const parts: Given = {
    server: { ...at, name },
    sentinel,
    options: { schema, leaseMs, look, standby, shared, steps: STEPS },
  };
  const thread = await startThread(STORE_THREAD, parts);
  const store = storeOn(await diskIn(thread, () => signerFrom(thread.ask('key') as string)));
  threads.set(store, thread);
  return store;
}

/**
 * Returns which hosts use a store that `postgresStore` opened, how long the lease runs, and how far the standbys of
 * the server are. Errors: `invalid` (another kind of store), `unavailable` (no answer, or the store is closed).
 */
export const storeHosts = async (store: Store): Promise<StoreHosts> => (await asked(store, 'hosts')) as StoreHosts;

/**
 * Returns the times at which the server got the lines of the ledger, by its clock: at most `limit` lines from `from`
 * on. If a commit begins after another one has ended, in any store of the server, its lines have later times. This
 * does not hold if the clock of the server is set back. Returns none if the tables are of an earlier version. Errors:
 * those of `storeHosts`.
 */
export const lineTimes = async (store: Store, from: number, limit: number): Promise<readonly LineTime[]> =>
  (await asked(store, 'times', from, limit)) as readonly LineTime[];

async function asked(store: Store, method: string, ...args: readonly unknown[]): Promise<unknown> {
  const thread = threads.get(store);
  if (thread === undefined) throw new CapError('invalid', 'the store was not opened by postgresStore');
  return await new Promise((resolve, reject) =>
    thread.later(method, args, (error, answer) => (error === undefined ? resolve(answer) : reject(error))),
  );
}
