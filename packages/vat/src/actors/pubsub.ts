/**
 * One publisher, many subscribers.
 *
 * Promise: each subscriber receives the items that were published while it was subscribed, in order, each in
 * a turn of its own. A subscriber that fails or is slow does not affect others. After Goblins' `^pubsub`;
 * here subscribers have a method, so that drivers can subscribe.
 */
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import type { Definition, Table } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { define } from '../turn/portrait.ts';
import { keyOf } from './collections.ts';

/** Receives each published item in a turn of its own. */
export interface Subscriber<Item = unknown> {
  notify(item: Item): void;
}

/** A publisher with its subscribers. After Goblins' `^pubsub`. */
export interface PubSub<Item = unknown> {
  /** Adds a subscriber. Adding it again changes nothing. */
  subscribe(subscriber: Subscriber<Item>): void;
  unsubscribe(subscriber: Subscriber<Item>): void;
  publish(item: Item): void;
  subscribers(): readonly Subscriber<Item>[];
}

type Rows = Table<Subscriber>;

/** The row of each subscriber, so that neither subscribing nor leaving looks at the others. */
function indexOf(rows: Rows): Table<string> {
  const index = table<string>();
  for (const [row, subscriber] of rows.entries()) index.set(keyOf(subscriber), row);
  return index;
}

export const PubSub: Definition<PubSub, [rows: Rows, next: number, index: Table<string>]> = define(
  'PubSub',
  (bcom, rows, next, index) => ({
    subscribe(subscriber) {
      const key = keyOf(subscriber);
      if (index.has(key)) return undefined;
      // Keys are ordered as text. Padded, they are in the order of subscription.
      const row = String(next).padStart(16, '0');
      rows.set(row, subscriber);
      index.set(key, row);
      return bcom(PubSub(rows, next + 1, index));
    },
    unsubscribe(subscriber) {
      const key = keyOf(subscriber);
      const row = index.get(key);
      if (row === undefined) return;
      rows.delete(row);
      index.delete(key);
    },
    publish(item) {
      for (const [, subscriber] of rows.entries()) E.sendOnly(subscriber).notify(item);
    },
    subscribers: () => Array.from(rows.entries(), ([, subscriber]) => subscriber),
  }),
  // Version 0 had no index.
  { version: 1, upgrade: { 0: (rows: Rows, next: number) => [rows, next, indexOf(rows)] } },
);

/** Makes a publisher without subscribers. In a turn. */
export function makePubSub<Item = unknown>(): PubSub<Item> {
  return spawn(PubSub(table(), 0, table())) as PubSub<Item>;
}
