/**
 * This process as a host of the cluster: it writes its heartbeat, and watches the rows. Without a `self` this process is
 * no host. Then it writes no heartbeat. It watches the rows, and can change tenants.
 *
 * Promise: the rows are the truth. A hint only makes this host read them at once. Without one it reads them each second.
 * A lost connection is made again. While the database is away, the rows of the last answer stay.
 *
 * It runs in the thread that speaks to the database, so a long turn of a tenant does not make this host look dead.
 */
import { type Connection, hostsOf, Lost, ServerError, told } from '@hob/store-postgres/connection';
import { CapError } from '@hob/vat/errors';
import { addCheckpoint, type Entry, entriesAfter } from './checkpoints.ts';
import { schemaOf } from './names.ts';
import {
  BEAT_MS,
  beat,
  CHANNEL,
  type Change,
  change,
  freedBy,
  hint,
  hostsIn,
  LIVE_MS,
  lastHeard,
  leave,
  type Self,
  tenantsIn,
} from './rows.ts';
import { makeTables, needTables, SCHEMA } from './tables.ts';
import { meaningOf, NOTHING_SEEN, type View } from './view.ts';

interface MemberPowers {
  /** Opens a connection to a server that `checkServer` accepts. `heard` gets the text of each hint. */
  connect(heard: (text: string) => void): Promise<Connection>;
  now(): number;
  /** Calls `then` once after `ms`. Returns a function that cancels it. */
  after(ms: number, then: () => void): () => void;
}

/** The interval at which a host that joins looks whether its name is free, in ms. */
const NAME_MS = 250;
/** The interval at which a lost connection is tried again, in ms. */
const RETRY_MS = 250;
/** The shortest interval at which hints make a host read the rows, in ms. */
const HINT_MS = 25;
/** A server that does not answer for this time counts as gone, in ms. */
const PATIENCE_MS = 2000;

const taken = (): CapError =>
  new CapError(
    'unavailable',
    'another process with this name is in the cluster: stop that one first, or give this one another name',
  );

/**
 * Joins the cluster. Without `self`, only connects to it. Errors: `invalid` (the server, a newer cluster), `unavailable`
 * (no answer, the name is taken), `no-such-object` (without `self`: the database has no cluster).
 */
export async function join(powers: MemberPowers, self: Self | undefined): Promise<Membership> {
  const membership = new Membership(powers, self);
  try {
    await membership.begin();
    return membership;
  } catch (error) {
    await membership.close();
    throw told(error);
  }
}

class Membership {
  readonly #powers: MemberPowers;
  readonly #self: Self | undefined;
  #connection: Connection | undefined;
  #view: View = NOTHING_SEEN;
  #freed = new Set<string>();
  #watcher: (() => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** When the last round ended. */
  #seen: number;
  /** Until `#slackUntil`, other hosts count as live for this much longer: none could be heard while this one was away. */
  #slackMs = 0;
  #slackUntil = 0;
  #hinted = false;
  #wake: () => void = () => {};
  #leaving = false;
  #over: Promise<void> | undefined;
  #closed = false;

  constructor(powers: MemberPowers, self: Self | undefined) {
    this.#powers = powers;
    this.#self = self;
    this.#seen = powers.now();
  }

