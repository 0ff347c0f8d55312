/**
 * What a cap looks like behind its forwarders: to describe it to a model or a person. Not a message, so nobody on a wire and no actor can ask.
 *
 * Promise: names of methods come out of here and no reference: whoever may see no further than a forwarder sees no further by this.
 */
import { becomes, CapError, type Far, inTurn, shownMethods } from '@hob/vat';
import { forwardTargetOf } from './cross.ts';

export interface Shape {
  /** Of what is behind all forwarders. Undefined where nothing of this process says it. */
  readonly methods: readonly string[] | undefined;
  /** There is a forwarder in front of it, which may let less through. */
  readonly forwarded: boolean;
}

/** Outside turns. Errors: `not-callable`, and what a promise for the cap broke with. */
export async function shapeOf(cap: Far<object>): Promise<Shape> {
  if (inTurn()) throw new CapError('not-callable', 'shapeOf is for the program that runs the host, outside turns');
  let inner: object = await becomes(cap as object);
  let forwarded = false;
  for (let at = forwardTargetOf(inner); at !== undefined; at = forwardTargetOf(inner)) {
    forwarded = true;
    // A callback's face is for what is behind, not for the host.
    if (at.back) return { methods: undefined, forwarded };
    inner = await becomes(at.inner);
  }
  return { methods: shownMethods(inner), forwarded };
}
