/**
 * What a host knows: its tables, in the store with everything else.
 *
 * Promise: there is one truth. Sessions, granters, grants, offers and what their secrets open are rows that a turn changes together with the
 * actors they speak of; so a crash finds all of it or nothing, and nothing of it is kept beside the store.
 */
import type { Gate } from '@hob/revocable';
import { CapError, type Definition, define, type Table, table } from '@hob/vat';
import { indexAll } from './order.ts';
import type { Asker, Pending } from './powerbox/pending.ts';
import type { World } from './world.ts';

/** What a session holds under a petname. The row stays when the grant is over: a petname is never bound anew. */
export interface Holding {
  readonly petname: string;
  readonly cap: object;
  readonly grant: string;
}

/** A session, as it is kept. */
export interface Room {
  readonly id: string;
  readonly name: string;
  readonly granters: readonly string[];
  /** By the look of the petname. */
  readonly held: Table<Holding>;
  /** Their ids, by name. */
  readonly children: Table<string>;
  /** Its object URLs, by the hashes of their ids. */
  readonly urls: Table<Published>;
  readonly parent: string | undefined;
  /** How many sessions it hangs under. */
  readonly depth: number;
  /** The session whose meter pays. */
  readonly payer: string;
  /** What its connections bootstrap as. */
  readonly face: object;
  /** Hashes of the secret that is in use, and of the one that takes its place when it is first used. */
  readonly secret: string;
  readonly nextSecret: string | undefined;
  /** Somebody has been in it: from then on it is kept for the grace time only. */
  readonly entered: boolean;
}

/** A grant, as it is kept. */
export interface Kept {
  readonly id: string;
  readonly session: string;
  readonly petname: string;
  readonly granter: string;
  readonly offered: string;
  /** The grant that it hangs under. */
  readonly parent: string | undefined;
  /** The digest of the request that was approved; also of what hangs under it. */
  readonly act?: string;
  readonly gate: Gate;
}

export interface GranterRow {
  readonly name: string;
  readonly secret: string;
  /** For the program that runs the host, and for who enters with the secret. */
  readonly program: object;
  readonly wire: object;
}

/** Whom a secret opens something for, by the secret's hash. */
export interface Bearer {
  readonly session?: string;
  readonly granter?: string;
  /** The grant of a sturdyref, and the session that it hangs under. */
  readonly sturdyref?: readonly [session: string, grant: string];
}

/** A sturdyref, as it is kept. It is called after its grant. */
export interface SturdyRow {
  readonly cap: object;
  /** As those of a session. */
  readonly secret: string;
  readonly nextSecret: string | undefined;
}

/** What an object URL stands for. */
export interface Published {
  readonly petname: string;
  /** In vat time, and in ms since 1970, which may only shorten. */
  readonly deadline: number;
  readonly wallDeadline: number;
}

/** What the host knows of an offer of this process. */
export interface Offered {
  /** Another object under the same name has another number. */
  readonly number: number;
  /** Its methods, where they can be seen. */
  readonly methods: readonly string[] | undefined;
  /** Those that change nothing. */
  readonly reads: readonly string[];
  /** Its calls are those of a directory cap: what they would change can be shown. */
  readonly directory: boolean;
}

export interface Book {
  readonly rooms: Table<Room>;
  /** The sessions that hang under none: their ids, by name. */
  readonly firsts: Table<string>;
  readonly grants: Table<Kept>;
  readonly offers: Table<object>;
  readonly granters: Table<GranterRow>;
  readonly bearers: Table<Bearer>;
  /** By `SESSION/GRANT`. */
  readonly sturdyrefs: Table<SturdyRow>;
  readonly counts: Table<number>;
  readonly world: Table<World>;
  readonly facts: Table<string>;
  /** By the names of offers. */
  readonly offered: Table<Offered>;
  /** What waits for a granter; the same by `ASKER DIGEST`; what is refused for good, and why, by the same. */
  readonly requests: Table<Pending>;
  readonly asked: Table<string>;
  readonly refusals: Table<string>;
  /** How much the session that pays has asked. */
  readonly askers: Table<Asker>;
  /** The one actor that looks after requests. */
  readonly powerbox: Table<object>;
  /** The session that a start of the program opened, by its purpose. The row stays when the session has ended. */
  readonly starts: Table<string>;
  /** The ids of grants, and of sessions, by keys that sort by number: see `order.ts`. */
  readonly grantIndex: Table<string>;
  readonly roomIndex: Table<string>;
}

export interface House {
  /** The table of that name, made at the first call: a later version has more of them. */
  table(name: string): Table<unknown>;
}

export const HouseActor: Definition<House, [tables: Readonly<Record<string, Table<unknown>>>]> = define(
  'host.house',
  (bcom, tables) => ({
    table(name) {
      const found = tables[name];
      if (found !== undefined) return found;
      const made = table<unknown>();
      return bcom(HouseActor({ ...tables, [name]: made }), made);
    },
  }),
  {
    version: 1,
    upgrade: {
      0: (tables: Readonly<Record<string, Table<unknown>>>): [Readonly<Record<string, Table<unknown>>>] => {
        const [grantIndex, roomIndex] = [table<string>(), table<string>()];
        const { grants, rooms } = tables as { readonly grants?: Table<Kept>; readonly rooms?: Table<Room> };
        indexAll(grants, rooms, { grants: grantIndex, rooms: roomIndex });
        return [{ ...tables, grantIndex, roomIndex }];
      },
    },
  },
);

/** In a turn of the house. */
export function bookOf(house: House): Book {
  const get = <V>(name: string): Table<V> => house.table(name) as Table<V>;
  return {
    get rooms() {
      return get<Room>('rooms');
    },
    get firsts() {
      return get<string>('firsts');
    },
    get grants() {
      return get<Kept>('grants');
    },
    get offers() {
      return get<object>('offers');
    },
    get granters() {
      return get<GranterRow>('granters');
    },
    get bearers() {
      return get<Bearer>('bearers');
    },
    get sturdyrefs() {
      return get<SturdyRow>('sturdyrefs');
    },
    get counts() {
      return get<number>('counts');
    },
    get world() {
      return get<World>('world');
    },
    get facts() {
      return get<string>('facts');
    },
    get offered() {
      return get<Offered>('offered');
    },
    get requests() {
      return get<Pending>('requests');
    },
    get asked() {
      return get<string>('asked');
    },
    get refusals() {
      return get<string>('refusals');
    },
    get askers() {
      return get<Asker>('askers');
    },
    get powerbox() {
      return get<object>('powerbox');
    },
    get starts() {
      return get<string>('starts');
    },
    get grantIndex() {
      return get<string>('grantIndex');
    },
    get roomIndex() {
      return get<string>('roomIndex');
    },
  };
}

/** Numbers things over the life of a store. */
export function next(book: Book, what: string): number {
  const number = (book.counts.get(what) ?? 0) + 1;
  book.counts.set(what, number);
  return number;
}

/** Tells the ids of this store from those of another. */
export const eraOf = (book: Book): string => book.facts.get('era') as string;

export function worldOf(book: Book): World {
  const world = book.world.get('world');
  if (world === undefined) throw new CapError('unavailable', 'the host is starting: try again');
  return world;
}

/** The sessions from the first one down to this. */
export function chainOf(book: Book, room: Room): readonly Room[] {
  const above = room.parent === undefined ? undefined : book.rooms.get(room.parent);
  return above === undefined ? [room] : [...chainOf(book, above), room];
}

export const chainText = (book: Book, room: Room): string =>
  chainOf(book, room)
    .map(({ id }) => id)
    .join(' > ');
