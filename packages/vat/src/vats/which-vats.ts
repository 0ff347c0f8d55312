/**
 * Which vats are meant where nobody says so: those that a reference lives in, else the only ones that are open.
 *
 * Promise: nothing is guessed. Where several are open and no actor says which, it is refused.
 */
import { CapError } from '../core/errors.ts';
import { guarded } from '../core/guarded.ts';
import { VatPromise } from '../core/promise.ts';
import { targetOf } from '../core/reference.ts';
import { Runnable } from '../turn/runnable.ts';
import type { Vat, Vats } from './interface.ts';
import { LiveVat } from './vat.ts';

/** Those that are open, for what is made outside a turn and has to live somewhere. */
export const openedVats: Set<Vats> = new Set();

/** Those who are told of any loss: who speaks for the whole process, and not for certain vats. */
export const lossesOfAny: Set<(why: CapError) => void> = new Set();

/** `onLoss` of the vats that `home` is one of; where there is none, of all that this process has open, now and later. */
export function onLossOf(home: Vat | undefined, listener: (why: CapError) => void): () => void {
  if (home instanceof LiveVat) return home.vats.onLoss(listener);
  const own = guarded(listener);
  lossesOfAny.add(own);
  return () => void lossesOfAny.delete(own);
}

/** The vats to use where the caller could not say which. */
export function onlyVats(): Vats {
  const [first, ...others] = openedVats;
  if (first === undefined) throw new CapError('invalid', 'no vats are open: call openVats first');
  if (others.length > 0) throw new CapError('invalid', 'several vats are open: do this in a turn of the one you mean');
  return first;
}

/** The vats that `reference` lives in, where it is an actor; else those that are open, where that is one set. */
export const vatsOf = (reference: unknown): Vats => homeOf(reference)?.vats ?? onlyVats();

/** The vat that an actor lives in; undefined for all else. */
export const vatOf = (reference: unknown): Vat | undefined => homeOf(reference);

function homeOf(reference: unknown): LiveVat | undefined {
  const target = targetOf(reference);
  const at = target instanceof VatPromise && target.settled === 'fulfilled' ? targetOf(target.value) : target;
  return at instanceof Runnable && at.home instanceof LiveVat ? at.home : undefined;
}
