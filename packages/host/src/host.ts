/**
 * A host: sessions, granters, what may be granted, and the door.
 *
 * Promise: a session starts with nothing and gets only what a granter named by it grants. What the program that runs the host
 * offers is never handed out bare, but through a forwarder with a deadline whose revoker stays here.
 *
 * For now only the ledger outlives the process: sessions, grants and secrets are of this run.
 */
import {
  CapError,
  type Clock,
  type Connection,
  captp,
  closeCodes,
  driverOf,
  E,
  exportLedger,
  type Far,
  hashSecret,
  isReference,
  type LedgerVerdict,
  ledgerLine,
  type Meter,
  newSecret,
  openStore,
  openVats,
  type Store,
  spawn,
  systemClock,
  systemRandom,
  table,
  type Vat,
  type Vats,
  verifyLedger,
  type WireFault,
} from '@hob/vat';
import { type Listener, listen } from './drivers/listener.ts';
import { openStateDir } from './drivers/state-dir.ts';
import { type Book, Counter, type Granter, GranterActor } from './grants.ts';
import { type LedgerReader, ledgerReader } from './ledger-reader.ts';
import { checkName } from './names.ts';
import { Session as SessionActor, type SessionFace } from './sessions.ts';

/** For the program that runs the host. */
export interface Session {
  readonly id: string;
  /** Enters the session over the wire. */
  readonly secret: string;
  caps(): Promise<readonly string[]>;
  cap<T extends object>(petname: string): Promise<Far<T>>;
}

export interface Host {
  readonly vats: Vats;
  /** A session without granters can be granted nothing. Errors: `invalid`, `no-such-object` (a granter that is not there). */
  openSession(options: { readonly name: string; readonly granters?: readonly string[] }): Promise<Session>;
  /** The granter as a cap, and the secret that a person enters to reach it over the wire: shown once, kept hashed. */
  addGranter(name: string): Promise<{ readonly granter: Far<Granter>; readonly secret: string }>;
  /** What granters may give out, by name: an FsCap, any object with async methods, any reference. */
  offer(name: string, cap: object): Promise<void>;
  /** CapTP over WebSocket on loopback; port 0 is any. */
  serve(options?: { readonly port?: number }): Promise<{ readonly url: string; close(): Promise<void> }>;
  connections(): number;
  verify(): Promise<LedgerVerdict>;
  /** The ledger as JSON Lines, whole and in order. */
  ledger(options?: { readonly from?: number; readonly follow?: boolean }): AsyncIterable<string>;
  close(): Promise<void>;
}

export interface HostOptions {
  /** Holds everything that lasts. */
  readonly stateDir: string;
  readonly clock?: Clock;
  readonly random?: (bytes: number) => Uint8Array;
  /** Told of each error that a peer was told only the id of: for a log that stays here. */
  readonly observe?: (fault: WireFault) => void;
}

/** What one session may take up of the host: far above what an agent needs, far below what would hurt. */
const sessionLimits = Object.freeze({
  actors: 10_000,
  portraitBytes: 16 << 20,
  messages: 10_000,
  promises: 20_000,
  rows: 10_000,
  lines: 100_000,
});

/** Who stands behind a secret. */
interface Bearer {
  readonly face: Far<object>;
  readonly meter: Meter;
  /** A newer socket of the same bearer closes the older one. */
  readonly single: boolean;
  connection?: Connection;
}

export async function openHost(options: HostOptions): Promise<Host> {
  const { stateDir, clock = systemClock(), random = systemRandom } = options;
  openStateDir(stateDir);
  const store = await openStore({ path: stateDir });
  let vats: Vats | undefined;
  try {
    vats = await openVats({ store, clock, random });
    const vat = vats.vat('host');
    const book = await vat.turn((): Book => ({ rooms: table(), grants: table(), offers: table() }));
    return new LiveHost(store, vats, vat, book as unknown as Book, random, options.observe);
  } catch (error) {
    await vats?.close();
    await store.close();
    throw error;
  }
}

class LiveHost implements Host {
  readonly vats: Vats;
  readonly #observe: HostOptions['observe'];
  readonly #store: Store;
  readonly #vat: Vat;
  readonly #book: Book;
  readonly #random: (bytes: number) => Uint8Array;
  /** By the hash of the secret. */
  readonly #bearers = new Map<string, Bearer>();
  readonly #granters = new Set<string>();
  readonly #connections = new Set<Connection>();
  readonly #listeners = new Set<Listener>();
  readonly #count: Promise<Far<() => number>>;
  readonly #reader: Far<LedgerReader>;
  /** Tells the ids of this run from those of earlier ones in the same ledger. */
  readonly #era: string;

