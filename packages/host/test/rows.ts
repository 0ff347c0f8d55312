/** How many rows a host has: what is left of something shows there. */
import type { Host } from '../src/index.ts';
import { type HostState, HostStateActor, tablesOf } from '../src/state/host-state.ts';
import type { HostTables } from '../src/state/records.ts';

const names = ['sessions', 'rootSessions', 'grants', 'secretOwners', 'sturdyrefs', 'grantIndex', 'sessionIndex', 'requests', 'requestByDigest', 'refusals', 'requestCounts', 'endedGroups'] as const; // biome-ignore format: one line

/** Runs `body` in a turn of the host, behind all that this program has sent it. */
export async function tablesIn<R>(host: Host, body: (tables: HostTables) => R): Promise<unknown> {
  const vat = host.vats.vat('host');
  const known = found.get(host) ?? ((await vat.root('house', () => HostStateActor({}))) as unknown as HostState);
  found.set(host, known);
  return await vat.turn(() => body(tablesOf(known)));
}
/** Known before it is asked for, so that a turn is sent at once. */
const found = new WeakMap<Host, HostState>();

export type Rows = Readonly<Record<(typeof names)[number], number>>;

export const rowsOf = (host: Host): Promise<Rows> =>
  tablesIn(host, (tables) => Object.fromEntries(names.map((name) => [name, tables[name].size]))) as Promise<Rows>;
