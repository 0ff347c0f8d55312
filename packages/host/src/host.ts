/**
 * A host: sessions, granters, offers and the door.
 *
 * Promise: a session starts with nothing and gets only what a granter that it names grants. An offer reaches a session
 * only through a forwarder with a deadline, and the revoker stays here. All state is in the store. After a kill or a
 * power cut a session is entered again with its secret, and finds its caps and what is left of its grants.
 */
import type { Guests } from '@hob/guest';
import {
  captp,
  exportLedger,
  type Far,
  type Faraway,
  ledgerLine,
  type Store,
  type Vat,
  type Vats,
  verifyLedger,
} from '@hob/vat';
import { base32, hashSecret, newSecret, takeOptions } from '@hob/vat/forwarder';
import { backup, retainLedger } from '@hob/vat/store';
import { closeCodes } from '@hob/vat/wire';
import { countsOf, type RowCounts, rowCounts } from './counts.ts';
import { ConnectionSlots } from './door/connection-slots.ts';
import { openHostDoor } from './door/drivers/front.ts';
import type { DoorHandlers, ObjectRequest } from './door/drivers/host-requests.ts';
import type { Listener } from './door/drivers/listener.ts';
import { EntryCodes, pagePeer } from './door/entry-codes.ts';
import type { FrontPlace } from './door/front-door.ts';
import { checkFaces, type HttpFaces, httpSession } from './door/http-face.ts';
import { checkPages, type HttpPages } from './door/http-pages.ts';
import { callObject, type HttpReply, noCall, noObject } from './door/object-call.ts';
import { type OpenDoor, OpenDoors } from './door/open-doors.ts';
import { type FoundPeer, peerOf } from './door/peers.ts';
import { type EnteredPeer, Presence, type SessionLookup } from './door/presence.ts';
import { SessionMeters } from './door/session-meters.ts';
import type { ServeOptions } from './door/where.ts';
import { privateSocket } from './drivers/private-folder.ts';
import { orderStop, readStopOrder, removeStopOrder } from './drivers/state-dir.ts';
import { addGranter, granterOn, replaceGranterSecret } from './granters/accounts.ts';
import { GranterChanges } from './granters/changes.ts';
import type { Granter } from './granters/granter.ts';
import { GranterLedger, lineOwner } from './granters/ledger-reader.ts';
import { type LocalOptions, localOptions, openLocalGranter } from './granters/local-granter.ts';
import { type StartOptions, type StartResult, startSession, takeStartOptions } from './granters/start.ts';
import { revokeEverything } from './granters/stop.ts';
import { Offers } from './offers.ts';
import { checkRequest, openPowerbox } from './powerbox/powerbox.ts';
import { hostPowers } from './powers-driver.ts';
import { labelOf, openOptions, type SessionLabel, sessionHandle, sessionOptions } from './session-handle.ts';
import { ChangeAskActor } from './sessions/ask-change.ts';
import { endUnlessLasting, openGrace } from './sessions/grace.ts';
import { endedCallers, openRemover } from './sessions/removal.ts';
import { openSession, sessionToContinue } from './sessions/sessions.ts';
import { sessionOf } from './state/groups.ts';
import { driverTagOf, type HostState, tablesOf } from './state/host-state.ts';
import { type KeptTexts, keptAfter } from './state/kept.ts';
import { endLook } from './state/lapsing.ts';
import { keepNameKey, localName } from './state/local-name.ts';
import { granterNamed, openSessionNamed } from './state/lookups.ts';
import { keepMost } from './state/most.ts';
import { checkName } from './state/names.ts';
import { sessionsFrom } from './state/order.ts';
import type { HostTables } from './state/records.ts';
import { checkHostWords } from './state/reserved.ts';
import { RequestWaiters } from './state/waiters.ts';
import type { Host, HostOptions, NewSession, OfferOptions, Session, Started } from './types.ts';
import { PasskeyChecks } from './webauthn/drivers/checks.ts';

