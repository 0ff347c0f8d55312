/**
 * A session: the caps that it holds, by petname, and nothing else.
 *
 * Promise: the bootstrap object of a session gives out what is in its c-list. It cannot list, name or reach
 * anything of another session or of the host. From the turn that ends it, it gives out nothing, and nothing
 * that it gave out works.
 */
import { type Answers, CapError, type Definition, define, E, type Far, ledgerLine, spawn, table } from '@hob/vat';
import { hashSecret, takeOptions } from '@hob/vat/forwarder';
import { type Asked, askForGrant, requestGrant } from '../powerbox/request.ts';
import { delegate } from '../sharing/delegation.ts';
import { resolveUrl } from '../sharing/urls.ts';
import { capNamed, petnames } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { chainText, type HostState, nextNumber, powersOf, storeTagOf, tablesOf } from '../state/host-state.ts';
import { endLook } from '../state/lapsing.ts';
import { notePersonTurn } from '../state/loops.ts';
import { checkRoom } from '../state/most.ts';
import { checkName } from '../state/names.ts';
import { addSession } from '../state/order.ts';
import type { HostTables, SecretOwner, SessionRecord } from '../state/records.ts';
import { checkReserved } from '../state/reserved.ts';
import type { GrantTerms } from '../state/terms.ts';
import { type CancellableCall, callHeld, cancelCall, cancellable } from './calls.ts';
import { type Holding, holdingsOf } from './holdings.ts';

/** The results of a session's methods, as its caller gets them. The caller names the type of the cap. */
export interface SessionAnswers {
  cap<T extends object>(petname: string): Promise<Far<T>>;
  resolve<T extends object>(url: string): Promise<Far<T>>;
  request<T extends object>(ask: AskForMore): Promise<Far<T>>;
}

/**
 * A request for more. `asks` names an offer of the host, or a cap that the session holds. `why` is shown to a
 * person as the agent's own words.
 */
export interface AskForMore {
  readonly asks: string;
  readonly terms: GrantTerms;
  readonly why: string;
}

/**
 * The bootstrap of an agent's connection. `E(E(session).cap<FsCap>('workspace')).readText('a')` is one round
 * trip: it sends both messages at once.
 */
export interface SessionFace extends Answers<SessionAnswers> {
  /** The petnames it holds. */
  caps(): readonly string[];
  /** The cap of that name, as what the caller says it is; an absent one breaks `no-such-object`. */
  cap<T extends object = object>(petname: string): T;
  /** The cap behind an object URL that was made in this session; all others break alike, `no-such-object`. */
  resolve<T extends object = object>(url: string): T;
  /**
   * A session of its own under this one, with what this one hands over: the child's petname of each, and this
   * session's. It is paid for by this session's meter and ends with it. Errors: `invalid`, `no-such-object`,
   * `limit`.
   */
  spawnChild(child: {
    readonly name: string;
    readonly caps: Readonly<Record<string, string>>;
  }): Promise<{ readonly id: string; readonly secret: string }>;
  /**
   * Asks a granter for more: `asks` names what the host offers, or a cap that it holds and wants more of;
   * `why` is shown to a person as its own words. A promise for the cap; what is granted is in `caps()` too.
   * Errors: `denied` (with what to ask for instead), `expired`, `limit`, `no-such-object`, `invalid`.
   */
  request<T extends object = object>(ask: AskForMore): Promise<T>;
  /** The caps that it holds, as data: methods, uses and time left, and which calls wait for a person. */
  holdings(): readonly Holding[];
  /**
   * As a call of the cap itself, and `cancel` can end it. Arguments are data. With `noted` it resolves with a
   * `NotedResult`. Errors: `invalid`, `no-such-object`, `no-such-method`, those of the cap.
   */
  call(call: CancellableCall): Promise<unknown>;
  /**
   * Ends a call, or a request of `ask`, by the name that its caller gave it: its answer breaks with `revoked`, its
   * job ends, its request is withdrawn. Resolves when the drivers at work for it are done, also if there is no such
   * call. Errors: `invalid`, `limit`.
   */
  cancel(call: string): Promise<void>;
  /**
   * As `request`, and tells at once the id that granters read. `outcome` is fulfilled with the petname of what was
   * granted, or breaks as `request` does. `call` names it for `cancel`. Errors: as for `request`.
   */
  ask(ask: AskForMore & { readonly call?: string }): Asked;
  /**
   * The program that holds the session says that a person has had a turn: what the firewall has stopped, because it
   * went round in circles, goes on.
   */
  personTurn(): void;
  /** The new secret; the old one dies when the new one is first used. */
  rotate(): Promise<{ readonly secret: string }>;
}

