/**
 * The end of everything: all that was ever granted here, to whomever and by whomever.
 *
 * Promise: once it was ordered (`orderStop`, a file beside the store) it happens. A host that runs does it before it closes; where it cannot, for it
 * hangs, was killed or its disk failed, the next one on this state does it before anything else runs: before messages that were on their way,
 * alarms, drivers and the door. So what made a host hang does not do so again under a grant of before.
 */
import type { Vats } from '@hob/vat';
import { stopDone, stopOrder } from '../drivers/state-dir.ts';
import { revokeAll } from '../sessions/removal.ts';
import { type HostState, HostStateActor, tablesOf } from '../state/host-state.ts';
import type { HostTables } from '../state/records.ts';

/** Their drivers are told to stop; who closes the vats waits for them. */
export const stopAll = (turn: <R>(body: (book: HostTables) => R) => Promise<R>, why: string): Promise<void> =>
  revokeAll(turn, { act: { by: 'hob stop', surface: 'process' }, why });

/** What was ordered, before anything else. Undefined where nothing was. */
export function stopFirst(stateDir: string): ((vats: Vats) => Promise<void>) | undefined {
  const why = stopOrder(stateDir);
  if (why === undefined) return undefined;
  return async (vats) => {
    const vat = vats.vat('host');
    const house = (await vat.root('house', () => HostStateActor({}))) as unknown as HostState;
    await stopAll((body) => vat.turn(() => body(tablesOf(house))) as never, why);
    await vats.settled();
    stopDone(stateDir);
  };
}
