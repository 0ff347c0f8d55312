/**
 * How a host program sees what is behind a cap, to mount a directory or to check a brand. It is not a
 * message: nobody on a wire and no actor can ask.
 *
 * Only grants that do nothing but end can be seen through. Forwarders that filter, count, gate or wrap throw
 * `denied`. An audited grant does so unless its terms say `mount`. Use of the object ends with the grants
 * that it was seen through: whoever revokes one waits for `done`.
 */
import { CapError, type Far, type Vat } from '@hob/vat';
import { becomes, inTurn, vatOf, type Watch, watch } from '@hob/vat/forwarder';
import { forwardTargetOf } from './cross.ts';

/**
 * A cap without its forwarders, for the program that runs the host. Work with `inner` counts as work under
 * `grants`: a revoker waits until `done` is called.
 */
export interface Revealed<T> {
  /** The object behind all forwarders. */
  readonly inner: Far<T>;
  /** The grants that it was seen through, outermost first. */
  readonly grants: readonly string[];
  /** Aborts when one of them ends: stop, then call `done`. */
  readonly ended: AbortSignal;
  /** Tells that nothing uses the object any more. */
  done(): void;
}

/**
 * Outside turns. A cap without forwarders is returned as it is. Errors: `denied`, `revoked`, `expired`,
 * `not-callable`.
 */
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
      const { state, inward, inner: behind } = at;
      // A forwarder of a callback is for the object behind, not for the host.
      if (inward)
        throw new CapError('denied', 'this forwarder leads to an object of the holder of the cap: use it by E');
      await (vatOf(state) as Vat).turn(() => {
        const causes = state.reveal();
        grants.push(causes.at(-1) as string);
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
