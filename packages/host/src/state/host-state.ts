/**
 * What a host knows: its tables, in the store with everything else.
 *
 * Promise: there is one truth. Sessions, granters, grants, offers and what their secrets open are rows that a turn changes together with the
 * actors they speak of; so a crash finds all of it or nothing, and nothing of it is kept beside the store.
 */
import { CapError, type Definition, define, type Table, table } from '@hob/vat';
import type { HostPowers } from './host-powers.ts';
import { indexAll } from './order.ts';
import type {
  Asker,
  Bearer,
  GranterRecord,
  GrantRecord,
  HostTables,
  Offered,
  Pending,
  Removal,
  SessionRecord,
  SturdyrefRecord,
} from './records.ts';

export interface HostState {
  /** The table of that name, made at the first call: a later version has more of them. */
  table(name: string): Table<unknown>;
}

export const HostStateActor: Definition<HostState, [tables: Readonly<Record<string, Table<unknown>>>]> = define(
  'host.house',
  (bcom, tables) => ({
    table(name) {
      const found = tables[name];
      if (found !== undefined) return found;
      const made = table<unknown>();
      return bcom(HostStateActor({ ...tables, [name]: made }), made);
    },
  }),
  {
    version: 1,
    upgrade: {
      0: (tables: Readonly<Record<string, Table<unknown>>>): [Readonly<Record<string, Table<unknown>>>] => {
        const [grantIndex, roomIndex] = [table<string>(), table<string>()];
        const { grants, rooms } = tables as {
          readonly grants?: Table<GrantRecord>;
          readonly rooms?: Table<SessionRecord>;
        };
        indexAll(grants, rooms, { grants: grantIndex, rooms: roomIndex });
        return [{ ...tables, grantIndex, roomIndex }];
      },
    },
  },
);

/** In a turn of the house. */
export function tablesOf(house: HostState): HostTables {
  const get = <V>(name: string): Table<V> => house.table(name) as Table<V>;
  return {
    get rooms() {
      return get<SessionRecord>('rooms');
    },
    get firsts() {
      return get<string>('firsts');
    },
    get grants() {
      return get<GrantRecord>('grants');
    },
    get offers() {
      return get<object>('offers');
    },
    get granters() {
      return get<GranterRecord>('granters');
    },
    get bearers() {
      return get<Bearer>('bearers');
    },
    get sturdyrefs() {
      return get<SturdyrefRecord>('sturdyrefs');
    },
    get counts() {
      return get<number>('counts');
    },
    get world() {
      return get<HostPowers>('world');
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
    get ended() {
      return get<Removal>('ended');
    },
    get remover() {
      return get<object>('remover');
    },
  };
}

/** Numbers things over the life of a store. */
export function next(book: HostTables, what: string): number {
  const number = (book.counts.get(what) ?? 0) + 1;
  book.counts.set(what, number);
  return number;
}

/** Tells the ids of this store from those of another. */
export const eraOf = (book: HostTables): string => book.facts.get('era') as string;

export function powersOf(book: HostTables): HostPowers {
  const world = book.world.get('world');
  if (world === undefined) throw new CapError('unavailable', 'the host is starting: try again');
  return world;
}

/** The sessions from the first one down to this. */
export function chainOf(book: HostTables, room: SessionRecord): readonly SessionRecord[] {
  const above = room.parent === undefined ? undefined : book.rooms.get(room.parent);
  return above === undefined ? [room] : [...chainOf(book, above), room];
}

export const chainText = (book: HostTables, room: SessionRecord): string =>
  chainOf(book, room)
    .map(({ id }) => id)
    .join(' > ');