  constructor(
    store: Store,
    vats: Vats,
    vat: Vat,
    book: Book,
    random: (bytes: number) => Uint8Array,
    observe: HostOptions['observe'],
  ) {
    this.#observe = observe;
    this.#store = store;
    this.vats = vats;
    this.#vat = vat;
    this.#book = book;
    this.#random = random;
    this.#era = newSecret(random).slice(5, 9);
    this.#count = vat.spawn(Counter(0));
    this.#reader = ledgerReader(store);
  }

  async openSession({
    name,
    granters = [],
  }: {
    readonly name: string;
    readonly granters?: readonly string[];
  }): Promise<Session> {
    checkName(name, 'the name of a session');
    for (const granter of granters)
      if (!this.#granters.has(granter))
        throw new CapError(
          'no-such-object',
          `there is no granter called "${String(granter).slice(0, 64)}": add it first`,
        );
    const id = `${name}-${this.#era}`;
    const book = this.#book;
    const face = await this.#vat.turn(() => {
      if (book.rooms.has(id)) throw new CapError('invalid', `a session called "${name}" is open: choose another name`);
      const held = table<object>();
      book.rooms.set(id, { name, granters, held });
      return spawn(SessionActor(held));
    });
    const secret = this.#let({
      face: face as Far<object>,
      meter: this.vats.meter(`session:${id}`, sessionLimits),
      single: true,
    });
    return Object.freeze({
      id,
      secret,
      caps: () => E(face as Far<SessionFace>).caps(),
      cap: async <T extends object>(petname: string) => (await E(face as Far<SessionFace>).cap(petname)) as Far<T>,
    });
  }

  async addGranter(name: string): Promise<{ readonly granter: Far<Granter>; readonly secret: string }> {
    checkName(name, 'the name of a granter');
    if (this.#granters.has(name)) throw new CapError('invalid', `there is a granter called "${name}" already`);
    this.#granters.add(name);
    const count = await this.#count;
    const granter = await this.#vat.spawn(
      GranterActor(
        name,
        this.#book,
        count as unknown as () => number,
        this.#reader as unknown as LedgerReader,
        this.#era,
      ),
    );
    const secret = this.#let({
      face: granter as Far<object>,
      meter: this.vats.meter(`granter:${name}`),
      single: false,
    });
    return { granter, secret };
  }

  async offer(name: string, cap: object): Promise<void> {
    checkName(name, 'the name of an offer');
    const reference = isReference(cap) ? cap : driverOf(cap);
    const { offers } = this.#book;
    await this.#vat.turn(() => offers.set(name, reference));
  }

  async serve({
    port = 0,
  }: {
    readonly port?: number;
  } = {}): Promise<{ readonly url: string; close(): Promise<void> }> {
    const listener = await listen<Bearer>(
      port,
      (secret) => this.#bearers.get(hashSecret(secret)),
      (bearer, duplex, dialect) => {
        if (bearer.single)
          bearer.connection?.close('a newer connection of this session took its place', closeCodes.fenced);
        const connection = captp(duplex, {
          dialect,
          bootstrap: bearer.face,
          meter: bearer.meter,
          ...(this.#observe === undefined ? {} : { observe: this.#observe }),
        });
        bearer.connection = connection;
        this.#connections.add(connection);
        connection.closed.then(() => {
          this.#connections.delete(connection);
          if (bearer.connection === connection) delete bearer.connection;
        });
      },
    );
    this.#listeners.add(listener);
    return {
      url: `ws://127.0.0.1:${listener.port}`,
      close: async () => {
        this.#listeners.delete(listener);
        await listener.close();
      },
    };
  }

  connections(): number {
    return this.#connections.size;
  }

  verify(): Promise<LedgerVerdict> {
    return verifyLedger(this.#store);
  }

  ledger(options: { readonly from?: number; readonly follow?: boolean } = {}): AsyncIterable<string> {
    return exportLedger(this.#store, options);
  }

  async close(): Promise<void> {
    await this.#vat.turn(() => ledgerLine('host-stop', {})).catch(() => {});
    for (const connection of this.#connections) connection.close('the host is closing', closeCodes.goingAway);
    await Promise.all([...this.#listeners].map((listener) => listener.close()));
    this.#listeners.clear();
    await this.vats.close();
    await this.#store.close();
  }

  #let(bearer: Bearer): string {
    const secret = newSecret(this.#random);
    this.#bearers.set(hashSecret(secret), bearer);
    return secret;
  }
}