type Handlers = DoorHandlers<EnteredPeer>;
type Given = Required<Pick<HostOptions, 'stateDir' | 'random' | 'clock' | 'graceMs' | 'requestMs'>>;
interface HostParts extends Given {
  readonly store: Store;
  readonly letGo: () => void;
  readonly vats: Vats;
  readonly vat: Vat;
  readonly hostState: Far<HostState>;
  readonly most: number;
  readonly observe: HostOptions['observe'];
}

export class LiveHost implements Host {
  readonly vats: Vats;
  readonly #stateDir: string;
  readonly #observe: HostOptions['observe'];
  readonly #store: Store;
  readonly #letGo: () => void;
  readonly #vat: Vat;
  readonly #hostState: HostState;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #requestMs: number;
  readonly #waiters = new RequestWaiters((request) => this.#checkAbandoned(request));
  readonly #presence: Presence;
  readonly #slots: ConnectionSlots;
  readonly #meters: SessionMeters;
  readonly #doors: OpenDoors;
  readonly #sessionEnds = new Map<string, PromiseWithResolvers<void>>();
  readonly #granterLedger: GranterLedger;
  readonly #changes: GranterChanges = new GranterChanges();
  readonly #entryCodes: EntryCodes;
  readonly #passkeys: PasskeyChecks;
  /** Set by `start`. */
  #offers!: Offers;
  #stopListening: () => void = () => {};
  #closing = false;

