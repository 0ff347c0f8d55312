/**
 * A queue that can be waited for: reading an empty one returns a promise.
 *
 * Promise: each value goes to one reader, both in order. The writer cannot read and the reader cannot write.
 * After `stop` nothing more can be written, and values written before can still be read. After the last one,
 * all readers, including waiting ones, break with `unavailable` (Goblins: `inbox-closed`). After Goblins'
 * `spawn-inbox`.
 */
import { spawn } from '../actor/actor.ts';
import { CapError } from '../core/errors.ts';
import type { Definition } from '../core/types.ts';
import { promise } from '../eventual/resolver.ts';
import { define } from '../turn/portrait.ts';
import { type Cell, makeCell } from './cell.ts';
import { makeQueue, type Queue } from './queue.ts';

/** Adds values. Errors: `unavailable` after `stop`. */
export interface InboxWriter<V = unknown> {
  write(value: V): void;
}

/**
 * Takes values, oldest first. `read` returns a value that is there, and a promise for one that is not. Errors:
 * the promise breaks with `unavailable` when the inbox is stopped and empty.
 */
export interface InboxReader<V = unknown> {
  read(): V | Promise<V>;
}

/** Closes the inbox for writers. Waiting readers break with `unavailable`. */
export interface InboxStopper {
  stop(): void;
}

/** The three ends of one inbox. Each can be handed to somebody else. After Goblins' `spawn-inbox`. */
export interface Inbox<V = unknown> {
  readonly writer: InboxWriter<V>;
  readonly reader: InboxReader<V>;
  readonly stopper: InboxStopper;
}

interface Resolver {
  resolve(value: unknown): void;
  break(error: Error): void;
}

const closed = (): CapError => new CapError('unavailable', 'the inbox is closed: nothing more will come');

export const InboxWriter: Definition<InboxWriter, [values: Queue, waiting: Queue<Resolver>, open: Cell<boolean>]> =
  define('InboxWriter', (_bcom, values, waiting, open) => ({
    write(value) {
      if (!open.read()) throw closed();
      if (waiting.isEmpty()) values.enqueue(value);
      else waiting.dequeue().resolve(value);
    },
  }));

export const InboxReader: Definition<InboxReader, [values: Queue, waiting: Queue<Resolver>, open: Cell<boolean>]> =
  define('InboxReader', (_bcom, values, waiting, open) => ({
    read() {
      if (!values.isEmpty()) return values.dequeue();
      const { promise: answer, resolver } = promise<unknown>();
      if (open.read()) waiting.enqueue(resolver as Resolver);
      else resolver.break(closed());
      return answer;
    },
  }));

export const InboxStopper: Definition<InboxStopper, [waiting: Queue<Resolver>, open: Cell<boolean>]> = define(
  'InboxStopper',
  (_bcom, waiting, open) => ({
    stop() {
      open.write(false);
      while (!waiting.isEmpty()) waiting.dequeue().break(closed());
    },
  }),
);

/** Makes an empty inbox. In a turn. */
export function makeInbox<V = unknown>(): Inbox<V> {
  const values = makeQueue();
  const waiting = makeQueue<Resolver>();
  const open = makeCell(true);
  return {
    writer: spawn(InboxWriter(values, waiting, open)) as InboxWriter<V>,
    reader: spawn(InboxReader(values, waiting, open)) as InboxReader<V>,
    stopper: spawn(InboxStopper(waiting, open)),
  };
}
