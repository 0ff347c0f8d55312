/**
 * Tries a search on the main thread, where all holders wait for it.
 *
 * Promise: one round of the event loop has at most one attempt that takes longer than a few milliseconds. A
 * holder whose attempt took that long uses threads for a while, so that its attempts take at most a quarter of
 * the time. (Without this, 4,000 searches of one holder made each read of its neighbours wait for four attempts.)
 */
import { pause } from '../../drivers/yield.ts';
import type { Holder } from '../../root/holder.ts';
import { waitingForThread } from './thread.ts';

/** Shorter attempts cost the neighbours nothing that they would notice. */
const quickMs = 4;
/** The rest after a longer attempt, as a multiple of its time. */
const restFactor = 3;
/** With so many searches in the queue for a thread, one more joins them at once. */
const manyWaiting = 8;

const restsUntil = new WeakMap<Holder, number>();

/** Returns `undefined` if the work belongs into a thread. */
export async function onMainThread<R>(holder: Holder, attempt: () => R | undefined): Promise<R | undefined> {
  if (waitingForThread(holder) >= manyWaiting || isResting(holder)) return undefined;
  // Others may have waited for the same round, so ask again after each.
  for (let rest = pause(); rest; rest = pause()) {
    await rest;
    if (isResting(holder)) return undefined;
  }
  const began = performance.now();
  try {
    return attempt();
  } finally {
    const over = performance.now();
    if (over - began > quickMs) restsUntil.set(holder, over + restFactor * (over - began));
  }
}

function isResting(holder: Holder): boolean {
  return performance.now() < (restsUntil.get(holder) ?? 0);
}
