/**
 * Seeing through: for the host, which mounts a directory and checks brands. Not a message, so nobody on a wire and no actor can ask.
 *
 * Promise: only through forwarders that do nothing but end (`revocable`, `timed`); those that filter, count, gate or wrap refuse with
 * `denied`, audited ones unless they say that they may be mounted. What was seen ends with the grants that it was seen through, and whoever
 * revokes one waits until it has.
 */
import { becomes, CapError, type Far, inTurn, type Vat, vatOf, type Watch, watch } from '@hob/vat';
import { forwardTargetOf } from './cross.ts';

export interface Revealed<T> {
  /** What is behind all forwarders. */
  readonly inner: Far<T>;
  /** The grants it was seen through, outermost first. */
  readonly grants: readonly string[];
  /** Fires when one of them ends: stop, then call `done`. */
  readonly ended: AbortSignal;
  /** What was done with it is over. */
  done(): void;
}

/** Outside turns. What is no forwarder is itself. Errors: `denied`, `revoked`, `expired`, `not-callable`. */
export async function reveal<T extends object>(cap: Far<T>): Promise<Revealed<T>> {
  if (inTurn()) throw new CapError('not-callable', 'reveal is for the program that runs the host, outside turns');
  const grants: string[] = [];
  const watches: Watch[] = [];
  const done = (): void => {
    for (const each of watches) each.done();
  };
  let inner: object = cap as object;
  try {
    inner = await becomes(inner);
    for (let at = forwardTargetOf(inner); at !== undefined; at = forwardTargetOf(inner)) {
      const { rules, back, inner: behind } = at;
      // A callback's face is for what is behind, not for the host.
      if (back) throw new CapError('denied', 'this stands for an object of whoever holds the cap: use it by E');
      await (vatOf(rules) as Vat).turn(() => {
        const causes = rules.reveal();
        const grant = causes.at(-1);
        if (grant === undefined) return;
        grants.push(grant);
        watches.push(watch(causes));
      });
      inner = await becomes(behind);
    }
  } catch (error) {
    done();
    throw error;
  }
  const ended = AbortSignal.any(watches.map(({ signal }) => signal));
  return Object.freeze({ inner: inner as Far<T>, grants: Object.freeze(grants), ended, done });
}
