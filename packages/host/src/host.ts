/**
 * A host: sessions, granters, what may be granted, and the door.
 *
 * Promise: a session starts with nothing and gets only what a granter named by it grants. What the program that runs the host
 * offers is never handed out bare, but through a forwarder with a deadline whose revoker stays here. All of it is in the store: after a
 * kill or a power cut a session is entered again with its secret and finds what it held and what is left of it.
 */
import type { Guests } from '@hob/guest';
import {
  base32,
  CapError,
  type CapTPStats,
  type Clock,
  captp,
  closeCodes,
  type Dialect,
  driver,
  driverOf,
  E,
  exportLedger,
  type Far,
  type Faraway,
  hashSecret,
  isReference,
  type LedgerVerdict,
  lastingName,
  ledgerLine,
  type Meter,
  named,
  newSecret,
  openStore,
  openVats,
  type Store,
  spawn,
  systemClock,
  systemRandom,
  type Vat,
  type Vats,
  verifyLedger,
} from '@hob/vat';
import { definitions } from './definitions.ts';
import { type Listener, listen } from './door/drivers/listener.ts';
import { type Asked, callObject, noObject, type Said } from './door/object-call.ts';
import { Places } from './door/places.ts';
import { type EnteredPeer, Presence, type SessionLookup } from './door/presence.ts';
import { openStateDir, orderStop, stopDone, stopOrder } from './drivers/state-dir.ts';
import { type Granter, GranterActor } from './granters/grants.ts';
import { LedgerView } from './granters/ledger-reader.ts';
import { type Begun, beginSession, type StartOptions } from './granters/start.ts';
import { stopAll, stopFirst } from './granters/stop.ts';
import { callerOf, openSturdyref } from './holding/sturdyrefs.ts';
import { hashOfId, publish, resolveUrl, unpublish } from './holding/urls.ts';
import { offeredOf } from './powerbox/offered.ts';
import { checkRequest, openPowerbox } from './powerbox/powerbox.ts';
import { codeCap, type Holdings, holdingsOf } from './sessions/code.ts';
import { endedOf, endSession, openRemover } from './sessions/removal.ts';
import { enter, lapse, openSession, rotate, type SessionFace } from './sessions/sessions.ts';
import { sessionOf } from './state/groups.ts';
import type { HostPowers } from './state/host-powers.ts';
import { eraOf, type HostState, HostStateActor, next, tablesOf } from './state/host-state.ts';
import { checkName } from './state/names.ts';
import { roomsFrom } from './state/order.ts';
import type { Bearer, HostTables, SessionRecord } from './state/records.ts';
import { checkStatement } from './state/reserved.ts';
import { Waiters } from './state/waiters.ts';
import type { Host, HostOptions, NewSession, Session, Started } from './types.ts';

/** What one session, and those that it spawned, may take up of the host: far above what an agent needs, far below what would hurt. */
const sessionLimits = Object.freeze({
  actors: 10_000,
  portraitBytes: 16 << 20,
  messages: 10_000,
  promises: 20_000,
  // A session that holds nothing is 4 rows, each grant 4.
  rows: 15_000,
  connections: 8,
  lines: 100_000,
  // So many lines of usual calls; of long arguments the ledger keeps the beginning.
  lineBytes: 48 << 20,
  argumentBytes: 4096,
});

export async function openHost(options: HostOptions): Promise<Host> {
  const { stateDir, clock = systemClock(), random = systemRandom, graceMs = 600_000, requestMs = 3_600_000 } = options;
  if (!(typeof graceMs === 'number' && graceMs >= 0 && graceMs <= longestTimer))
    throw new CapError('invalid', 'graceMs is a number of ms, 24 days at the most');
  if (!(typeof requestMs === 'number' && requestMs > 0 && requestMs <= longestTimer))
    throw new CapError('invalid', 'requestMs is a number of ms above 0, 24 days at the most');
  openStateDir(stateDir);
  const store = await openStore({ path: stateDir, sentinel: options.sentinel });
  let vats: Vats | undefined;
  try {
    const all = new Set([...definitions, ...(options.definitions ?? [])]);
    const first = stopFirst(stateDir);
    const { onCheckpoint } = options;
    vats = await openVats({
      store,
      clock,
      random,
      definitions: [...all],
      ...(first === undefined ? {} : { first }),
      ...(onCheckpoint === undefined ? {} : { onCheckpoint }),
    });
    const vat = vats.vat('host');
    const house = await vat.root('house', () => HostStateActor({}));
    const { observe } = options;
    const host = new LiveHost({ stateDir, store, vats, vat, house, random, clock, graceMs, requestMs, observe });
    await host.start();
    return host;
  } catch (error) {
    await vats?.close();
    await store.close();
    throw error;
  }
}

