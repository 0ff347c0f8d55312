/** How many rows a host has: what is left of something shows there. */
import type { Host } from '../src/index.ts';
import { type HostState, HostStateActor, tablesOf } from '../src/state/host-state.ts';
import type { HostTables } from '../src/state/records.ts';

const names = ['rooms', 'firsts', 'grants', 'bearers', 'sturdyrefs', 'grantIndex', 'roomIndex', 'requests', 'asked', 'refusals', 'askers', 'ended'] as const; // biome-ignore format: one line

/** Runs `body` in a turn of the host, behind all that this program has sent it. */
export async function tablesIn<R>(host: Host, body: (book: HostTables) => R): Promise<unknown> {
  const vat = host.vats.vat('host');
  const known = found.get(host) ?? ((await vat.root('house', () => HostStateActor({}))) as unknown as HostState);
  found.set(host, known);
  return await vat.turn(() => body(tablesOf(known)));
}
/** Known before it is asked for, so that a turn is sent at once. */
const found = new WeakMap<Host, HostState>();

export const rowsOf = (host: Host): Promise<Readonly<Record<string, number>>> =>
  tablesIn(host, (book) => Object.fromEntries(names.map((name) => [name, book[name].size]))) as Promise<
    Readonly<Record<string, number>>
  >;
