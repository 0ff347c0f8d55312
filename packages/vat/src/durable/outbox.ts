/**
 * Messages that are in the store: sent on when a process begins, when turns that had taken them never happened, and when a full disk
 * that could not let them go has room again.
 *
 * Promise: each is delivered once, in the order of sending; what was under a cause that ended meanwhile is not. Who waited with `E.to`
 * hears `restarted`.
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

/** The alarms that are kept in the store. */
interface Alarms {
  /** Sets those that the last process left. */
  restore(): void;
  /** Reads these cells again: the turns that wrote them never happened. */
  reload(keys: Iterable<string>): void;
}

export class Outbox {
  readonly #keeper: ObjectStore;
  readonly #edge: OutputCommit;
  readonly #causes: Causes;
  readonly #wakes: Alarms;
  /** Cells of messages that a full disk did not let go. */
  readonly #left = new Set<string>();

  constructor(keeper: ObjectStore, edge: OutputCommit, causes: Causes, wakes: Alarms) {
    this.#keeper = keeper;
    this.#edge = edge;
    this.#causes = causes;
    this.#wakes = wakes;
  }

  /** What was on its way when the last process ended: `left`, as it was found at the opening. */
  resume(left: readonly OnTheWay[]): void {
    const cuts = this.#keeper.cuts();
    const ended = new Set(cuts.map(([, cause]) => cause));
    // What nobody is to get goes in one commit with what says so.
    const over = this.#sendOn(left, (cause) => ended.has(String(cause)));
    for (const [key] of cuts) over.set(key, undefined);
    this.#edge.turn(over, []);
    this.#wakes.restore();
  }

  /** Turns that wrote these cells never happened: the messages among them that are in the store were not taken. */
  again(keys: Iterable<string>): void {
    this.#wakes.reload(keys);
    this.#sendOn(this.#keeper.stillOnTheWay(keys));
  }

  leave(kept: string): void {
    this.#left.add(kept);
  }

  /** The disk has room. */
  go(): void {
    const left = [...this.#left];
    this.#left.clear();
    this.again(left);
  }

  /** Answers the cells of those that nobody is to get. */
  #sendOn(messages: readonly OnTheWay[], ended?: (cause: unknown) => boolean): Map<string, undefined> {
    const over = new Map<string, undefined>();
    for (const [key, [to, method, args, causes]] of messages) {
      const target = targetOf(to);
      const under = Array.isArray(causes) ? (causes as string[]) : [];
      if (target === undefined || !Array.isArray(args) || (ended !== undefined && under.some(ended))) {
        over.set(key, undefined);
        continue;
      }
      const all = key.startsWith('w/') ? [restarted, ...args] : args;
      const { account } = target;
      account.refund('messages', -1);
      const chain = new Chain(under, this.#causes);
      const message = new Message(target, String(method), all, false, undefined, account, chain, undefined, undefined);
      message.kept = key;
      target.post(message);
    }
    return over;
  }
}
