/**
 * An open store: commits and reads one after the other, over connections that may be lost.
 *
 * Promise: a commit that was reported is done. If the connection is lost during a commit, the next connection asks the
 * server how far the store has come, so the commit is neither done twice nor forgotten. A commit fails if the server
 * cannot be reached again (see `#ask`). After that no commit is done until the store is opened again.
 */

import type { CommitOutcome, OpenedStore, Query, Sentinel, Write } from '@hob/vat/engine';
import { CapError } from '@hob/vat/errors';
import { COMMIT, cutOf, parametersOf } from './commit.ts';
import { type Connection, Lost, type Row, ServerError } from './drivers/connection.ts';
import { randomText } from './drivers/random.ts';
import { waits, waitsNoMore } from './hosts.ts';
import {
  type Before,
  Held,
  hold,
  type Opening,
  type OpeningOptions,
  open,
  renew,
  TAKING,
  TakenOver,
} from './opening.ts';
import { read } from './reads.ts';
import { fillReserve, releaseReserve, renewReserve } from './reserve.ts';
import { told } from './told.ts';

export interface Powers {
  /** Opens a connection to a server that `checkServer` accepts. */
  connect(): Promise<Connection>;
  sentinel(): Sentinel | undefined;
  now(): number;
  sleep(ms: number): Promise<void>;
  /** Calls `run` each `ms`. Returns a function that stops this. */
  every(ms: number, run: () => void): () => void;
  /** Called if the store finds, when it renews its lease, that another host has taken it over. */
  onFailure(): void;
}

export type StoreOptions = Omit<OpeningOptions, 'sentinel'>;

/** The time limit of a question over the first connection, and of the attempts to connect to a lost server. */
const PATIENCE_MS = 2000;
const RETRY_MS = 50;
/** A host keeps its store for this time after its session has ended, because it may connect again. */
const LINGER_MS = 500;
/** A host relies on its store for a little less than that, because clocks do not run equally fast. */
const HELD_MS = LINGER_MS - 100;
/** The interval at which a standby tries again, once it has seen that the other host renews its lease. */
const STANDBY_MS = 250;
/** The time limit of a vacuum. */
const LONG_MS = 3_600_000;

const inUse = (): CapError =>
  new CapError('unavailable', 'another process uses this store: stop that host first, or give another schema');
const full = (error: unknown): boolean => error instanceof ServerError && error.state === '53100';

/** Opens the store. Errors: those of `open`, of the check of the server, and `unavailable` (nobody answers). */
export async function openLive(powers: Powers, options: StoreOptions): Promise<LiveStore> {
  let connection: Connection | undefined;
  try {
    connection = await powers.connect();
    const sentinel = powers.sentinel();
    const opening = await claim(powers, connection, { ...options, sentinel });
    return new LiveStore(powers, options, { connection, opening, sentinel });
  } catch (error) {
    await connection?.close();
    throw told(error);
  }
}