  constructor(parts: HostParts) {
    const { stateDir, store, letGo, vats, vat, hostState, random, clock, graceMs, requestMs, observe } = parts;
    [this.#stateDir, this.#observe, this.#store, this.#letGo] = [stateDir, observe, store, letGo];
    [this.vats, this.#meters] = [vats, new SessionMeters(vats)];
    this.#vat = vat;
    this.#hostState = hostState as unknown as HostState;
    [this.#random, this.#requestMs] = [random, requestMs];
    this.#granterLedger = new GranterLedger(store, (about) => this.#turn((tables) => lineOwner(tables, about)));
    const sessions: SessionLookup = {
      entered: (session) =>
        this.#turn((tables) => {
          endLook(tables, session);
          return sessionOf(tables, session) !== undefined;
        }),
      endUnlessLasting: async (session) => await this.#turn((tables) => endUnlessLasting(tables, session)),
    };
    this.#slots = new ConnectionSlots(clock, parts.most);
    this.#entryCodes = new EntryCodes(clock, random);
    this.#doors = new OpenDoors(stateDir);
    this.#passkeys = new PasskeyChecks(clock, random, () => this.#doors.origins());
    const shared = { waiters: this.#waiters, sessions, clock, graceMs };
    this.#presence = new Presence({ ...shared, fault: (error) => this.#fault(error) });
  }

  /** Gives the actors of the host their driver, and starts a grace time for each session entered before. */
  async start({ onRequest, suggest, most }: Pick<HostOptions, 'onRequest' | 'suggest' | 'most'>): Promise<void> {
    const [chance, nameKey, drivers] = [base32(this.#random(5)).slice(0, 4), base32(this.#random(20)), base32(this.#random(16))]; // biome-ignore format: one line
    const driverTag = await this.#turn((tables) => {
      if (!tables.facts.has('era')) {
        for (const [fact, text] of Object.entries({ era: chance, starts: 'noted', drivers }))
          tables.facts.set(fact, text);
      }
      keepNameKey(tables, nameKey);
      keepMost(tables, most?.sessions);
      return driverTagOf(tables);
    });
    this.#offers = new Offers((body) => this.#turn(body), driverTag);
    const powers = hostPowers({
      ...{ driverTag, random: this.#random, store: this.#store },
      passkeys: this.#passkeys,
      waiters: this.#waiters,
      ledger: this.#granterLedger,
      changes: this.#changes,
      filed: (notice) => onRequest?.(notice),
      suggested: async (granter) => suggest?.(granter),
      pageCode: (granter) => this.#entryCodes.make(granter),
      disconnect: (sessions) => this.#sessionsEnded(sessions),
      disconnectEnded: () => this.#disconnectEnded(),
    });
    const left = await this.#turn((tables) => {
      tables.powers.set('world', powers as never);
      openPowerbox(tables, this.#hostState, this.#requestMs);
      openRemover(tables, this.#hostState);
      openGrace(tables, this.#hostState);
      return [...tables.sessions.entries()]
        .filter(([id, { entered }]) => entered && sessionOf(tables, id) !== undefined)
        .map(([id]) => id);
    });
    for (const id of left) this.#presence.left(id);
    // The turns that are lost may undo what a peer was told, so each connection is closed.
    this.#stopListening = this.vats.onLoss(() => this.#presence.cut('the disk failed: enter again', closeCodes.fault));
  }

  async openSession(options: Parameters<Host['openSession']>[0]): Promise<NewSession> {
    const { name, granters = [], parent, ...rest } = takeOptions(options, 'openSession', openOptions);
    checkName(name, 'the name of a session');
    const secret = newSecret(this.#random);
    const label = await this.#turn((tables) => {
      for (const granter of granters) granterNamed(tables, granter);
      const above = parent === undefined ? undefined : openSessionNamed(tables, parent);
      const of = { name, granters, parent: above, secret: hashSecret(secret), by: 'host', ...rest };
      return labelOf(openSession(tables, this.#hostState, of));
    });
    return this.#session(label, secret) as NewSession;
  }

  async startSession(given: StartOptions): Promise<Started> {
    const options = takeStartOptions(given);
    const secret = newSecret(this.#random);
    const { granter, purpose } = options;
    checkName(purpose, 'the purpose of a session');
    const begun = (await this.#turn((tables) => {
      granterNamed(tables, granter);
      return startSession(tables, this.#hostState, options, hashSecret(secret));
    })) as StartResult;
    const { how, session: id, grants, note } = begun;
    if (how === 'ended' || id === undefined) return { how: 'ended', id };
    const label = { id, name: options.name };
    if (how === 'again') return { how, session: this.#session(label), grants, note };
    return { how, session: this.#session(label, secret) as NewSession, grants };
  }

  async ensureSession(options: Parameters<Host['ensureSession']>[0]): Promise<Session> {
    const { name, granters = [], parent } = takeOptions(options, 'ensureSession', sessionOptions);
    const open = await this.#turn((tables) => {
      const siblings = parent === undefined ? tables.rootSessions : openSessionNamed(tables, parent).children;
      const session = sessionToContinue(tables, siblings.get(name), granters);
      return session === undefined ? undefined : labelOf(session);
    });
    return open === undefined ? this.openSession(options) : this.#session(open);
  }

  readonly session: Host['session'] = async (id) =>
    this.#session(await this.#turn((tables) => labelOf(openSessionNamed(tables, id))));

  #session(label: SessionLabel, secret?: string): Session {
    const ended = this.#sessionEnds.get(label.id) ?? Promise.withResolvers<void>();
    this.#sessionEnds.set(label.id, ended);
    const hostState = this.#hostState;
    return sessionHandle({ label, secret, ended: ended.promise, hostState, turn: (body) => this.#turn(body) });
  }

  async sessions(): Promise<readonly Session[]> {
    const all = await this.#turn((tables) =>
      [...sessionsFrom(tables)].filter(({ id }) => sessionOf(tables, id) !== undefined).map(labelOf),
    );
    return (all as readonly SessionLabel[]).map((label) => this.#session(label));
  }

  async addGranter(name: string): Promise<{ readonly granter: Far<Granter>; readonly secret: string }> {
    checkName(name, 'the name of a granter');
    checkHostWords(name, 'the name of a granter');
    const secret = newSecret(this.#random);
    const granter = await this.#turn((tables) => addGranter(tables, this.#hostState, name, hashSecret(secret)));
    return { granter: granter as unknown as Far<Granter>, secret };
  }

  async ensureGranter(name: string): Promise<{ readonly granter: Far<Granter>; readonly secret: string | undefined }> {
    const there = await this.#turn((tables) => tables.granters.has(name));
    return there ? { granter: await this.granter(name), secret: undefined } : this.addGranter(name);
  }

  readonly granter: Host['granter'] = async (name, surface) =>
    (await this.#turn((tables) => granterOn(tables, this.#hostState, name, surface))) as unknown as Far<Granter>;

  async renewGranter(name: string): Promise<{ readonly secret: string }> {
    const secret = newSecret(this.#random);
    await this.#turn((tables) => replaceGranterSecret(tables, name, hashSecret(secret)));
    this.#presence.renewed(`granter:${name}`);
    this.#entryCodes.end(name);
    return { secret };
  }

  readonly kept: Host['kept'] = async (change) =>
    (await this.#turn((tables) => keptAfter(tables, change))) as KeptTexts;

  async nameFor(kind: string, text: string): Promise<string> {
    checkName(kind, 'the kind of a name');
    return await this.#turn((tables) => localName(tables, kind, text));
  }
  readonly changeAsker: Host['changeAsker'] = () =>
    this.#vat.root('change asker', () => ChangeAskActor(this.#hostState));
  offer(name: string, cap: object, options?: OfferOptions): Promise<void> {
    return this.#offers.offer(name, cap, options);
  }

  offerCode(open: () => Promise<Guests>, options?: { readonly as?: string }): Promise<void> {
    return this.#offers.offerCode(open, options);
  }

  async serve(options?: ServeOptions | FrontPlace, faces?: HttpFaces, pages?: HttpPages): Promise<OpenDoor> {
    const served = checkFaces(faces);
    const find: Handlers['find'] = (secret, beside) => this.#find(secret, beside);
    const listener = await this.#listen(options, { find, faces: served, pages: checkPages(pages, served) });
    return this.#doors.add(listener, listener.url);
  }

  async serveGranter(given: LocalOptions): Promise<OpenDoor> {
    const options = takeOptions(given, 'serveGranter', localOptions);
    const path = privateSocket(this.#stateDir, options.path);
    const face = (await openLocalGranter((body) => this.#turn(body), this.#hostState, options)) as Far<object>;
    const who = `granter:${options.granter}`;
    const peer: EnteredPeer = { who, session: undefined, face, meter: this.#meters.named(who) };
    return this.#doors.addUnnoted(await this.#listen({ path }, { find: async () => peer }));
  }

  #listen(
    at: ServeOptions | FrontPlace | undefined,
    own: Pick<Handlers, 'find' | 'faces' | 'pages'>,
  ): Promise<Listener> {
    const welcome: Handlers['welcome'] = (guest, duplex, dialect) => {
      const { face: bootstrap, meter } = guest;
      const observe = this.#observe === undefined ? {} : { observe: this.#observe };
      this.#presence.welcome(guest, dialect, captp(duplex, { dialect, bootstrap, meter, ...observe }));
    };
    return openHostDoor<EnteredPeer>(at, {
      ...{ ...own, welcome },
      session: (guest) => httpSession(guest, welcome),
      slot: (guest, end) => this.#slots.take(guest, end),
      slotForCall: (guest, gone) => this.#slots.takeForCall(guest, gone),
      callObject: (request) => this.#objectCall(request),
      fault: (error) => this.#fault(error),
    });
  }

  async #find(secret: string, beside?: boolean): Promise<EnteredPeer | undefined> {
    const entering = this.#entryCodes.take(secret);
    const found = (await this.#turn((tables) =>
      entering === undefined ? peerOf(tables, secret) : pagePeer(tables, this.#hostState, entering),
    )) as FoundPeer | undefined;
    if (found === undefined) return undefined;
    const { who, session, payer, face } = found;
    return { who, session, face: face as Far<object>, meter: this.#meters.named(payer), beside: beside === true };
  }

  readonly entryCode: Host['entryCode'] = async (granter, given) => {
    const options = takeOptions<{ readonly for?: number }>(given, 'entryCode', { for: true });
    await this.#turn((tables) => void granterNamed(tables, granter));
    return { code: this.#entryCodes.make(granter, options.for) };
  };

  async #objectCall({ who: guest, url, call, gone, post }: ObjectRequest<EnteredPeer>): Promise<HttpReply> {
    // Only a session leaves a ledger line, which its meter pays for. Or a stranger could fill the disk.
    if (guest?.session === undefined) return noObject;
    this.#presence.seen(guest.session);
    return post ? await callObject(guest, url, call, gone) : await callObject(guest, '', noCall, gone);
  }

  readonly connections: Host['connections'] = () => this.#presence.connections();
  readonly counts: Host['counts'] = async () =>
    countsOf(this, this.#meters.budgets(), (await this.#turn(rowCounts)) as RowCounts);

  get restored(): boolean {
    return this.vats.restored;
  }

  get restoredBecause(): string | undefined {
    return this.vats.restoredBecause;
  }

  readonly trust: Host['trust'] = (by) => this.vats.trust(by);

  readonly verify: Host['verify'] = (options) =>
    verifyLedger(this.#store, takeOptions(options, 'verify', { against: true }));
  readonly ledger: Host['ledger'] = (options = {}) => exportLedger(this.#store, options);
  readonly retain: Host['retain'] = async (options) => (await retainLedger(this.#store, options)).dropped;
  readonly backup: Host['backup'] = (file) => backup(this.#store, file);

  async close(): Promise<void> {
    this.#closing = true;
    this.#offers.closing();
    this.#stopListening();
    // First, so that no running call sends a result to a peer afterwards.
    this.#presence.close();
    await this.#vat.turn(() => ledgerLine('host-stop', {})).catch(() => {});
    await this.#doors.close();
    await this.#offers.close();
    await this.vats.close();
    await this.#store.close();
    this.#letGo();
  }

  readonly [Symbol.asyncDispose]: Host['close'] = () => this.close();

  async stop(why = ''): Promise<void> {
    // The order is written first. From then on it is carried out, whatever happens to this process.
    if (readStopOrder(this.#stateDir) === undefined) orderStop(this.#stateDir, String(why));
    const said = readStopOrder(this.#stateDir) ?? '';
    const turn = <R>(body: (tables: HostTables) => R): Promise<R> => this.#turn(body) as unknown as Promise<R>;
    const revoked = revokeEverything(turn, said).then(() => this.vats.settled());
    await revoked.then(() => removeStopOrder(this.#stateDir)).catch(() => {});
    await this.close();
  }

  #turn<R>(body: (tables: HostTables) => R): Promise<Faraway<R>> {
    return this.#vat.turn(() => body(tablesOf(this.#hostState)));
  }

  /** Called when the end of these sessions is on the disk. */
  #sessionsEnded(sessions: readonly string[]): void {
    for (const id of sessions) {
      this.#waiters.forget(id);
      this.#presence.ended(id);
      this.#meters.ended(id);
      this.#sessionEnds.get(id)?.resolve();
      this.#sessionEnds.delete(id);
    }
  }

  /** Called when a session or group has ended. Closes the connections of all callers that ended with it. */
  async #disconnectEnded(): Promise<void> {
    const callers = this.#presence.connections().map(({ session }) => session);
    if (callers.length > 0) this.#sessionsEnded(await this.#turn((tables) => endedCallers(tables, callers)));
  }

  /** Writes an error of ours to the log of this host. */
  #fault(error: unknown): void {
    this.#observe?.({ id: base32(this.#random(5)), error });
  }

  #checkAbandoned(request: string): void {
    if (!this.#closing) this.#turn((tables) => checkRequest(tables, request)).catch(() => {});
  }
}
