/**
 * The end of everything: all that was ever granted here, to whomever and by whomever, in one turn.
 *
 * Promise: once it was ordered (`orderStop`, a file beside the store) it happens. A host that runs does it before it closes; where it cannot, for it
 * hangs, was killed or its disk failed, the next one on this state does it before anything else runs: before messages that were on their way,
 * alarms, drivers and the door. So what made a host hang does not do so again under a grant of before.
 */
import type { Vats } from '@hob/vat';
import { stopDone, stopOrder } from '../drivers/state-dir.ts';
import { type HostState, HostStateActor, tablesOf } from '../state/host-state.ts';
import type { HostTables } from '../state/records.ts';

/** In a turn. Their drivers are told to stop; who closes the vats waits for them. */
export function revokeAll(book: HostTables, why: string): void {
  for (const [, { gate }] of [...book.grants.entries()]) void gate.revoke(why, { by: 'hob stop', surface: 'process' });
}

/** What was ordered, before anything else. Undefined where nothing was. */
export function stopFirst(stateDir: string): ((vats: Vats) => Promise<void>) | undefined {
  const why = stopOrder(stateDir);
  if (why === undefined) return undefined;
  return async (vats) => {
    const vat = vats.vat('host');
    const house = (await vat.root('house', () => HostStateActor({}))) as unknown as HostState;
    await vat.turn(() => revokeAll(tablesOf(house), why));
    await vats.settled();
    stopDone(stateDir);
  };
}
