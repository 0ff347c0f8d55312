/** Ending a cause from within a turn: what revocation does to work that is under way. */
import { barrier, when } from '../core/barrier.ts';
import type { CapError } from '../core/errors.ts';
import { VatPromise } from '../core/promise.ts';
import { cutKey, type ObjectStore } from '../durable/object-store.ts';
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
    // Whoever waits for this takes it for the end of a grant, which then must be on the disk.
    const after = barrier();
    // A revocation that was never durable did not happen: its granter was told so.
    after?.then(
      () => {},
      () => causes.forget(this.#id),
    );
    causes.cut(this.#id, this.#why).then(() =>
      when(
        after,
        () => this.#done.fulfil(undefined),
        (why) => this.#done.break(why),
      ),
    );
  }

  /** What was sent under it and is still on its way must not be delivered after a restart either. */
  keep(_keeper: ObjectStore, cells: Map<string, string | undefined>): void {
    cells.set(cutKey(this.#id), JSON.stringify([this.#why.code, this.#why.message]));
  }

  drop(error: unknown): void {
    this.#done.break(error);
  }
}

/**
 * When this turn commits, ends the cause `id`: messages sent under it are not delivered any more, driver calls under it are
 * aborted and their callers told `why`. The promise is fulfilled when all those drivers are done.
 */
export function cut(id: string, why: CapError): Promise<void> {
  const turn = turnFor('cut');
  const done = new VatPromise(turn.account);
  turn.effects.push(new Cut(turn, id, why, done));
  return turnPromise(done) as Promise<void>;
}