export const SessionActor: Definition<SessionFace, [hostState: HostState, id: string]> = define(
  'host.session',
  (_bcom, hostState, id) => {
    const mine = (): readonly [HostTables, SessionRecord] => {
      const tables = tablesOf(hostState);
      const session = sessionOf(tables, id);
      if (session === undefined) throw new CapError('revoked', 'this session has ended: ask for a new one');
      return [tables, session];
    };
    return {
      caps: () => petnames(mine()[1]),
      cap: (petname) => capNamed(mine()[1], petname),
      resolve: (url) => resolveUrl(...mine(), url),
      spawnChild(child) {
        const [tables, session] = mine();
        const { name, caps } = parseChild(child);
        // Before a secret is made for it: what is refused costs nothing.
        for (const petname of Object.values(caps)) capNamed(session, petname);
        return E.when(E(powersOf(tables)).secret(), ({ secret, hash }) => {
          const [now, parent] = mine();
          const { granters, payer } = parent;
          const made = openSession(now, hostState, { name, granters, parent, payer, secret: hash, by: id });
          for (const [as, petname] of Object.entries(caps)) delegate(now, parent, petname, made.id, { as }, { by: id });
          return { id: made.id, secret };
        }) as never;
      },
      request: (ask) => requestGrant(hostState, id, ask) as never,
      holdings: () => holdingsOf(...mine()),
      call: (call) => callHeld(hostState, mine()[1], call),
      personTurn() {
        const [tables, session] = mine();
        notePersonTurn(tables, session.id);
        return undefined;
      },
      cancel: (call) => cancelCall(mine()[1].id, call),
      ask(given) {
        const { call, ...ask } = given ?? {};
        return cancellable(mine()[1].id, call, () => askForGrant(hostState, id, ask));
      },
      rotate: () => rotateSecret(hostState, id) as never,
    };
  },
);

const maxCaps = 100;

function parseChild(child: unknown): { readonly name: string; readonly caps: Readonly<Record<string, string>> } {
  const shape =
    'spawnChild takes {name: "helper", caps: {notes: "workspace"}}: its name, and its petname of each of yours';
  if (typeof child !== 'object' || child === null) throw new CapError('invalid', shape);
  const { name, caps = {} } = takeOptions<{ readonly name?: unknown; readonly caps?: unknown }>(child, 'spawnChild', {
    name: true,
    caps: true,
  });
  checkName(name, 'the name of a session');
  if (typeof caps !== 'object' || caps === null || Array.isArray(caps) || Object.keys(caps).length > maxCaps)
    throw new CapError('invalid', shape);
  for (const [as, petname] of Object.entries(caps)) {
    checkName(as, 'a petname');
    if (typeof petname !== 'string') throw new CapError('invalid', shape);
  }
  return { name, caps: caps as Readonly<Record<string, string>> };
}

interface OpenSessionOptions {
  readonly name: string;
  readonly granters: readonly string[];
  readonly parent?: SessionRecord | undefined;
  /** The session whose meter pays; by default itself. */
  readonly payer?: string;
  /** The hash of its secret. */
  readonly secret: string;
  readonly by: string;
  /** Nobody is expected to answer its requests. By default as its parent. */
  readonly unattended?: true | undefined;
}