  /** Takes the name of this host, if it is one, and reads the rows for the first time. */
  async begin(): Promise<void> {
    this.#connection = await this.#connect();
    if (this.#self !== undefined) await this.#take(this.#connection, this.#self);
    await this.#inOrder(() => this.#round());
    if (this.#self !== undefined) await hint(this.#connection, this.#self);
    this.#over = this.#rounds();
  }

  /** Takes the name of this host. Errors: `unavailable` (another process has the name). */
  async #take(connection: Connection, self: Self): Promise<void> {
    const until = this.#powers.now() + LIVE_MS + 1000;
    let heard: string | undefined;
    // A process of this name that was killed counts as live for a moment.
    while (!(await beat(connection, self))) {
      const now = await lastHeard(connection, self.name);
      if ((heard !== undefined && now !== heard) || this.#powers.now() > until) throw taken();
      heard = now;
      await this.#pause(NAME_MS);
    }
  }

  /** Resolves with the view when it differs from that of `version`, or when another host has freed a tenant. */
  async watch(version: number): Promise<View> {
    while (this.#view.version === version && this.#freed.size === 0 && !this.#closed)
      await new Promise<void>((then) => {
        this.#watcher = then;
      });
    const freed = [...this.#freed];
    this.#freed.clear();
    return { ...this.#view, freed };
  }

  /** Makes a change, and returns the view after it. Errors: `unavailable`, `no-such-object`. */
  async change(asked: Change): Promise<View> {
    await this.#ask(async (connection) => {
      if (!(await change(connection, asked)))
        throw new CapError('no-such-object', 'the cluster has no tenant of this name: add it first');
      await hint(connection, this.#self);
    });
    return await this.#looked();
  }

  /** Looks at the rows now. Errors: `unavailable`. */
  async look(): Promise<View> {
    await this.#ask(async () => {});
    return await this.#looked();
  }

  /** Tells the other hosts that this one has closed the store of a tenant. */
  async freed(tenant: string): Promise<void> {
    await this.#ask((connection) => hint(connection, this.#self, tenant));
  }

  /** Adds a checkpoint of a tenant to the merged chain. Errors: `unavailable`. */
  async checkpoint(tenant: string, note: string): Promise<void> {
    await this.#ask((connection) => addCheckpoint(connection, tenant, note));
  }

  /** Returns 1,000 entries of the merged chain at most, after number `after`. Errors: `unavailable`. */
  async entries(after: number): Promise<readonly Entry[]> {
    return await this.#ask((connection) => entriesAfter(connection, after));
  }

  /** Returns which hosts use the stores of these tenants; undefined for one without a store. Errors: `unavailable`. */
  async stores(tenants: readonly string[]): Promise<readonly unknown[]> {
    const all: unknown[] = [];
    // One by one, so that heartbeats can come between.
    for (const tenant of tenants) all.push(await this.#ask((connection) => storeOf(connection, schemaOf(tenant))));
    return all;
  }

  /** Leaves the cluster. The other hosts see it at once, and this one stays connected until `close`. */
  async leave(): Promise<void> {
    this.#leaving = true;
    this.#wake();
    const self = this.#self;
    if (self === undefined) return;
    await this.#ask(async (connection) => {
      await leave(connection, self);
      await hint(connection, self);
    });
  }

  async close(): Promise<void> {
    this.#closed = this.#leaving = true;
    this.#wake();
    this.#watcher?.();
    await this.#over;
    await this.#last;
    await this.#connection?.close();
  }

  // ---- rounds ---------------------------------------------------------------------------------------------

  async #rounds(): Promise<void> {
    while (!this.#leaving) {
      if (!this.#hinted) await this.#pause(this.#view.connected ? BEAT_MS : RETRY_MS);
      if (this.#leaving) return;
      this.#hinted = false;
      await this.#inOrder(() => this.#round()).catch(() => this.#away());
      await this.#pause(HINT_MS, false);
    }
  }

  /** Writes the heartbeat of this host, and reads the rows. */
  async #round(): Promise<void> {
    if (this.#leaving) return;
    const connection = await this.#connected();
    const member = this.#self !== undefined && (await beat(connection, this.#self));
    const slackMs = this.#powers.now() < this.#slackUntil ? this.#slackMs : 0;
    const rows = await hostsIn(connection, slackMs);
    const own = this.#self?.name;
    // A slow answer can make its own heartbeat seem old.
    const hosts = rows.map((each) => (member && each.name === own ? { ...each, live: true } : each));
    this.#see({ connected: true, member, hosts, tenants: await tenantsIn(connection) });
    this.#seen = this.#powers.now();
  }

  /** The database does not answer. The other hosts may live all the same, so the rows stay. */
  #away(): void {
    this.#see({ ...this.#view, connected: false });
  }

  #see(now: Omit<View, 'version' | 'freed'>): void {
    const differs = meaningOf(now) !== meaningOf(this.#view);
    this.#view = { ...now, version: this.#view.version + (differs ? 1 : 0), freed: [] };
    if (differs) this.#watcher?.();
  }

  async #looked(): Promise<View> {
    await this.#inOrder(() => this.#round()).catch(() => this.#away());
    return this.#view;
  }

  #heard(text: string): void {
    const freed = freedBy(text, this.#self);
    if (freed !== undefined) this.#freed.add(freed);
    if (freed !== undefined) this.#watcher?.();
    this.#hinted = true;
    this.#wake();
  }

  /** Waits. With `wakes` a hint ends the pause early. */
  #pause(ms: number, wakes = true): Promise<void> {
    return new Promise((then) => {
      const cancel = this.#powers.after(ms, then);
      if (!wakes) return;
      this.#wake = () => {
        cancel();
        then();
      };
    });
  }

  // ---- connections ----------------------------------------------------------------------------------------

  /** Asks the server. If the connection is lost, asks once again over a new one. */
  #ask<T>(ask: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#inOrder(async () => {
      try {
        return await ask(await this.#connected());
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
        return await ask(await this.#connected());
      }
    });
  }

  #inOrder<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result.catch((error: unknown) => {
      throw told(error);
    });
  }

  async #connected(): Promise<Connection> {
    if (this.#connection?.lost === false) return this.#connection;
    this.#connection = await this.#connect();
    // While the server was away, no host could write a heartbeat.
    this.#slackMs = this.#powers.now() - this.#seen;
    this.#slackUntil = this.#powers.now() + LIVE_MS;
    return this.#connection;
  }

  async #connect(): Promise<Connection> {
    const connection = await this.#powers.connect((text) => this.#heard(text));
    try {
      await (this.#self === undefined ? needTables : makeTables)(connection);
      await connection.query(`LISTEN ${CHANNEL}`);
      return patient(connection);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }
}

/** The same connection, with a shorter time limit. */
const patient = (connection: Connection): Connection => ({
  query: (text, parameters) => connection.query(text, parameters, PATIENCE_MS),
  get lost() {
    return connection.lost;
  },
  close: () => connection.close(),
});

/** A store that nobody has opened yet has no tables, and a schema may belong to somebody else. */
const NO_STORE = ['42P01', '3F000', '42501'];

async function storeOf(connection: Connection, schema: string): Promise<unknown> {
  try {
    await connection.query(`SET search_path = "${schema}"`);
    return await hostsOf(connection, schema);
  } catch (error) {
    if (error instanceof ServerError && NO_STORE.includes(error.state)) return undefined;
    throw error;
  } finally {
    if (!connection.lost) await connection.query(`SET search_path = ${SCHEMA}`);
  }
}
