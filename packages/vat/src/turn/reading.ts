/**
 * Cells that a turn reads.
 *
 * Promise: a read that fails ends its turn with `unavailable`, whoever catches the error in between. A behaviour that takes an error for "it is not
 * there" would otherwise decide, and write down, something that the store never said.
 */
import { CapError } from '../core/errors.ts';
import type { Cells } from '../durable/object-store.ts';
import { doom } from './turn.ts';

export function readInTurns(cells: Cells): Cells {
  const read = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      const failure =
        error instanceof CapError
          ? error
          : new CapError('unavailable', 'the store could not be read: look at its disk, then try again');
      doom(failure);
      throw failure;
    }
  };
  return { get: (key) => read(() => cells.get(key)), scan: (prefix) => read(() => [...cells.scan(prefix)]) };
}
