/** Ending a cause from within a turn: what revocation does to work that is under way. */
import type { CapError } from './errors.ts';
import { type Effect, type Turn, turnFor } from './turn.ts';
import { turnPromise } from './turn-promise.ts';
import { Vow } from './vow.ts';

class Cut implements Effect {
  readonly sent = undefined;
  readonly #turn: Turn;
  readonly #id: string;
  readonly #why: CapError;
  readonly #done: Vow;

  constructor(turn: Turn, id: string, why: CapError, done: Vow) {
    this.#turn = turn;
    this.#id = id;
    this.#why = why;
    this.#done = done;
  }

  release(): void {
    const { causes } = this.#turn.chain;
    if (causes === undefined) return this.#done.fulfil(undefined);
    causes.cut(this.#id, this.#why).then(() => this.#done.fulfil(undefined));
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
  const done = new Vow(turn.account);
  turn.effects.push(new Cut(turn, id, why, done));
  return turnPromise(done) as Promise<void>;
}
