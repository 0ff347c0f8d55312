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

export interface Tickable {
  tick(...args: readonly unknown[]): boolean | undefined;
}

export interface Ticker {
  /** Accepts only objects of the ticker's vat, because a tick is synchronous. */
  register(tickable: Tickable): void;
  tick(...args: readonly unknown[]): void;
  /** The number of registered objects. */
  count(): number;
}

export const Ticker: Definition<Ticker, [rows: Table<Tickable>, next: number]> = define(
  'Ticker',
  (bcom, rows, next) => ({
    register(tickable) {
      if (!isNear(tickable))
        throw new CapError('not-callable', 'only an object of this vat can be ticked: register it there');
      rows.set(String(next).padStart(16, '0'), tickable);
      return bcom(Ticker(rows, next + 1));
    },
    tick(...args) {
      // A copy of the list, because the rows change during the loop.
      for (const [key, tickable] of [...rows.entries()]) if (tickable.tick(...args) === false) rows.delete(key);
    },
    count: () => rows.size,
  }),
);

export const makeTicker = (): Ticker => spawn(Ticker(table(), 0));
