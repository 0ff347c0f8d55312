/**
 * A first-in, first-out queue.
 *
 * Promise: a failed turn puts back the values it took. A queue of any length costs one row per value. After
 * Goblins' `^queue`.
 */
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import { CapError } from '../core/errors.ts';
import type { Definition, Table } from '../core/types.ts';
import { define } from '../turn/portrait.ts';

export interface Queue<V = unknown> {
  enqueue(value: V): void;
  /** Throws `unavailable` if the queue is empty. */
  dequeue(): V;
  isEmpty(): boolean;
  length(): number;
}

/** The values are in the rows from `first` up to, but not including, `next`. */
export const Queue: Definition<Queue, [rows: Table<unknown>, first: number, next: number]> = define(
  'Queue',
  (bcom, rows, first, next) => ({
    enqueue(value) {
      rows.set(String(next), value);
      return bcom(Queue(rows, first, next + 1));
    },
    dequeue() {
      if (first === next) throw new CapError('unavailable', 'the queue is empty: ask isEmpty first');
      const value = rows.get(String(first));
      rows.delete(String(first));
      return bcom(Queue(rows, first + 1, next), value);
    },
    isEmpty: () => first === next,
    length: () => next - first,
  }),
);

/** Makes an empty queue. In a turn. After Goblins' `^queue`. */
export const makeQueue = <V = unknown>(): Queue<V> => spawn(Queue(table(), 0, 0)) as Queue<V>;
