/**
 * Runs many objects once per tick: steps of a game, a simulation, clean-up work. After Goblins'
 * `spawn-ticker`.
 *
 * Promise: one tick is one turn. Each registered object is ticked once, in the order of registration. An
 * object registered during a tick starts with the next one. If one object throws, the whole tick is undone.
 * An object leaves by returning `false`.
 */
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import { CapError } from '../core/errors.ts';
import type { Definition, Table } from '../core/types.ts';
import { define } from '../turn/portrait.ts';
import { isNear } from './opportunistic.ts';

/** An object that a ticker calls. It leaves the ticker by returning `false`. */
export interface Tickable {
  tick(...args: readonly unknown[]): boolean | undefined;
}

/**
 * Calls all its objects in one turn, in the order of registration. If one throws, the whole tick is undone.
 * Errors: `not-callable` for an object of another vat.
 */
export interface Ticker {
  /** Accepts only objects of the ticker's vat, because a tick is synchronous. */
  register(tickable: Tickable): void;
  tick(...args: readonly unknown[]): void;
  /** The number of registered objects. */
  count(): number;
  /** The registered objects, in their order. */
  getTicked(): readonly Tickable[];
  /**
   * Combines the registered objects, the last one first: `step(first, step(second, … step(last, init)))`. By
   * message `step` is an actor that is a function.
   */
  foldr<R>(step: (tickable: Tickable, rest: R) => R, init: R): R;
}

const ticked = (rows: Table<Tickable>): readonly Tickable[] => Array.from(rows.entries(), ([, each]) => each);

export const Ticker: Definition<Ticker, [rows: Table<Tickable>, next: number]> = define(
  'Ticker',
  (bcom, rows, next) => ({
    register(tickable) {
      if (!isNear(tickable))
        throw new CapError(
          'not-callable',
          'a ticker takes objects of its own vat only: use one in the vat of the object',
        );
      rows.set(String(next).padStart(16, '0'), tickable);
      return bcom(Ticker(rows, next + 1));
    },
    tick(...args) {
      // A copy of the list, because the rows change during the loop.
      for (const [key, tickable] of [...rows.entries()]) if (tickable.tick(...args) === false) rows.delete(key);
    },
    count: () => rows.size,
    getTicked: () => ticked(rows),
    foldr: (step, init) => ticked(rows).reduceRight((rest, tickable) => step(tickable, rest), init),
  }),
);

/** Makes a ticker without objects. In a turn. After Goblins' `spawn-ticker`. */
export const makeTicker = (): Ticker => spawn(Ticker(table(), 0));