/** How many sessions one may hang under: each makes every call of the last one longer. */
const maxDepth = 8;

/** In a turn. Errors: `invalid` (a name that is taken among its siblings, too deep), `limit`. */
export function openSession(
  tables: HostTables,
  hostState: HostState,
  { name, granters, parent, payer, secret, by, unattended = parent?.unattended }: OpenSessionOptions,
): SessionRecord {
  checkName(name, 'the name of a session');
  checkRoom(tables);
  const depth = parent === undefined ? 0 : parent.depth + 1;
  if (depth > maxDepth)
    throw new CapError('invalid', `sessions can be nested ${maxDepth} deep: let a session further up open it`);
  checkReserved(tables, name, 'the name of a session');
  const siblings = parent?.children ?? tables.rootSessions;
  if (siblings.has(name)) throw new CapError('invalid', `a session called "${name}" is open: choose another name`);
  const id = `${name}-${storeTagOf(tables)}${nextNumber(tables, 'sessions')}`;
  const session: SessionRecord = {
    id,
    name,
    granters: [...granters],
    held: table(),
    children: table(),
    urls: table(),
    parent: parent?.id,
    depth,
    payer: payer ?? id,
    face: spawn(SessionActor(hostState, id)),
    secret,
    nextSecret: undefined,
    entered: false,
    grouped: true,
    ...(unattended === true ? { unattended } : {}),
  };
  addSession(tables, session);
  siblings.set(name, id);
  tables.secretOwners.set(secret, { session: id });
  ledgerLine('session', {
    session: id,
    what: 'open',
    by,
    granters: [...granters],
    ...(parent === undefined ? {} : { parent: parent.id, chain: chainText(tables, session) }),
  });
  return session;
}

/**
 * In a turn: the open session of that id, if it names the same granters; undefined where none is open.
 * Errors: `invalid` (it names others).
 */
export function sessionToContinue(
  tables: HostTables,
  id: string | undefined,
  granters: readonly string[],
): SessionRecord | undefined {
  const session = id === undefined ? undefined : sessionOf(tables, id);
  if (session === undefined) return undefined;
  const [asked, there] = [new Set(granters), new Set(session.granters)];
  if (asked.size !== there.size || ![...asked].every((name) => there.has(name)))
    throw new CapError(
      'invalid',
      `the session "${session.name}" is open and names other granters: end it first, or choose another name`,
    );
  return session;
}

/** In a turn. */
export function rotateSecret(hostState: HostState, id: string): Promise<{ readonly secret: string }> {
  return E.when(E(powersOf(tablesOf(hostState))).secret(), ({ secret, hash }) => {
    const tables = tablesOf(hostState);
    const session = sessionOf(tables, id);
    if (session === undefined) throw new CapError('revoked', 'this session has ended: ask for a new one');
    if (session.nextSecret !== undefined) tables.secretOwners.delete(session.nextSecret);
    tables.sessions.set(id, { ...session, nextSecret: hash });
    tables.secretOwners.set(hash, { session: id });
    ledgerLine('session', { session: id, what: 'rotate' });
    return { secret };
  });
}

/** In a turn: who stands behind a secret. That it was used is on the disk before anybody is let in. */
export function authenticate(tables: HostTables, secret: string): SecretOwner | undefined {
  const hash = hashSecret(secret);
  const bearer = tables.secretOwners.get(hash);
  if (bearer?.session === undefined) return bearer;
  const session = sessionOf(tables, bearer.session);
  if (session === undefined) return undefined;
  endLook(tables, session.id);
  if (session.nextSecret === hash) {
    tables.secretOwners.delete(session.secret);
    tables.sessions.set(session.id, { ...session, secret: hash, nextSecret: undefined, entered: true });
  } else if (!session.entered) tables.sessions.set(session.id, { ...session, entered: true });
  return bearer;
}
