/**
 * The methods of the object behind a cap, to describe it to a model or a person, and whether it can be called. It is not a message: nobody
 * on a wire and no actor can ask. It returns names of methods and never a reference.
 */
import { CapError, type Far, type Vat } from '@hob/vat';
import { becomes, endOf, foresee, inTurn, shownMethods, vatOf } from '@hob/vat/forwarder';
import { forwardTargetOf, type KnownForwarder } from './cross.ts';

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

const over: readonly unknown[] = ['revoked', 'expired', 'exhausted', 'vat-halted'];

/**
 * The error of every call of this cap from now on: a grant in it has ended, the object behind is gone, or no method
 * of that object passes all forwarders. Undefined if a call may succeed. Calls nothing. Outside turns. Errors:
 * `not-callable`, and the error of a promise for the cap.
 */
export async function neverCallable(cap: Far<object>): Promise<CapError | undefined> {
  const { methods, forwarded } = await shapeOf(cap);
  let at: object = await becomes(cap as object);
  const first = forwardTargetOf(at);
  for (let next = first; next !== undefined; next = forwardTargetOf(at)) at = await becomes(next.inner);
  const ended = endOf(at);
  if (ended !== undefined) return ended;
  if (methods?.length === 0) return none();
  if (!forwarded || first === undefined) return undefined;
  let last: CapError | undefined;
  for (const method of methods ?? ['']) {
    last = await refusalOf(first, method);
    if (last === undefined || (last.code !== 'no-such-method' && !over.includes(last.code))) return undefined;
  }
  if (last !== undefined && over.includes(last.code)) return last;
  return methods === undefined ? undefined : none();
}

const none = (): CapError => new CapError('no-such-method', 'it has no method that could be called');

/** How forwarders refuse a call of this method now, whatever its arguments. */
function refusalOf(behind: KnownForwarder, method: string): Promise<CapError | undefined> {
  const look = (): CapError | undefined => {
    try {
      foresee(behind.state, () => behind.state.foresee(behind, method, []));
    } catch (error) {
      return error instanceof CapError ? error : new CapError('denied', 'it refuses this call');
    }
    return undefined;
  };
  return (vatOf(behind.state) as Vat).turn(look as never) as Promise<CapError | undefined>;
}
