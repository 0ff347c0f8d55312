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

export interface Subscriber<Item = unknown> {
  notify(item: Item): void;
}

export interface PubSub<Item = unknown> {
  /** Adds a subscriber. Adding it again changes nothing. */
  subscribe(subscriber: Subscriber<Item>): void;
  unsubscribe(subscriber: Subscriber<Item>): void;
  publish(item: Item): void;
  subscribers(): readonly Subscriber<Item>[];
}

export const PubSub: Definition<PubSub, [rows: Table<Subscriber>, next: number]> = define(
  'PubSub',
  (bcom, rows, next) => {
    const keyOf = (subscriber: Subscriber): string | undefined => {
      for (const [key, each] of rows.entries()) if (each === subscriber) return key;
      return undefined;
    };
    return {
      subscribe(subscriber) {
        if (keyOf(subscriber) !== undefined) return undefined;
        // Keys are ordered as text. Padded, they are in the order of subscription.
        rows.set(String(next).padStart(16, '0'), subscriber);
        return bcom(PubSub(rows, next + 1));
      },
      unsubscribe(subscriber) {
        const key = keyOf(subscriber);
        if (key !== undefined) rows.delete(key);
      },
      publish(item) {
        for (const [, subscriber] of rows.entries()) E.sendOnly(subscriber).notify(item);
      },
      subscribers: () => Array.from(rows.entries(), ([, subscriber]) => subscriber),
    };
  },
);

export const makePubSub = <Item = unknown>(): PubSub<Item> => spawn(PubSub(table(), 0)) as PubSub<Item>;
