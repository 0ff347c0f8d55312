/**
 * Revokes every grant of a host, whoever gave it.
 *
 * Promise: an order to stop (`orderStop`, a file beside the store) is carried out. A running host does it
 * before it closes. If that host hangs, was killed or lost its disk, the next host on this state does it
 * before anything else runs: messages, alarms, drivers and the door. So whatever made a host hang does not
 * run again under an old grant.
 */
import type { Vats } from '@hob/vat';
import { readStopOrder, removeStopOrder } from '../drivers/state-dir.ts';
import { revokeAll } from '../sessions/removal.ts';
import { type HostState, HostStateActor, tablesOf } from '../state/host-state.ts';
import type { HostTables } from '../state/records.ts';

/** Tells the drivers to stop. Closing the vats waits for them. */
export const revokeEverything = (
  turn: <R>(body: (tables: HostTables) => R) => Promise<R>,
  why: string,
): Promise<void> => revokeAll(turn, { act: { by: 'hob stop', surface: 'process' }, why });

/**
 * Returns the work of a stop that was ordered, to be done before anything else. Undefined if nothing was
 * ordered.
 */
export function pendingStop(stateDir: string): ((vats: Vats) => Promise<void>) | undefined {
  const why = readStopOrder(stateDir);
  if (why === undefined) return undefined;
  return async (vats) => {
    const vat = vats.vat('host');
    const hostState = (await vat.root('house', () => HostStateActor({}))) as unknown as HostState;
    await revokeEverything((body) => vat.turn(() => body(tablesOf(hostState))) as never, why);
    await vats.settled();
    removeStopOrder(stateDir);
  };
}
