/**
 * Sealing: a box that anybody may carry and only the unsealer can open. Goblins' sealer triplet.
 *
 * Promise: without this triplet's `unseal` no holder of a box learns its content. Only boxes made by this
 * triplet's `seal` are opened or recognised. Boxes of another triplet are not, and neither is an object that
 * forwards to a genuine box.
 *
 * How (Morris 1973): `open` makes the box put itself and its content into a slot that only the three actors
 * share. A caller of `open` that cannot read the slot learns nothing. The box also puts its own reference
 * there, so an impostor that forwards to a genuine box is detected.
 */
import { spawn } from '../actor/actor.ts';
import { CapError } from '../core/errors.ts';
import type { Definition } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { define } from '../turn/portrait.ts';
import { attempt } from '../turn/turn.ts';
import { type Cell, makeCell } from './cell.ts';
import { isNear } from './opportunistic.ts';

/** Opaque. `open` returns nothing. */
export interface Sealed<V = unknown> {
  open(): void;
  /** Exists only in types. */
  readonly content?: V;
}

/** A pending promise is sealed, or opened, once it is resolved. */
export type Seal<V = unknown> = (value: V | PromiseLike<V>) => Sealed<V>;

/**
 * Opens a box of its own sealer. A pending promise is opened once it is resolved. Errors: `denied` for every
 * other box.
 */
export type Unseal<V = unknown> = (box: Sealed<V> | PromiseLike<Sealed<V>>) => V;
/** The brand check: whether `x` is a box of this triplet. */
export type IsSealed = (x: unknown) => boolean;

/** Seals, opens, and tells its own boxes from others. Hand each to whom it is for. */
export type SealerTriplet<V = unknown> = readonly [seal: Seal<V>, unseal: Unseal<V>, isSealed: IsSealed];

interface BoxContent {
  readonly box: object;
  readonly value: unknown;
}
type Slot = Cell<BoxContent | undefined>;

/** The definition of a box. Nobody but the unsealer learns its content. */
export const SealedBox: Definition<Sealed, [slot: Slot, value: unknown]> = define('SealedBox', (bcom, slot, value) => ({
  open: () => slot.write({ box: bcom.self, value }),
})) as Definition<Sealed, [slot: Slot, value: unknown]>;

/** The definition behind `Seal`. */
export const Sealer: Definition<Seal, [slot: Slot]> = define('Sealer', (_bcom, slot) => (value) => {
  const seal = (settled: unknown): Sealed => spawn(SealedBox(slot, settled));
  return value instanceof Promise ? (E.when(value, seal) as unknown as Sealed) : seal(value);
});

/** The definition behind `Unseal`. */
export const Unsealer: Definition<Unseal, [slot: Slot]> = define('Unsealer', (_bcom, slot) => (box) => {
  const unseal = (settled: unknown): unknown => {
    const opened = contentOf(slot, settled);
    if (opened === undefined) {
      throw new CapError('denied', 'this unsealer does not open that: it takes boxes of its own sealer only');
    }
    return opened.value;
  };
  return box instanceof Promise ? E.when(box as Promise<unknown>, unseal) : unseal(box);
});

/** The definition behind `IsSealed`. */
export const BrandCheck: Definition<IsSealed, [slot: Slot]> = define('BrandCheck', (_bcom, slot) => (x) => {
  const check = (settled: unknown): boolean => contentOf(slot, settled) !== undefined;
  return x instanceof Promise ? (E.when(x, check) as unknown as boolean) : check(x);
});

/** Returns what the box put into the slot; undefined for anything that is not one of our boxes. */
function contentOf(slot: Slot, box: unknown): BoxContent | undefined {
  if (!isNear(box)) return undefined;
  slot.write(undefined);
  try {
    // An impostor may run any code here. `attempt` undoes its changes if it throws.
    attempt(() => (box as Sealed).open());
  } catch {
    return undefined;
  }
  const opened = slot.read();
  slot.write(undefined);
  return opened?.box === box ? opened : undefined;
}

/** Makes a triplet. Goblins' `spawn-sealer-triplet`. */
export function makeSealers<V = unknown>(): SealerTriplet<V> {
  const slot: Slot = makeCell<BoxContent | undefined>(undefined);
  return [spawn(Sealer(slot)) as Seal<V>, spawn(Unsealer(slot)) as Unseal<V>, spawn(BrandCheck(slot))];
}
