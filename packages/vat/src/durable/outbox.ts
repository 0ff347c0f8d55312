/**
 * Messages that are in the store. They are sent on when a process starts, when the turns that consumed them
 * were lost, and when a full disk has room again.
 *
 * Promise: each message is delivered once, in the order of sending. A message under a cause that has ended is
 * not delivered. An actor that waited with `E.to` receives `restarted`.
 */
import { type Causes, Chain } from '../core/causes.ts';
import { Message } from '../core/message.ts';
import { targetOf } from '../core/reference.ts';
import type { Outcome } from '../core/types.ts';
import type { ObjectStore, OnTheWay } from './object-store.ts';
import type { OutputCommit } from './output-commit.ts';

const restarted: Outcome = Object.freeze({
  ok: false,
  code: 'restarted',
  message: 'the process ended while this was waited for: ask again',
});

/** The alarms in the store. */
interface Alarms {
  /** Sets the alarms that the last process left. */
  restore(): void;
  /** Reads these cells again, after the turns that wrote them were lost. */
  reload(keys: Iterable<string>): void;
}

export class Outbox {
  readonly #objectStore: ObjectStore;
  readonly #outputCommit: OutputCommit;
  readonly #causes: Causes;
  readonly #wakes: Alarms;
  /** Cells of messages that could not be removed because the disk was full. */
  readonly #left = new Set<string>();

  constructor(objectStore: ObjectStore, outputCommit: OutputCommit, causes: Causes, wakes: Alarms) {
    this.#objectStore = objectStore;
    this.#outputCommit = outputCommit;
    this.#causes = causes;
    this.#wakes = wakes;
  }

  /**
   * Sends on the messages that the last process left. `left` is the list as read when the store was opened.
   */
  resume(left: readonly OnTheWay[]): void {
    const cuts = this.#objectStore.cuts();
    const ended = new Set(cuts.map(([, cause]) => cause));
    // Undeliverable messages and the cuts that end them are deleted in one commit.
    const over = this.#sendOn(left, (cause) => ended.has(String(cause)));
    for (const [key] of cuts) over.set(key, undefined);
    this.#outputCommit.turn(over, []);
    this.#wakes.restore();
  }

  /** Sends the messages among `keys` that are still in the store. The turns that consumed them were lost. */
  again(keys: Iterable<string>): void {
    this.#wakes.reload(keys);
    this.#sendOn(this.#objectStore.stillOnTheWay(keys));
  }

  leave(kept: string): void {
    this.#left.add(kept);
  }

  /** Call when the disk has room again. */
  go(): void {
    const left = [...this.#left];
    this.#left.clear();
    this.again(left);
  }

  /** Sends the messages. Returns the cells of undeliverable ones, for deletion. */
  #sendOn(messages: readonly OnTheWay[], ended?: (cause: unknown) => boolean): Map<string, undefined> {
    const undeliverable = new Map<string, undefined>();
    for (const [key, [to, method, args, causes]] of messages) {
      const target = targetOf(to);
      const under = Array.isArray(causes) ? (causes as string[]) : [];
      if (target === undefined || !Array.isArray(args) || (ended !== undefined && under.some(ended))) {
        undeliverable.set(key, undefined);
        continue;
      }
      const all = key.startsWith('w/') ? [restarted, ...args] : args;
      const { account } = target;
      account.refund('messages', -1);
      const chain = new Chain(under, this.#causes);
      const message = new Message({ to: target, method: String(method), args: all, account, chain });
      message.kept = key;
      target.post(message);
    }
    return undeliverable;
  }
}