/** Opens the store. Gives up after `leaseMs` and a second, or if the other host renews its lease. A standby goes on. */
async function claim(
  powers: Powers,
  connection: Connection,
  options: OpeningOptions,
  before?: Before,
): Promise<Opening> {
  const latest = powers.now() + options.leaseMs + 1000;
  let [until, freeSince]: [string | undefined, number | undefined] = [undefined, undefined];
  let [renews, isWaiting] = [false, false];
  for (;;) {
    const now = powers.now();
    const freeLease = freeSince !== undefined && now - freeSince >= LINGER_MS ? until : undefined;
    const opened = await open(connection, options, { before, freeLease });
    if (opened instanceof Held) {
      const isRenewed = until !== undefined && opened.until !== until;
      renews ||= isRenewed;
      until = opened.until;
      // If the lease was renewed since the last look, its host was connected meanwhile, and may still answer. So the
      // time begins anew.
      freeSince = opened.isFree ? ((isRenewed ? undefined : freeSince) ?? now) : undefined;
    } else if (opened !== TAKING) {
      if (isWaiting) await waitsNoMore(connection, options.schema);
      return opened;
    }
    if ((renews || now > latest) && options.standby !== true) throw inUse();
    if (options.standby === true && !isWaiting) await waits(connection, options.schema);
    isWaiting = options.standby === true;
    await powers.sleep(renews && freeSince === undefined ? STANDBY_MS : RETRY_MS);
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
  /** The number of commits of this opening. */
  #done = 0;
  /** When the last successful renewal of the lease began. */
  #renewedAt = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #stopRenewing: () => void;
  #scrubbing: Promise<void> | undefined;
  #vacuuming: Connection | undefined;

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
    return { epoch, head, era, doubt, leased: true };
  }

  /** The key that signs the ledger. */
  get key(): string {
    return this.#opening.key;
  }

  write(write: Write): Promise<CommitOutcome> {
    return this.#inOrder(() => this.#write(write));
  }

  /** Renews the lease, which fails if another host has taken the store. */
  confirm(): Promise<CommitOutcome> {
    return this.#inOrder(async () => {
      const began = this.#powers.now();
      const isOurs = this.#state !== 'failed' && (await this.#renew());
      if (!isOurs) this.#state = 'failed';
      return this.#outcome(isOurs ? 'done' : 'failed', began);
    });
  }

  read(...query: Query): Promise<unknown> {
    return this.#inOrder(() => this.#ask((connection) => read(connection, query, this.#lastLine)));
  }

  /** Lets the server use the room of deleted data again. This may take long, so it has a connection of its own. */
  scrub(): void {
    this.#scrubbing ??= this.#vacuum()
      .catch(() => {}) // the server does it by itself later
      .finally(() => {
        this.#scrubbing = undefined;
      });
  }

  /** Asks the server a further question, after all earlier ones. */
  asks<T>(question: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#inOrder(() => this.#ask(question));
  }

  refill(): Promise<boolean> {
    return this.#inOrder(async () => {
      if (this.#state === 'full' && (await this.#ask(renewReserve))) this.#state = 'open';
      return this.#state === 'open';
    });
  }

  trust(): Promise<void> {
    return this.#inOrder(async () => {
      const { opening, history } = this.#opening;
      const ours = 'UPDATE store SET trusted = era WHERE opening = $1 RETURNING 1 AS ours';
      const rows = await this.#ask((connection) => connection.query(ours, [opening]));
      if (rows.length !== 1) throw new TakenOver();
      history.trusted();
      this.#opening = { ...this.#opening, era: history.era };
    });
  }

  /** Opens the store again after a failure. */
  reopen(): Promise<OpenedStore> {
    return this.#inOrder(async () => {
      const { opening, history } = this.#opening;
      const connection = this.#connection.lost ? await this.#connect() : this.#connection;
      this.#connection = connection;
      this.#sentinel?.close();
      this.#sentinel = this.#powers.sentinel();
      const options = { ...this.#options, sentinel: this.#sentinel };
      this.#opening = await claim(this.#powers, connection, options, { opening, reached: history.reached });
      this.#state = 'open';
      this.#done = 0;
      return this.opened;
    });
  }

  async close(): Promise<void> {
    this.#stopRenewing();
    await this.#vacuuming?.close();
    await this.#scrubbing;
    await this.#inOrder(async () => {
      const { opening, history } = this.#opening;
      const { look } = this.#options;
      if (!look) history.note();
      this.#sentinel?.close();
      const last = limited(this.#connection, PATIENCE_MS);
      if (!look && !this.#connection.lost) await renew(last, { leaseMs: 0 }, opening).catch(() => {});
      await this.#connection.close();
    });
  }

  async #vacuum(): Promise<void> {
    this.#vacuuming = await this.#powers.connect();
    try {
      await this.#vacuuming.query('VACUUM line, args, cell', [], LONG_MS);
    } finally {
      await this.#vacuuming.close();
    }
  }

  /** The last line that can be read. With `look`, lines that were written after the opening are left out. */
  get #lastLine(): number {
    return this.#options.look ? this.#opening.head.seq : Number.MAX_SAFE_INTEGER;
  }

  #inOrder<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result.catch((error: unknown) => {
      throw told(error);
    });
  }

  // ---- commits --------------------------------------------------------------------------------------------

  async #write(write: Write): Promise<CommitOutcome> {
    const began = this.#powers.now();
    if (this.#state === 'failed' || this.#options.look) return this.#outcome('failed', began);
    if (write.follows !== this.#done) return this.#outcome('stale', began);
    if (this.#state === 'full' && !write.ends) return this.#outcome('full', began);
    try {
      await this.#append(write);
    } catch (error) {
      this.#state = full(error) ? 'full' : 'failed';
      return this.#outcome(this.#state, began);
    }
    this.#done += 1;
    return this.#outcome('done', began);
  }

  /**
   * The statement that began at `began` was done in a session that holds the lock of the store. So no other host takes the
   * store before that lock has been free for `LINGER_MS`, unless the lease ends.
   */
  #outcome(status: CommitOutcome['status'], began: number): CommitOutcome {
    const leaseLeft = this.#renewedAt + this.#options.leaseMs - began;
    const heldMs = status === 'done' ? Math.max(0, Math.min(HELD_MS, leaseLeft)) : 0;
    return { status, done: this.#done, onlyEndings: this.#state === 'full', heldMs };
  }

  async #append(write: Write): Promise<void> {
    try {
      await this.#commit(write);
    } catch (error) {
      if (!full(error) || !write.ends) throw error;
      // The disk has no room for other commits. From now on only commits that end authority are done.
      this.#state = 'full';
      await this.#ask(releaseReserve);
      await this.#commit(write);
    }
  }

  async #commit({ epoch, lines, head, cells }: Write): Promise<void> {
    const { history, opening } = this.#opening;
    const cut = cutOf(lines);
    if (cut > 0) history.beforeCut();
    const marks = history.next(lines, head, cut);
    const id = randomText();
    const parameters = parametersOf({ epoch, opening, id, lines, head, cells, marks, cut });
    await this.#ask(async (connection) => {
      const [row] = await connection.query(COMMIT, parameters);
      if (row?.['done'] === 1) return;
      // Either it was done before the connection was lost, or another opening has the store.
      const stored = await storedBy(connection);
      if (stored['opening'] !== opening || stored['last'] !== id) throw new TakenOver();
      // The session may have ended before a standby of the server had the commit. This later write waits until one has.
      await renew(connection, this.#options, opening);
    });
    history.counted(head, cut);
  }

  /** Renews the lease. A host that has nothing to write learns here that it was taken over. Returns whether it was renewed. */
  async #renew(): Promise<boolean> {
    const { opening } = this.#opening;
    const began = this.#powers.now();
    const renews = (): Promise<boolean> => this.#ask((connection) => renew(connection, this.#options, opening));
    try {
      const isOurs = await renews().catch(async (error: unknown) => {
        if (!full(error)) throw error;
        // A host without its lease can revoke nothing. So on a full disk the lease is renewed in the reserved room.
        this.#state = 'full';
        await this.#ask(releaseReserve);
        return await renews();
      });
      if (!isOurs) throw new TakenOver();
      this.#renewedAt = began;
      return true;
    } catch (error) {
      // The server may be there again at the next renewal.
      if (!(error instanceof TakenOver)) return false;
      // Told also if a commit has failed before: nobody may have waited for it, such as for that of the vat time.
      this.#state = 'failed';
      this.#powers.onFailure();
      return false;
    }
  }

  // ---- connections ----------------------------------------------------------------------------------------

  /**
   * Asks the server. If the connection is lost, asks again over a new one. Throws `Lost` when the server refuses
   * connections for two seconds. A server that does not answer gets two seconds, then two more to accept a new
   * connection, and five for each question over that one.
   */
  async #ask<T>(ask: (connection: Connection) => Promise<T>): Promise<T> {
    const until = this.#powers.now() + PATIENCE_MS;
    for (let isFirst = true; ; isFirst = false) {
      if (this.#connection.lost) this.#connection = await this.#connectAgain();
      try {
        // A server that accepted a second connection is not gone. It may be slow, so it gets more time.
        return await ask(isFirst ? limited(this.#connection, PATIENCE_MS) : this.#connection);
      } catch (error) {
        if (!(error instanceof Lost) || (!isFirst && this.#powers.now() >= until)) throw error;
        if (!isFirst) await this.#powers.sleep(RETRY_MS);
      }
    }
  }

  async #connectAgain(): Promise<Connection> {
    const connection = await this.#connect();
    try {
      if (this.#options.look) return connection;
      const { opening, history } = this.#opening;
      const stored = await storedBy(connection);
      // A standby of the server that had not seen all commits was promoted, or a backup was restored.
      if (stored['opening'] !== opening || Number(stored['commits']) < history.reached.commits) throw new TakenOver();
      if (!(await hold(connection, this.#options, opening))) throw new TakenOver();
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
  const [row] = await connection.query('SELECT opening, commits, last FROM store');
  return row ?? {};
}

/** The same connection, with this time limit for queries. */
const limited = (connection: Connection, limitMs: number): Connection => ({
  query: (text, parameters) => connection.query(text, parameters, limitMs),
  get lost() {
    return connection.lost;
  },
  close: () => connection.close(),
});
