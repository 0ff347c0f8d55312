/**
 * Takes messages for the actors of all vats into the queues.
 *
 * Promise: a message to a durable actor is in the store before it is queued. A message from another store
 * waits until it is durable there.
 */
import { Actor } from '../actor/actor.ts';
import { noteIfFault } from '../core/faults.ts';
import type { Message } from '../core/message.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import type { OutputCommit } from '../durable/output-commit.ts';
import type { Intake, Runnable } from '../turn/runnable.ts';
import type { Scheduler } from '../turn/scheduler.ts';

export class StoringIntake implements Intake {
  readonly #scheduler: Scheduler;
  readonly #objectStore: ObjectStore | undefined;
  readonly #outputCommit: OutputCommit | undefined;

  constructor(scheduler: Scheduler, objectStore: ObjectStore | undefined, outputCommit: OutputCommit | undefined) {
    this.#scheduler = scheduler;
    this.#objectStore = objectStore;
    this.#outputCommit = outputCommit;
  }

  post(to: Runnable, message: Message): void {
    const { after } = message;
    // A message from another store must first be durable there.
    if (after !== undefined && !after.durable && after.owner !== this.#outputCommit)
      return after.then(
        () => this.#take(to, message),
        (why) => message.fail(why),
      );
    this.#take(to, message);
  }

  #take(to: Runnable, message: Message): void {
    const { halted, interrupted } = to.home;
    try {
      if (to instanceof Actor && message.cause !== undefined && (halted === undefined || interrupted))
        this.#keep(to, message);
    } catch (error) {
      noteIfFault(error);
      return message.fail(error);
    }
    // A halted vat breaks messages at once; their senders must not wait for a turn.
    if (halted !== undefined) {
      if (message.kept !== undefined && !interrupted) this.#outputCommit?.turn(undefined, [], message.kept);
      return message.fail(halted);
    }
    message.to = to;
    this.#scheduler.post(message);
  }

  /** Stores a message whose target was not known when it was sent. */
  #keep(to: Actor, message: Message): void {
    const [objectStore, outputCommit] = [this.#objectStore, this.#outputCommit];
    if (objectStore === undefined || outputCommit === undefined || outputCommit.failed !== undefined) return;
    const before = message.kept;
    const key = objectStore.queuedAs(before);
    if (key === before) return;
    const { method, args, chain } = message;
    const cells = new Map<string, string | undefined>();
    cells.set(key, objectStore.encodeMessage([to.reference, method, args, chain.ids]));
    if (before !== undefined) cells.set(before, undefined);
    message.kept = key;
    outputCommit.turn(cells, []);
  }
}
