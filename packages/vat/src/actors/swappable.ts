/**
 * A proxy whose target can be replaced without its holders noticing.
 *
 * Promise: the proxy stays the same reference and forwards to the current target. Only the holder of the
 * swapper can change it. Swapping in an object that throws is the oldest way to revoke. After Goblins'
 * `swappable`.
 */
import { spawn, spawnLike } from '../actor/actor.ts';
import { CapError } from '../core/errors.ts';
import type { Definition } from '../core/types.ts';
import { define, defineProcedure } from '../turn/portrait.ts';
import { makeCell, type ReadOnlyCell, type WriteOnlyCell } from './cell.ts';
import { callOrSend } from './opportunistic.ts';

/** Replaces the target of its proxy. Errors: `cycle` for the proxy itself. */
export interface Swapper<T extends object = object> {
  swap(target: T): void;
}

/** The definition of the proxy: passes every call on to the current target. */
export const SwappableProxy: Definition<object, [target: ReadOnlyCell<object>]> = defineProcedure(
  'SwappableProxy',
  (_bcom, target) => (method, args) => callOrSend(target.read(), method, args),
);

export const Swapper: Definition<Swapper, [target: WriteOnlyCell<object>, proxy: object]> = define(
  'Swapper',
  (_bcom, target, proxy) => ({
    swap(next) {
      if (next === proxy) throw new CapError('cycle', 'a proxy cannot stand for itself: swap in another object');
      target.write(next);
    },
  }),
);

/**
 * Makes a proxy for `first`, and the swapper that changes its target. In a turn. After Goblins' `swappable`.
 */
export function makeSwappable<T extends object>(first: T): { readonly proxy: T; readonly swapper: Swapper<T> } {
  const target = makeCell<object>(first);
  const proxy = spawnLike(first, SwappableProxy(target));
  return { proxy: proxy as T, swapper: spawn(Swapper(target, proxy)) as Swapper<T> };
}
