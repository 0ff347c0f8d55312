/** Ends a cause from within a turn. Revocation uses this to stop work that is under way. */
import { barrier, when } from '../core/barrier.ts';
import type { CapError } from '../core/errors.ts';
import { cutOff, noteFault } from '../core/faults.ts';
import { VatPromise } from '../core/promise.ts';
import { cutKey } from '../durable/keys.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import { type Effect, type Turn, turnFor } from './turn.ts';
import { turnPromise } from './turn-promise.ts';

class Cut implements Effect {
  readonly sent = undefined;
  readonly #turn: Turn;
  readonly #id: string;
  readonly #why: CapError;
  readonly #done: VatPromise;

  constructor(turn: Turn, id: string, why: CapError, done: VatPromise) {
    this.#turn = turn;
    this.#id = id;
    this.#why = why;
    this.#done = done;
  }

  release(): void {
    const { causes } = this.#turn.chain;
    if (causes === undefined) return this.#done.fulfil(undefined);
    // A caller that waits for this assumes that the grant has ended, so the cut must be on disk first.
    const after = barrier();
    // If the commit is lost, the revocation did not happen, and its granter was told so.
    after?.then(
      () => {},
      () => causes.forget(this.#id),
    );
    causes
      .cut(this.#id, this.#why)
      .then(() =>
        when(
          after,
          () => this.#done.fulfil(undefined),
          (why) => this.#done.break(why),
        ),
      )
      .catch((error: unknown) => {
        noteFault(error);
        this.#done.break(cutOff());
      });
  }

  /** A message sent under the cause and still on its way must not be delivered after a restart either. */
  keep(_keeper: ObjectStore, cells: Map<string, string | undefined>): void {
    cells.set(cutKey(this.#id), JSON.stringify([this.#why.code, this.#why.message]));
  }

  drop(error: unknown): void {
    this.#done.break(error);
  }
}

/**
 * Ends the cause `id` when this turn commits. Messages sent under it are no longer delivered. Driver calls
 * under it are aborted and their callers receive `why`. The promise resolves when all those drivers are done.
 */
export function cut(id: string, why: CapError): Promise<void> {
  const turn = turnFor('cut');
  const done = new VatPromise(turn.account);
  turn.effects.push(new Cut(turn, id, why, done));
  return turnPromise(done) as Promise<void>;
}
