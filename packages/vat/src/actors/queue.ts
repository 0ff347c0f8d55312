/**
 * First in, first out.
 *
 * Promise: a turn that fails puts back what it took; a queue of any length costs one row a value. After Goblins' `^queue`.
 */
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import { CapError } from '../core/errors.ts';
import type { Definition, Table } from '../core/types.ts';
import { define } from '../turn/portrait.ts';

export interface Queue<V = unknown> {
  enqueue(value: V): void;
  /** Throws `unavailable` where there is nothing. */
  dequeue(): V;
  isEmpty(): boolean;
  length(): number;
}

/** Values stand in the rows from `first` to before `next`. */
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

export const makeQueue = <V = unknown>(): Queue<V> => spawn(Queue(table(), 0, 0)) as Queue<V>;
