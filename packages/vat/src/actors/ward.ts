/**
 * Wards: methods of an object that only the holder of an incanter can call. After Goblins' `ward`; the idea is
 * from Joule's channels.
 *
 * Promise: without the incanter of its warden nobody reaches a warded method, and a caller cannot tell a warded
 * method from a missing one. An incantation works once it reaches the object that it was made for: an object
 * that receives it cannot use it on another one. Incanter and objects are of one vat.
 *
 * ```ts
 * const Box = defineProcedure('Box', (bcom, warden, text) =>
 *   ward(bcom, warden, { write: (next) => bcom(Box(warden, next)) }, { read: () => text }));
 * ```
 */
import { spawn } from '../actor/actor.ts';
import { CapError } from '../core/errors.ts';
import { isMethodName } from '../core/reference.ts';
import type { Definition } from '../core/types.ts';
import { define, defineProcedure } from '../turn/portrait.ts';
import { callOrSend, isNear } from './opportunistic.ts';
import { type IsSealed, makeSealers, type Seal, type Sealed, type Unseal } from './sealers.ts';

/** The name under which an incantation arrives. Nobody but an incanter can make one. */
const INCANT = 'incant';

interface Incantation {
  readonly target: object;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Opens incantations. It is for `ward`, in the objects that it protects. */
export type Warden = (sealed: unknown) => Incantation | undefined;
/** Calls a warded method of `target`. `''` is for an object that is called without a name. */
export type Incanter = (target: object, method: string, ...args: readonly unknown[]) => unknown;
type Methods = Readonly<Record<string, unknown>>;

export const Warden: Definition<Warden, [unseal: Unseal<Incantation>, isSealed: IsSealed]> = define(
  'Warden',
  (_bcom, unseal, isSealed) => (sealed) => (isSealed(sealed) ? unseal(sealed as Sealed<Incantation>) : undefined),
);

export const Incanter: Definition<Incanter, [seal: Seal<Incantation>]> = define(
  'Incanter',
  (_bcom, seal) =>
    (target, method, ...args) => {
      if (!isNear(target)) throw new CapError('not-callable', 'an incanter works on objects of its own vat only');
      return callOrSend(target, INCANT, [seal({ target, method, args })]);
    },
);

/** The definition behind `enchant`: every call goes through the incanter. */
export const Enchanted: Definition<object, [incanter: Incanter, target: object]> = defineProcedure(
  'Enchanted',
  (_bcom, incanter, target) => (method, args) => callOrSend(incanter, '', [target, method, ...args]),
);

/** Makes a warden and the incanter that can get through it. In a turn. Goblins' `spawn-warding-pair`. */
export function makeWardingPair(): readonly [warden: Warden, incanter: Incanter] {
  const [seal, unseal, isSealed] = makeSealers<Incantation>();
  return [spawn(Warden(unseal, isSealed)), spawn(Incanter(seal))];
}

/**
 * The procedure of an actor with `warded` methods behind `warden`, and `others` for everybody. For the constructor
 * of `defineProcedure`, which passes its `bcom`.
 */
export const ward =
  (bcom: { readonly self: unknown }, warden: Warden, warded: Methods, others: Methods = {}) =>
  (method: string, args: readonly unknown[]): unknown => {
    const incantation = method === INCANT && args.length === 1 ? warden(args[0]) : undefined;
    // One that was made for another object stays closed: who received it may have passed it on.
    if (incantation !== undefined && incantation.target === bcom.self)
      return methodOf(warded, incantation.method)(...incantation.args);
    return methodOf(others, method)(...args);
  };

function methodOf(methods: Methods, name: string): (...args: readonly unknown[]) => unknown {
  const found = Object.hasOwn(methods, name) && isMethodName(name) ? methods[name] : undefined;
  if (typeof found === 'function') return found as (...args: readonly unknown[]) => unknown;
  throw new CapError('no-such-method', `there is no method "${name.slice(0, 64)}" here`);
}

/** A forwarder that sends each call through the incanter: hand it to whom the warded methods are for. */
export const enchant = <T extends object>(incanter: Incanter, target: T): T => spawn(Enchanted(incanter, target)) as T;
