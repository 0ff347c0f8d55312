/**
 * Finds the vats to use when the caller names none: those of a given reference, or the only open ones.
 *
 * Promise: nothing is guessed. If several are open and no actor decides, it throws.
 */
import { CapError } from '../core/errors.ts';
import { guarded } from '../core/faults.ts';
import { VatPromise } from '../core/promise.ts';
import { targetOf } from '../core/reference.ts';
import { Runnable } from '../turn/runnable.ts';
import { HomeVat } from './home-vat.ts';
import type { Vat, Vats } from './interface.ts';

/** All open vats, for things made outside a turn. */
export const openedVats: Set<Vats> = new Set();

/** Listeners for a loss in any vats, for code that serves the whole process. */
export const lossesOfAny: Set<(why: CapError) => void> = new Set();

/**
 * `onLoss` of the vats that `home` belongs to. Without `home`, of all vats that this process opens, now and
 * later.
 */
export function onLossOf(home: Vat | undefined, listener: (why: CapError) => void): () => void {
  if (home instanceof HomeVat) return home.vats.onLoss(listener);
  const own = guarded(listener);
  lossesOfAny.add(own);
  return () => void lossesOfAny.delete(own);
}

/** The only open vats. Throws if none or several are open. */
export function onlyVats(): Vats {
  const [first, ...others] = openedVats;
  if (first === undefined) throw new CapError('invalid', 'no vats are open: call openVats first');
  if (others.length > 0) throw new CapError('invalid', 'several vats are open: do this in a turn of the one you mean');
  return first;
}

/** The vats that the actor `reference` lives in, or else the only open ones. */
export const vatsOf = (reference: unknown): Vats => homeOf(reference)?.vats ?? onlyVats();

/** The vat that an actor lives in; undefined for any other value. */
export const vatOf = (reference: unknown): Vat | undefined => homeOf(reference);

/** Every `HomeVat` is a `LiveVat`, which is a `Vat` too. */
function homeOf(reference: unknown): (HomeVat & Vat) | undefined {
  const target = targetOf(reference);
  const at = target instanceof VatPromise && target.settled === 'fulfilled' ? targetOf(target.value) : target;
  return at instanceof Runnable && at.home instanceof HomeVat ? (at.home as unknown as HomeVat & Vat) : undefined;
}
