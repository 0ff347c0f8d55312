/**
 * The methods of the object behind a cap, to describe it to a model or a person. It is not a message: nobody
 * on a wire and no actor can ask. It returns names of methods and never a reference.
 */
import { CapError, type Far } from '@hob/vat';
import { becomes, inTurn, shownMethods } from '@hob/vat/forwarder';
import { forwardTargetOf } from './cross.ts';

/** The facts about a cap that are known without calling it. */
export interface Shape {
  /** The methods of the object behind all forwarders. Undefined if nothing in this process knows them. */
  readonly methods: readonly string[] | undefined;
  /** There is a forwarder in front of it, which may allow fewer. */
  readonly forwarded: boolean;
}

/** Outside turns. Errors: `not-callable`, and the error of a promise for the cap. */
export async function shapeOf(cap: Far<object>): Promise<Shape> {
  if (inTurn()) throw new CapError('not-callable', 'shapeOf is for the program that runs the host, outside turns');
  let inner: object = await becomes(cap as object);
  let forwarded = false;
  for (let at = forwardTargetOf(inner); at !== undefined; at = forwardTargetOf(inner)) {
    forwarded = true;
    // A forwarder of a callback is for the object behind, not for the host.
    if (at.inward) return { methods: undefined, forwarded };
    inner = await becomes(at.inner);
  }
  return { methods: shownMethods(inner), forwarded };
}
