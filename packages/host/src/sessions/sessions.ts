/**
 * A session: the caps it holds, by petname, and nothing else.
 *
 * Promise: what a session's connection bootstraps as gives out what is in its c-list. It cannot list, name or reach anything
 * of another session or of the host. From the turn that ends it on it gives out nothing, and nothing that it gave out works.
 */
import { CapError, type Definition, define, E, hashSecret, ledgerLine, spawn, table } from '@hob/vat';
import { handOn } from '../holding/delegation.ts';
import { resolveUrl } from '../holding/urls.ts';
import { withdrawAll } from '../powerbox/pending.ts';
import { request } from '../powerbox/request.ts';
import { heldBy, petnames } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { chainText, eraOf, type HostState, next, powersOf, tablesOf } from '../state/host-state.ts';
import { checkName } from '../state/names.ts';
import { addRoom } from '../state/order.ts';
import type { Bearer, HostTables, SessionRecord } from '../state/records.ts';
import { checkReserved } from '../state/reserved.ts';
import type { GrantTerms } from '../state/terms.ts';
import { endSession } from './removal.ts';

/** What an agent is given. `E(E(bootstrap).cap('workspace')).readText('a')` is one round trip. */
export interface SessionFace {
  /** The petnames it holds. */
  caps(): readonly string[];
  /** The cap of that name; an absent one breaks `no-such-object`. */
  cap(petname: string): object;
  /** The cap behind an object URL that was made in this session; all others break alike, `no-such-object`. */
  resolve(url: string): object;
  /**
   * A session of its own under this one, with what this one hands over: the child's petname of each, and this session's. It is paid for by this
   * session's meter and ends with it. Errors: `invalid`, `no-such-object`, `limit`.
   */
  spawnChild(child: {
    readonly name: string;
    readonly caps: Readonly<Record<string, string>>;
  }): Promise<{ readonly id: string; readonly secret: string }>;
  /**
   * Asks a granter for more: `asks` names what the host offers, or a cap that it holds and wants more of; `why` is shown to a person as its own
   * words. A promise for the cap; what is granted is in `caps()` too. Errors: `denied` (with what to ask for instead), `expired`, `limit`,
   * `no-such-object`, `invalid`.
   */
  request(ask: { readonly asks: string; readonly terms: GrantTerms; readonly why: string }): Promise<object>;
  /** The new secret; the old one dies when the new one is first used. */
  rotate(): Promise<{ readonly secret: string }>;
}

export const SessionActor: Definition<SessionFace, [house: HostState, id: string]> = define(
  'host.session',
  (_bcom, house, id) => {
    const mine = (): readonly [HostTables, SessionRecord] => {
      const book = tablesOf(house);
      const room = sessionOf(book, id);
      if (room === undefined) throw new CapError('revoked', 'this session has ended: ask for a new one');
      return [book, room];
    };
    return {
      caps: () => petnames(mine()[1]),
      cap: (petname) => heldBy(mine()[1], petname),
      resolve: (url) => resolveUrl(...mine(), url),
      spawnChild(child) {
        const [book, room] = mine();
        const { name, caps } = readChild(child);
        // Before a secret is made for it: what is refused costs nothing.
        for (const petname of Object.values(caps)) heldBy(room, petname);
        return E.when(E(powersOf(book)).secret(), ({ secret, hash }) => {
          const [now, parent] = mine();
          const { granters, payer } = parent;
          const made = openSession(now, house, { name, granters, parent, payer, secret: hash, by: id });
          for (const [as, petname] of Object.entries(caps)) handOn(now, parent, petname, made.id, { as }, { by: id });
          return { id: made.id, secret };
        }) as never;
      },
      request: (ask) => request(house, id, ask) as never,
      rotate: () => rotate(house, id) as never,
    };
  },
);

const mostAtOnce = 100;

