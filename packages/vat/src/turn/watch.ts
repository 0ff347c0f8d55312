/**
 * Watches for the end of a cause, for a host program that works under it outside any driver: a mount, a job.
 *
 * Promise: the signal fires when one of the causes ends, or at once if one has ended. The revoker waits for
 * `done`.
 */
import type { Causes, Chain, Outside } from '../core/causes.ts';
import type { CapError } from '../core/errors.ts';
import { type Effect, turnFor } from './turn.ts';

/** Work under a cause, outside any turn. `signal` fires when the cause ends; its reason is a `CapError`. */
export interface Watch {
  readonly signal: AbortSignal;
  /** Call when the work under the causes has ended. */
  done(): void;
}

class Watching implements Outside, Effect {
  readonly sent = undefined;
  readonly #causes: Causes;
  readonly #ids: readonly string[];
  readonly #controller = new AbortController();
  readonly #done = Promise.withResolvers<void>();
  #over = false;

  constructor(causes: Causes, ids: readonly string[]) {
    this.#causes = causes;
    this.#ids = ids;
  }

  release(): void {
    if (this.#over) return;
    this.#causes.started(this.#ids, this);
    const ended = this.#causes.ended(this.#ids);
    if (ended !== undefined) this.#controller.abort(ended);
  }

  drop(error: unknown): void {
    this.#over = true;
    this.#controller.abort(error);
  }

  abort(why: CapError): Promise<void> {
    this.#controller.abort(why);
    return this.#done.promise;
  }

  get face(): Watch {
    return Object.freeze({
      signal: this.#controller.signal,
      done: (): void => {
        if (this.#over) return;
        this.#over = true;
        this.#causes.done(this.#ids, this);
        this.#done.resolve();
      },
    });
  }
}

/** Within a turn: watches from its commit on. */
export function watch(causes: readonly string[]): Watch {
  const turn = turnFor('watch');
  const known = turn.home.chain.causes as Causes;
  const watching = new Watching(known, causes);
  turn.effects.push(watching);
  return watching.face;
}

const never = new AbortController().signal;

/** Outside turns, for a running driver call: watches from now on. */
export function watchOver({ causes, ids }: Chain): Watch {
  if (causes === undefined) return Object.freeze({ signal: never, done: () => {} });
  const watching = new Watching(causes, ids);
  watching.release();
  return watching.face;
}
