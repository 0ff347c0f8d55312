/**
 * Synchronous if it can be, eventual otherwise: how a forwarder passes a call on. After Goblins' `select-$/<-`.
 */
import { Runnable } from '../actor.ts';
import { E } from '../eventual.ts';
import { targetOf } from '../reference.ts';
import { current } from '../turn.ts';

/** Whether `x` is an actor of the running turn's vat: its methods can be called and answer at once. */
export function isNear(x: unknown): boolean {
  const target = targetOf(x);
  return current !== undefined && target instanceof Runnable && target.home === current.home;
}

type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/** Calls a near `target`, sends to any other. `method` is `''` for an actor that is a function. */
export function callOrSend(target: object, method: string, args: readonly unknown[]): unknown {
  const to = (isNear(target) ? target : E(target)) as unknown;
  return method === '' ? (to as (...args: readonly unknown[]) => unknown)(...args) : (to as Methods)[method]?.(...args);
}
