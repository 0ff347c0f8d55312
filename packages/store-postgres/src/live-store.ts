/**
 * A store that is open: commits and reads one after the other, over connections that may be lost.
 *
 * Promise: a commit that was reported is done, and one whose connection was lost is neither done twice nor forgotten: the
 * next connection asks the server how far the store has come. When the server has not answered for two seconds, the commit
 * fails, and no other is done until the store is opened again.
 */

import type { CommitOutcome, OpenedStore, Query, Sentinel, Write } from '@hob/vat/engine';
import { CapError } from '@hob/vat/errors';
import { COMMIT, cutOf, parametersOf } from './commit.ts';
import { type Connection, Lost, type Row, ServerError } from './drivers/connection.ts';
import { type Before, Held, hold, type Opening, type OpeningOptions, open, renew } from './opening.ts';
import { read } from './reads.ts';
import { fillReserve, releaseReserve, renewReserve } from './reserve.ts';

export interface Powers {
  /** A connection to a server that was checked. */
  connect(): Promise<Connection>;
  sentinel(): Sentinel | undefined;
  now(): number;
  sleep(ms: number): Promise<void>;
  /** Returns a function that ends it. */
  every(ms: number, run: () => void): () => void;
}

export type StoreOptions = Omit<OpeningOptions, 'sentinel'>;

/** A host that is cut off from its database lets nothing through after this time. */
const PATIENCE_MS = 2000;
const RETRY_MS = 50;

const silent = (): CapError =>
  new CapError('unavailable', 'the database server does not answer: check that it runs and can be reached');
const full = (error: unknown): boolean => error instanceof ServerError && error.state === '53100';

