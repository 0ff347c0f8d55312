/**
 * Passing an answer on: what a forwarder does between the object behind it and its caller.
 *
 * Promise: what the caller pipelines to an answer that is not there yet goes through `next`, and so cannot get past the forwarder;
 * it need not wait for the answer either. When `cause` is cut the caller is told at once, whatever the object behind does, and what
 * that still answers comes to `broken` or `ok` but goes no further.
 */
import { Ephemeral, type Procedure } from '../actor/ephemeral.ts';
import type { Causes, Outside } from '../core/causes.ts';
import type { CapError } from '../core/errors.ts';
import { type VatPromise, vatPromiseOf } from '../core/promise.ts';
import type { Household } from '../turn/runnable.ts';
import { type Effect, turnFor } from '../turn/turn.ts';
import { when } from './wait.ts';

export interface Passing {
  /** A turn of its own once it is fulfilled; what it answers is what the caller gets. */
  ok(value: unknown): unknown;
  /** The same once it is broken. Throw the error on, or `breakAnswer` with it. */
  broken(error: Error): unknown;
  /** Takes calls on the answer while there is none. Without it they wait. */
  readonly next?: Procedure | undefined;
  /** The caller need not wait for an answer once this has ended. */
  readonly cause?: string | undefined;
}

/** A caller who waits, as something that a cut ends. */
class Waiting implements Outside, Effect {
  readonly sent = undefined;
  readonly #vow: VatPromise;
  readonly #causes: Causes;
  readonly #ids: readonly string[];

  constructor(vow: VatPromise, causes: Causes, cause: string) {
    this.#vow = vow;
    this.#causes = causes;
    this.#ids = [cause];
  }

  release(): void {
    if (this.#vow.settled !== undefined) return;
    const ended = this.#causes.ended(this.#ids);
    if (ended !== undefined) return this.#vow.break(ended);
    this.#causes.started(this.#ids, this);
    const done = (): void => this.#causes.done(this.#ids, this);
    this.#vow.watch(done, done);
  }

  drop(): void {}

  async abort(why: CapError): Promise<void> {
    this.#vow.break(why);
  }
}

/** In a turn. `answer` is a promise that the vat gave. */
export function passOn(answer: Promise<unknown>, { ok, broken, next, cause }: Passing): Promise<unknown> {
  const turn = turnFor('passOn');
  const promise = when(answer, ok, broken);
  const vow = vatPromiseOf(promise) as VatPromise;
  if (next !== undefined) vow.along(new Ephemeral(turn.home as Household, 'pipelined', next));
  const { causes } = turn.chain;
  if (cause !== undefined && causes !== undefined) turn.effects.push(new Waiting(vow, causes, cause));
  return promise;
}
