/**
 * How a forwarder passes a call on: synchronously to a near target, as a message to any other. After Goblins'
 * `select-$/<-`.
 */
import { CapError } from '../core/errors.ts';
import { targetOf } from '../core/reference.ts';
import { E } from '../eventual/eventual.ts';
import { Runnable } from '../turn/runnable.ts';
import { current } from '../turn/turn.ts';

/**
 * Whether `x` is an actor of the running turn's vat, so that its methods can be called and return at once.
 */
export const isNear = (x: unknown): boolean => nearTarget(x) !== undefined;

function nearTarget(x: unknown): Runnable | undefined {
  const target = targetOf(x);
  return current !== undefined && target instanceof Runnable && target.home === current.home ? target : undefined;
}

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;

/** Calls `target` if it is near, else sends to it. `method` is `''` for an actor that is a function. */
export function callOrSend(target: object, method: string, args: readonly unknown[]): unknown {
  const near = nearTarget(target);
  // Not read as a property of the reference: a missing method would be `undefined` or an inherited property.
  if (near !== undefined) return near.near(method, args);
  const sent = E(target) as unknown as Methods & ((...args: readonly unknown[]) => unknown);
  if (method === '') return sent(...args);
  const send = sent[method];
  if (send === undefined) throw new CapError('no-such-method', 'that cannot be the name of a method');
  return send(...args);
}
