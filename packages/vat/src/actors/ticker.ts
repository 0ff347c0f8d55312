/**
 * What happens once a tick: the step of a game, a simulation, a housekeeper. After Goblins' `spawn-ticker`.
 *
 * Promise: one tick is one turn. Every registered object is ticked once, in the order of registration; who registers during
 * a tick begins with the next one; if one of them throws, nobody was ticked. Answering `false` is leaving.
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
  /** Takes objects of the ticker's vat only: a tick is synchronous. */
  register(tickable: Tickable): void;
  tick(...args: readonly unknown[]): void;
  /** How many are registered. */
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
      // A list of its own: the rows change while it runs.
      for (const [key, tickable] of [...rows.entries()]) if (tickable.tick(...args) === false) rows.delete(key);
    },
    count: () => rows.size,
  }),
);

export const makeTicker = (): Ticker => spawn(Ticker(table(), 0));