/** Opens the store. Errors: those of `open`, of the check of the server, and `unavailable` (nobody answers). */
export async function openLive(powers: Powers, options: StoreOptions): Promise<LiveStore> {
  const connection = await powers.connect().catch((error: unknown) => {
    throw error instanceof Lost ? silent() : error;
  });
  try {
    const sentinel = powers.sentinel();
    const opening = await claim(powers, connection, { ...options, sentinel });
    return new LiveStore(powers, options, { connection, opening, sentinel });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Waits for the end of a lease that nobody renews, for the time of our own and a second. */
async function claim(
  powers: Powers,
  connection: Connection,
  options: OpeningOptions,
  before?: Before,
): Promise<Opening> {
  const latest = powers.now() + options.leaseMs + 1000;
  let until: string | undefined;
  for (;;) {
    const opened = await open(connection, options, before);
    if (!(opened instanceof Held)) return opened;
    if ((until !== undefined && opened.until !== until) || powers.now() > latest) throw opened.error;
    until = opened.until;
    await powers.sleep(RETRY_MS);
  }
}

interface Parts {
  readonly connection: Connection;
  readonly opening: Opening;
  readonly sentinel: Sentinel | undefined;
}

class LiveStore {
  readonly #powers: Powers;
  readonly #options: StoreOptions;
  #connection: Connection;
  #opening: Opening;
  #sentinel: Sentinel | undefined;
  #state: 'open' | 'full' | 'failed' = 'open';
  /** Commits of this opening. */
  #done = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #stopRenewing: () => void;

  constructor(powers: Powers, options: StoreOptions, { connection, opening, sentinel }: Parts) {
    this.#powers = powers;
    this.#options = options;
    this.#connection = connection;
    this.#opening = opening;
    this.#sentinel = sentinel;
    const renews = (): void => void this.#inOrder(() => this.#renew()).catch(() => {});
    this.#stopRenewing = options.look ? () => {} : powers.every(options.leaseMs / 3, renews);
    if (!options.look) void this.#inOrder(() => fillReserve(this.#connection)).catch(() => {});
  }

  get opened(): OpenedStore {
    const { epoch, head, era, doubt } = this.#opening;
    return { epoch, head, era, doubt };
  }

  /** The key that signs the ledger. */
  get key(): string {
    return this.#opening.key;
  }

  write(write: Write): Promise<CommitOutcome> {
    return this.#inOrder(() => this.#write(write));
  }

  read(...query: Query): Promise<unknown> {
    return this.#inOrder(() => this.#ask((connection) => read(connection, query)));
  }

  /** Lets the server use the room of deleted data again. */
  scrub(): Promise<void> {
    return this.#inOrder(() =>
      this.#ask(async (connection) => void (await connection.query('VACUUM line, args, cell'))),
    );
  }

  refill(): Promise<boolean> {
    return this.#inOrder(async () => {
      if (this.#state === 'full' && (await this.#ask(renewReserve))) this.#state = 'open';
      return this.#state === 'open';
    });
  }

  trust(): Promise<void> {
    return this.#inOrder(async () => {
      const { epoch, history } = this.#opening;
      const ours = 'UPDATE store SET trusted = era WHERE epoch = $1::bigint';
      await this.#ask((connection) => connection.query(ours, [epoch]));
      history.trusted();
      this.#opening = { ...this.#opening, era: history.era };
    });
  }

  /** Opens the store again after a failure. */
  reopen(): Promise<OpenedStore> {
    return this.#inOrder(async () => {
      const { epoch, history } = this.#opening;
      const connection = this.#connection.lost ? await this.#connect() : this.#connection;
      this.#connection = connection;
      this.#sentinel?.close();
      this.#sentinel = this.#powers.sentinel();
      const options = { ...this.#options, sentinel: this.#sentinel };
      this.#opening = await claim(this.#powers, connection, options, { epoch, reached: history.reached });
      this.#state = 'open';
      this.#done = 0;
      return this.opened;
    });
  }

  async close(): Promise<void> {
    this.#stopRenewing();
    await this.#inOrder(async () => {
      const { epoch, history } = this.#opening;
      if (!this.#options.look) history.note();
      this.#sentinel?.close();
      if (!this.#options.look && !this.#connection.lost) await renew(this.#connection, epoch, 0).catch(() => {});
      await this.#connection.close();
    });
  }

  #inOrder<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result.catch((error: unknown) => {
      throw error instanceof CapError ? error : silent();
    });
  }

  // ---- commits --------------------------------------------------------------------------------------------

  async #write(write: Write): Promise<CommitOutcome> {
    const outcome = (status: CommitOutcome['status']): CommitOutcome => ({
      status,
      done: this.#done,
      onlyEndings: this.#state === 'full',
    });
    if (this.#state === 'failed' || this.#options.look) return outcome('failed');
    if (write.follows !== this.#done) return outcome('stale');
    if (this.#state === 'full' && !write.ends) return outcome('full');
    try {
      await this.#append(write);
    } catch (error) {
      this.#state = full(error) ? 'full' : 'failed';
      return outcome(this.#state);
    }
    this.#done += 1;
    return outcome('done');
  }

  async #append(write: Write): Promise<void> {
    try {
      await this.#commit(write);
    } catch (error) {
      if (!full(error) || !write.ends) throw error;
      // From now on only such commits are done, because there is no room for others.
      this.#state = 'full';
      if (!(await this.#ask(releaseReserve))) throw error;
      await this.#commit(write);
    }
  }

  async #commit({ epoch, lines, head, cells }: Write): Promise<void> {
    const { history } = this.#opening;
    const cut = cutOf(lines);
    if (cut > 0) history.beforeCut();
    const marks = history.next(lines, head, cut);
    const parameters = parametersOf({ epoch, lines, head, cells, marks, cut });
    await this.#ask(async (connection) => {
      const [row] = await connection.query(COMMIT, parameters);
      if (row?.['done'] === 1) return;
      // It was done before the connection was lost, or another opening has the store.
      const now = await storedBy(connection);
      const isDone =
        Number(now['commits']) === marks.commits && now['hash'] === head.hash && Number(now['epoch']) === epoch;
      if (!isDone) throw new CapError('unavailable', 'another host has taken this store over: stop this one');
    });
    history.counted(head, cut);
  }

  async #renew(): Promise<void> {
    const { epoch } = this.#opening;
    const { schema, leaseMs } = this.#options;
    const ours = await this.#ask(async (connection) => {
      await hold(connection, schema, epoch);
      return renew(connection, epoch, leaseMs);
    });
    if (!ours) this.#state = 'failed';
  }

  // ---- connections ----------------------------------------------------------------------------------------

  /** Asks the server, again over a new connection if one was lost. Throws `Lost` when it has not answered for two seconds. */
  async #ask<T>(ask: (connection: Connection) => Promise<T>): Promise<T> {
    for (let isFirst = true; ; isFirst = false) {
      if (this.#connection.lost) this.#connection = await this.#connectAgain();
      try {
        // A server that answers at a second connection may be slow.
        return await ask(isFirst ? limited(this.#connection, PATIENCE_MS) : this.#connection);
      } catch (error) {
        if (!(error instanceof Lost) || !isFirst) throw error;
      }
    }
  }

  async #connectAgain(): Promise<Connection> {
    const connection = await this.#connect();
    try {
      const { epoch, history } = this.#opening;
      const row = await storedBy(connection);
      // A standby took over that had not seen all commits, or a backup was put there.
      if (Number(row['epoch']) !== epoch || Number(row['commits']) < history.reached.commits)
        throw new CapError('unavailable', 'the database was put back to an earlier state: start the host again');
      if (!this.#options.look) await hold(connection, this.#options.schema, epoch);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  async #connect(): Promise<Connection> {
    const { now, sleep, connect } = this.#powers;
    const until = now() + PATIENCE_MS;
    for (;;) {
      try {
        return await connect();
      } catch (error) {
        if (!(error instanceof Lost) || now() >= until) throw error;
        await sleep(RETRY_MS);
      }
    }
  }
}

async function storedBy(connection: Connection): Promise<Row> {
  const [row] = await connection.query('SELECT epoch, commits, hash FROM store');
  return row ?? {};
}

/** The same connection, whose queries have this limit. */
const limited = (connection: Connection, limitMs: number): Connection => ({
  query: (text, parameters) => connection.query(text, parameters, limitMs),
  get lost() {
    return connection.lost;
  },
  close: () => connection.close(),
});