const longestTimer = 24 * 86_400_000;

interface Parts {
  readonly stateDir: string;
  readonly store: Store;
  readonly vats: Vats;
  readonly vat: Vat;
  readonly house: Far<HostState>;
  readonly random: (bytes: number) => Uint8Array;
  readonly clock: Clock;
  readonly graceMs: number;
  readonly requestMs: number;
  readonly observe: HostOptions['observe'];
}

class LiveHost implements Host {
  readonly vats: Vats;
  readonly #stateDir: string;
  readonly #observe: HostOptions['observe'];
  readonly #store: Store;
  readonly #vat: Vat;
  readonly #house: HostState;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #requestMs: number;
  /** Who waits for a granter. */
  readonly #waiters = new Waiters((request) => this.#alone(request));
  readonly #presence: Presence;
  readonly #places: Places;
  readonly #meters = new Map<string, Meter>();
  /** What was offered in this process. */
  readonly #named = new Set<string>();
  readonly #listeners = new Set<Listener>();
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();
  readonly #view: LedgerView;
  /** Opened with the first program. */
  #guests: Promise<Guests> | undefined;
  #stopListening: () => void = () => {};
  #era = '';
  #closing = false;

  constructor({ stateDir, store, vats, vat, house, random, clock, graceMs, requestMs, observe }: Parts) {
    this.#stateDir = stateDir;
    this.#observe = observe;
    this.#store = store;
    this.vats = vats;
    this.#vat = vat;
    this.#house = house as unknown as HostState;
    this.#random = random;
    this.#requestMs = requestMs;
    this.#view = new LedgerView(store, ({ session, grant = '' }) =>
      this.#turn((book) => {
        const id = session ?? book.grants.get(grant)?.session;
        const room = id === undefined ? undefined : book.rooms.get(id);
        return room === undefined ? undefined : { session: room.id, granters: room.granters };
      }),
    );
    const rooms: SessionLookup = {
      isOpen: (session) => this.#turn((book) => sessionOf(book, session) !== undefined),
      lapse: (session) => this.#turn((book) => lapse(book, session)),
    };
    this.#places = new Places(clock);
    this.#presence = new Presence({
      waiters: this.#waiters,
      rooms,
      clock,
      graceMs,
      fault: (error) => this.#fault(error),
    });
  }

  /** What the actors of the house need of this process, and a grace time for whom the last one left. */
  async start(): Promise<void> {
    const chance = base32(this.#random(5)).slice(0, 4);
    this.#era = await this.#turn((book) => {
      if (!book.facts.has('era')) {
        book.facts.set('era', chance);
        book.facts.set('starts', 'noted');
      }
      return eraOf(book);
    });
    const world = driver<HostPowers>(
      {
        secret: () => {
          const secret = newSecret(this.#random);
          return { secret, hash: hashSecret(secret) };
        },
        objectId: () => {
          const id = base32(this.#random(32));
          return { id, hash: hashOfId(id) };
        },
        ended: ([sessions]) => this.#ended(sessions),
        closeEnded: () => this.#closeEnded(),
        lines: ([granter, from]) => this.#view.lines(granter, from),
        verify: ([against]) => verifyLedger(this.#store, against === undefined ? {} : { against }),
        wait: ([request, asker, of], call) => this.#waiters.wait(request, asker, of, call),
        decide: ([request, verdict]) => this.#waiters.decide(request, verdict),
        waiting: ([requests]) => this.#waiters.waiting(requests),
        behind: ([request]) => this.#waiters.behind(request),
        under: (_args, { cause }) => cause,
      },
      {
        name: `hob-host:${this.#era}`,
        // Not `waiting` and `behind`: they would go ahead of the `wait` that they are about.
        reads: ['secret', 'objectId', 'lines', 'verify', 'under'],
      },
    );
    const left = await this.#turn((book) => {
      book.world.set('world', world as never);
      openPowerbox(book, this.#house, this.#requestMs);
      openRemover(book, this.#house);
      return [...book.rooms.entries()]
        .filter(([id, { entered }]) => entered && sessionOf(book, id) !== undefined)
        .map(([id]) => id);
    });
    for (const id of left) this.#presence.left(id);
    // What a peer was told, or has said, may be undone with the turns.
    this.#stopListening = this.vats.onLoss(() => this.#presence.cut('the disk failed: enter again', closeCodes.fault));
  }

  async openSession(options: {
    readonly name: string;
    readonly granters?: readonly string[];
    readonly parent?: string;
  }): Promise<NewSession> {
    const { name, granters = [], parent } = options;
    checkName(name, 'the name of a session');
    const secret = newSecret(this.#random);
    const id = await this.#turn((book) => {
      for (const granter of granters)
        if (typeof granter !== 'string' || !book.granters.has(granter))
          throw new CapError(
            'no-such-object',
            `there is no granter called "${String(granter).slice(0, 64)}": add it first`,
          );
      const above = parent === undefined ? undefined : roomOf(book, parent);
      const of = { name, granters, parent: above, secret: hashSecret(secret), by: 'host' };
      return openSession(book, this.#house, of).id;
    });
    return this.#session(id, secret) as NewSession;
  }

  async startSession(options: StartOptions): Promise<Started> {
    const secret = newSecret(this.#random);
    const { granter, purpose } = options;
    checkName(purpose, 'the purpose of a session');
    const begun = (await this.#turn((book) => {
      granterOf(book, granter);
      return beginSession(book, this.#house, options, hashSecret(secret));
    })) as Begun;
    const { how, session: id, grants } = begun;
    if (how === 'ended' || id === undefined) return { how: 'ended', id };
    if (how === 'again') return { how, session: this.#session(id, undefined), grants };
    return { how, session: this.#session(id, secret) as NewSession, grants };
  }

  async session(id: string): Promise<Session> {
    await this.#turn((book) => void roomOf(book, id));
    return this.#session(id, undefined);
  }

  #session(id: string, secret: string | undefined): Session {
    const face = async (): Promise<Far<SessionFace>> =>
      (await this.#turn((book) => roomOf(book, id).face)) as unknown as Far<SessionFace>;
    const ended = this.#ends.get(id) ?? Promise.withResolvers<void>();
    this.#ends.set(id, ended);
    return Object.freeze({
      id,
      secret,
      ended: ended.promise,
      caps: async () => await E(await face()).caps(),
      cap: async <T extends object>(petname: string) => (await E(await face()).cap(petname)) as Far<T>,
      publish: async (petname: string, { for: ms }: { readonly for?: number } = {}) =>
        (await this.#turn(() => publish(this.#house, id, petname, ms))) as string,
      resolve: async <T extends object>(url: string) =>
        (await this.#turn((book) => resolveUrl(book, roomOf(book, id), url))) as unknown as Far<T>,
      unpublish: (url: string) => this.#turn((book) => unpublish(roomOf(book, id), url)),
      rotate: async () => (await this.#turn(() => rotate(this.#house, id))) as { readonly secret: string },
      end: async (why = '') => {
        await this.#turn((book) => {
          // One that has ended already is what was asked for.
          const room = sessionOf(book, id);
          return room === undefined ? undefined : endSession(book, room, { by: 'host' }, String(why).slice(0, 500));
        });
      },
    });
  }

  async sessions(): Promise<readonly { readonly id: string; readonly name: string; readonly parent?: string }[]> {
    const all = await this.#turn((book) =>
      [...roomsFrom(book)]
        .filter(({ id }) => sessionOf(book, id) !== undefined)
        .map(({ id, name, parent }) => ({
          id,
          name,
          ...(parent === undefined ? {} : { parent }),
        })),
    );
    return all as readonly { readonly id: string; readonly name: string; readonly parent?: string }[];
  }

  async addGranter(name: string): Promise<{ readonly granter: Far<Granter>; readonly secret: string }> {
    checkName(name, 'the name of a granter');
    checkStatement(name, 'the name of a granter');
    const secret = newSecret(this.#random);
    const hash = hashSecret(secret);
    const granter = await this.#turn((book) => {
      if (book.granters.has(name)) throw new CapError('invalid', `there is a granter called "${name}" already`);
      const program = spawn(GranterActor(name, 'program', this.#house));
      const wire = spawn(GranterActor(name, 'wire', this.#house));
      book.granters.set(name, { name, secret: hash, program, wire });
      book.bearers.set(hash, { granter: name });
      return program;
    });
    return { granter: granter as unknown as Far<Granter>, secret };
  }

  async granter(name: string): Promise<Far<Granter>> {
    return (await this.#turn((book) => granterOf(book, name).program)) as unknown as Far<Granter>;
  }

  async renewGranter(name: string): Promise<{ readonly secret: string }> {
    const secret = newSecret(this.#random);
    const hash = hashSecret(secret);
    await this.#turn((book) => {
      const row = granterOf(book, name);
      book.bearers.delete(row.secret);
      book.bearers.set(hash, { granter: name });
      book.granters.set(name, { ...row, secret: hash });
    });
    this.#presence.renewed(`granter:${name}`);
    return { secret };
  }

  async offer(name: string, cap: object, { reads = [] }: { readonly reads?: readonly string[] } = {}): Promise<void> {
    checkName(name, 'the name of an offer');
    const lasting = `hob-offer:${this.#era}:${name}`;
    const given = isReference(cap) ? cap : driverOf(cap, { name: lasting, reads: reads as never });
    const inStore = await this.#turn(() => lastingName(given) !== undefined);
    const reference = inStore ? given : named(lasting, given);
    const about = offeredOf(cap, reads);
    await this.#turn((book) => {
      // The first of a process takes the place of that of the process before; after that another object is another cap.
      const known = this.#named.has(name) ? undefined : book.offered.get(name)?.number;
      book.offers.set(name, reference);
      book.offered.set(name, { ...about, number: known ?? next(book, 'offers') });
    });
    this.#named.add(name);
  }

  async offerCode(open: () => Promise<Guests>, { as = 'code' }: { readonly as?: string } = {}): Promise<void> {
    const guests = (): Promise<Guests> => {
      if (this.#closing) return Promise.reject(new CapError('unavailable', 'the host is closing'));
      const opening = (this.#guests ??= open());
      // What failed once (a machine without sandboxes) may be mended: the next program tries anew.
      opening.catch(() => {
        if (this.#guests === opening) this.#guests = undefined;
      });
      return opening;
    };
    const holdings = (cause: readonly string[]): Promise<Holdings> =>
      this.#turn((book) => holdingsOf(book, as, cause)) as Promise<Holdings>;
    await this.offer(as, codeCap(guests, holdings));
  }

  async serve({
    port = 0,
  }: {
    readonly port?: number;
  } = {}): Promise<{ readonly url: string; close(): Promise<void> }> {
    const listener = await listen<EnteredPeer>(port, {
      find: (secret) => this.#find(secret),
      place: (guest, end) => this.#places.take(guest, end),
      placeForCall: (guest, gone) => this.#places.takeForCall(guest, gone),
      welcome: (guest, duplex, dialect) => {
        const { face: bootstrap, meter } = guest;
        const observe = this.#observe === undefined ? {} : { observe: this.#observe };
        this.#presence.welcome(guest, dialect, captp(duplex, { dialect, bootstrap, meter, ...observe }));
      },
      ask: (guest, url, call, gone, post) => this.#objectCall(guest, url, call, gone, post),
      fault: (error) => this.#fault(error),
    });
    this.#listeners.add(listener);
    return {
      url: `ws://127.0.0.1:${listener.port}`,
      close: async () => {
        this.#listeners.delete(listener);
        await listener.close();
      },
    };
  }

  async #find(secret: string): Promise<EnteredPeer | undefined> {
    const found = await this.#turn((book) => {
      const bearer: Bearer | undefined = enter(book, secret);
      const room = bearer?.session === undefined ? undefined : sessionOf(book, bearer.session);
      if (room !== undefined)
        return { who: room.id, session: room.id, payer: `session:${room.payer}`, face: room.face };
      if (bearer?.sturdyref !== undefined) {
        const opened = openSturdyref(book, bearer.sturdyref, secret);
        if (opened === undefined) return undefined;
        const { cap, room: above } = opened;
        const caller = callerOf(bearer.sturdyref[1]);
        return { who: caller, session: undefined, payer: `session:${above.payer}`, face: cap };
      }
      const row = bearer?.granter === undefined ? undefined : book.granters.get(bearer.granter);
      if (row === undefined) return undefined;
      const who = `granter:${row.name}`;
      return { who, session: undefined, payer: who, face: row.wire };
    });
    if (found === undefined) return undefined;
    const { who, session, payer, face } = found as typeof found & { readonly who: string; readonly payer: string };
    return {
      who,
      session: session as string | undefined,
      face: face as unknown as Far<object>,
      meter: this.#meter(payer),
    };
  }

  async #objectCall(
    guest: EnteredPeer | undefined,
    url: string,
    call: Asked | undefined,
    gone: AbortSignal,
    post: boolean,
  ): Promise<Said> {
    // Only those who may call anything leave a trace, which their meter pays for: a stranger could fill the disk.
    if (guest?.session === undefined) return noObject;
    this.#presence.seen(guest.session);
    return post ? await callObject(guest, url, call, gone) : await callObject(guest, '', nothing, gone);
  }

  connections(): readonly { readonly session: string; readonly dialect: Dialect; stats(): CapTPStats }[] {
    return this.#presence.connections();
  }

  get restored(): boolean {
    return this.vats.restored;
  }

  get restoredBecause(): string | undefined {
    return this.vats.restoredBecause;
  }

  trust(by: string): Promise<void> {
    return this.vats.trust(by);
  }

  verify(options: { readonly against?: readonly string[] } = {}): Promise<LedgerVerdict> {
    return verifyLedger(this.#store, options);
  }

  ledger(options: { readonly from?: number; readonly follow?: boolean } = {}): AsyncIterable<string> {
    return exportLedger(this.#store, options);
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#stopListening();
    // First: what peers wait for is not to be raced for by what is under way.
    this.#presence.close();
    await this.#vat.turn(() => ledgerLine('host-stop', {})).catch(() => {});
    await Promise.all([...this.#listeners].map((listener) => listener.close()));
    this.#listeners.clear();
    // What a program was about to hear of a call it hears no more.
    await this.#guests?.then((guests) => guests.close()).catch(() => {});
    await this.vats.close();
    await this.#store.close();
  }

  async stop(why = ''): Promise<void> {
    // First of all the order: from here on it happens, whatever happens to this process.
    if (stopOrder(this.#stateDir) === undefined) orderStop(this.#stateDir, String(why));
    const said = stopOrder(this.#stateDir) ?? '';
    const turn = <R>(body: (book: HostTables) => R): Promise<R> => this.#turn(body) as unknown as Promise<R>;
    const revoked = stopAll(turn, said).then(() => this.vats.settled());
    await revoked.then(() => stopDone(this.#stateDir)).catch(() => {});
    await this.close();
  }

  #turn<R>(body: (book: HostTables) => R): Promise<Faraway<R>> {
    return this.#vat.turn(() => body(tablesOf(this.#house)));
  }

  #meter(name: string): Meter {
    const known = this.#meters.get(name);
    if (known !== undefined) return known;
    const meter = this.vats.meter(name, name.startsWith('session:') ? sessionLimits : undefined);
    this.#meters.set(name, meter);
    return meter;
  }

  /** They have ended, and that is on the disk. */
  #ended(sessions: readonly string[]): void {
    for (const id of sessions) {
      this.#waiters.ended(id);
      this.#presence.ended(id);
      this.#ends.get(id)?.resolve();
      this.#ends.delete(id);
    }
  }

  /** Something has ended with all that is under it: those who are connected are looked at. */
  async #closeEnded(): Promise<void> {
    const callers = this.#presence.connections().map(({ session }) => session);
    if (callers.length > 0) this.#ended(await this.#turn((book) => endedOf(book, callers)));
  }

  /** An error of ours that ended no more than what it was about: for the log of this end. */
  #fault(error: unknown): void {
    this.#observe?.({ id: base32(this.#random(5)), error });
  }

  #alone(request: string): void {
    if (!this.#closing) this.#turn((book) => checkRequest(book, request)).catch(() => {});
  }
}

/** A request that is no call: it is looked up like one, and written down. */
const nothing: Asked = Object.freeze({ method: '', args: [] });

/** In a turn. */
function roomOf(book: HostTables, id: unknown): SessionRecord {
  const room = typeof id === 'string' ? sessionOf(book, id) : undefined;
  if (room === undefined)
    throw new CapError('no-such-object', 'there is no session of that id: it has ended, or never was');
  return room;
}

function granterOf(book: HostTables, name: unknown): NonNullable<ReturnType<HostTables['granters']['get']>> {
  const row = typeof name === 'string' ? book.granters.get(name) : undefined;
  if (row === undefined)
    throw new CapError('no-such-object', `there is no granter called "${String(name).slice(0, 64)}": add it first`);
  return row;
}