function readChild(child: unknown): { readonly name: string; readonly caps: Readonly<Record<string, string>> } {
  const shape =
    'spawnChild takes {name: "helper", caps: {notes: "workspace"}}: its name, and its petname of each of yours';
  if (typeof child !== 'object' || child === null) throw new CapError('invalid', shape);
  const { name, caps = {} } = child as { readonly name?: unknown; readonly caps?: unknown };
  checkName(name, 'the name of a session');
  if (typeof caps !== 'object' || caps === null || Array.isArray(caps) || Object.keys(caps).length > mostAtOnce)
    throw new CapError('invalid', shape);
  for (const [as, petname] of Object.entries(caps)) {
    checkName(as, 'a petname');
    if (typeof petname !== 'string') throw new CapError('invalid', shape);
  }
  return { name, caps: caps as Readonly<Record<string, string>> };
}

export interface Opening {
  readonly name: string;
  readonly granters: readonly string[];
  readonly parent?: SessionRecord | undefined;
  /** The session whose meter pays; by default itself. */
  readonly payer?: string;
  /** The hash of its secret. */
  readonly secret: string;
  readonly by: string;
}

/** How many sessions one may hang under: each makes every call of the last one longer. */
const deepest = 8;

/** In a turn. Errors: `invalid` (a name that is taken among its siblings, too deep), `limit`. */
export function openSession(
  book: HostTables,
  house: HostState,
  { name, granters, parent, payer, secret, by }: Opening,
): SessionRecord {
  checkName(name, 'the name of a session');
  const depth = parent === undefined ? 0 : parent.depth + 1;
  if (depth > deepest)
    throw new CapError('invalid', `sessions hang ${deepest} deep at the most: let one further up open it`);
  checkReserved(book, name, 'the name of a session');
  const siblings = parent?.children ?? book.firsts;
  if (siblings.has(name)) throw new CapError('invalid', `a session called "${name}" is open: choose another name`);
  const id = `${name}-${eraOf(book)}${next(book, 'sessions')}`;
  const room: SessionRecord = {
    id,
    name,
    granters: [...granters],
    held: table(),
    children: table(),
    urls: table(),
    parent: parent?.id,
    depth,
    payer: payer ?? id,
    face: spawn(SessionActor(house, id)),
    secret,
    nextSecret: undefined,
    entered: false,
    grouped: true,
  };
  addRoom(book, room);
  siblings.set(name, id);
  book.bearers.set(secret, { session: id });
  ledgerLine('session', {
    session: id,
    what: 'open',
    by,
    granters: [...granters],
    ...(parent === undefined ? {} : { parent: parent.id, chain: chainText(book, room) }),
  });
  return room;
}

/** In a turn. */
export function rotate(house: HostState, id: string): Promise<{ readonly secret: string }> {
  return E.when(E(powersOf(tablesOf(house))).secret(), ({ secret, hash }) => {
    const book = tablesOf(house);
    const room = sessionOf(book, id);
    if (room === undefined) throw new CapError('revoked', 'this session has ended: ask for a new one');
    if (room.nextSecret !== undefined) book.bearers.delete(room.nextSecret);
    book.rooms.set(id, { ...room, nextSecret: hash });
    book.bearers.set(hash, { session: id });
    ledgerLine('session', { session: id, what: 'rotate' });
    return { secret };
  });
}

/** In a turn: who stands behind a secret. That it was used is on the disk before anybody is let in. */
export function enter(book: HostTables, secret: string): Bearer | undefined {
  const hash = hashSecret(secret);
  const bearer = book.bearers.get(hash);
  if (bearer?.session === undefined) return bearer;
  const room = sessionOf(book, bearer.session);
  if (room === undefined) return undefined;
  if (room.nextSecret === hash) {
    book.bearers.delete(room.secret);
    book.rooms.set(room.id, { ...room, secret: hash, nextSecret: undefined, entered: true });
  } else if (!room.entered) book.rooms.set(room.id, { ...room, entered: true });
  return bearer;
}

/** In a turn: the grace time after its last connection is over. Answers whether it goes on. */
export function lapse(book: HostTables, id: string): boolean {
  const room = sessionOf(book, id);
  if (room === undefined) return false;
  withdrawAll(book, id, 'disconnected', 'the connection was lost for too long: ask again');
  for (const [, { grant }] of room.held.entries()) {
    const look = book.grants.get(grant)?.gate.look();
    if (look?.lasting === true && (look.state === 'live' || look.state === 'suspended')) return true;
  }
  void endSession(book, room, { by: 'host' }, 'its connection was lost and the grace time is over');
  return false;
}
