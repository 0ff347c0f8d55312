/**
 * Reads store cells within turns.
 *
 * Promise: a failed read ends its turn with `unavailable`, even if the behaviour catches the error. Otherwise
 * a behaviour could take the error for a missing row, and store a decision that is based on it.
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
  return {
    get: (key) => read(() => cells.get(key)),
    getAll: (keys) => read(() => cells.getAll(keys)),
    scan: (prefix) => read(() => [...cells.scan(prefix)]),
  };
}
