/**
 * The state of a host: its tables, in the store with everything else.
 *
 * Promise: there is one truth. Sessions, granters, grants, offers and hashes of secrets are rows. A turn
 * changes them together with the actors that they name. So a crash leaves all of a turn or nothing, and
 * nothing is kept beside the store.
 */
import { CapError, type Definition, define, type Table, table } from '@hob/vat';
import type { HostPowers } from './host-powers.ts';
import { indexAll } from './order.ts';
import type { GrantRecord, HostTables, SessionRecord } from './records.ts';

export interface HostState {
  /** Returns the table of that name. The first call makes it, because a later version has more tables. */
  table(name: string): Table<unknown>;
}

export const HostStateActor: Definition<HostState, [tables: Readonly<Record<string, Table<unknown>>>]> = define(
  'host.state',
  (bcom, tables) => ({
    table(name) {
      const found = tables[name];
      if (found !== undefined) return found;
      const made = table<unknown>();
      return bcom(HostStateActor({ ...tables, [name]: made }), made);
    },
  }),
  {
    formerly: ['host.house'],
    version: 1,
    upgrade: {
      0: (tables: Readonly<Record<string, Table<unknown>>>): [Readonly<Record<string, Table<unknown>>>] => {
        const [grantIndex, roomIndex] = [table<string>(), table<string>()];
        const { grants, rooms } = tables as {
          readonly grants?: Table<GrantRecord>;
          readonly rooms?: Table<SessionRecord>;
        };
        indexAll(grants, rooms, { grants: grantIndex, sessions: roomIndex });
        return [{ ...tables, grantIndex, roomIndex }];
      },
    },
  },
);

/** The name of each table in the store. It never changes, since a stored state has it. */
const storedNames: Readonly<Record<keyof HostTables, string>> = {
  sessions: 'rooms',
  rootSessions: 'firsts',
  grants: 'grants',
  offers: 'offers',
  granters: 'granters',
  secretOwners: 'bearers',
  sturdyrefs: 'sturdyrefs',
  counts: 'counts',
  powers: 'world',
  facts: 'facts',
  offerInfo: 'offered',
  requests: 'requests',
  requestByDigest: 'asked',
  refusals: 'refusals',
  requestCounts: 'askers',
  powerbox: 'powerbox',
  starts: 'starts',
  grantIndex: 'grantIndex',
  sessionIndex: 'roomIndex',
  endedGroups: 'ended',
  remover: 'remover',
  acceptances: 'acceptances',
  ownNames: 'ownNames',
  kept: 'kept',
  personOnly: 'personOnly',
  passkeys: 'passkeys',
  loops: 'loops',
  personTurns: 'personTurns',
};

class Tables {
  readonly state: HostState;
  constructor(state: HostState) {
    this.state = state;
  }
}
// Each table is looked up at its first use, which makes it.
for (const [field, name] of Object.entries(storedNames))
  Object.defineProperty(Tables.prototype, field, {
    get(this: Tables) {
      return this.state.table(name);
    },
  });

/** In a turn of the host's vat. */
export const tablesOf = (state: HostState): HostTables => new Tables(state) as unknown as HostTables;

/** Counts over the life of a store: returns the next number. */
export function nextNumber(tables: HostTables, what: string): number {
  const number = (tables.counts.get(what) ?? 0) + 1;
  tables.counts.set(what, number);
  return number;
}

/** The suffix that tells the ids of this store from those of another. */
export const storeTagOf = (tables: HostTables): string => tables.facts.get('era') as string;

/**
 * The part of driver names that tells this store from all others. All hosts of a process share one table of driver
 * names. If two hosts had the same part, the grants of one would lead to the objects of the other. The suffix of ids
 * has only 20 bits, which is too few. A store of an earlier version has no such part, and uses the suffix.
 */
export const driverTagOf = (tables: HostTables): string => tables.facts.get('drivers') ?? storeTagOf(tables);

export function powersOf(tables: HostTables): HostPowers {
  const world = tables.powers.get('world');
  if (world === undefined) throw new CapError('unavailable', 'the host is starting: try again');
  return world;
}

/** The sessions from the root session down to this one. */
export function chainOf(tables: HostTables, session: SessionRecord): readonly SessionRecord[] {
  const above = session.parent === undefined ? undefined : tables.sessions.get(session.parent);
  return above === undefined ? [session] : [...chainOf(tables, above), session];
}

export const chainText = (tables: HostTables, session: SessionRecord): string =>
  chainOf(tables, session)
    .map(({ id }) => id)
    .join(' > ');
