/**
 * Passes an answer on: a forwarder does this between its target and its caller.
 *
 * Promise: messages that the caller pipelines to a pending answer go through `next`, so they cannot bypass
 * the forwarder, and they need not wait for the answer. When `cause` is cut the caller is told at once,
 * whatever the target does. A later result of the target reaches `ok` or `broken` and goes no further.
 */
import { Ephemeral, type Procedure } from '../actor/ephemeral.ts';
import type { Causes, Outside } from '../core/causes.ts';
import type { CapError } from '../core/errors.ts';
import { type OptionNames, takeOptions } from '../core/options.ts';
import { type VatPromise, vatPromiseOf } from '../core/promise.ts';
import { fulfilment } from '../turn/resolved.ts';
import type { ActorHome } from '../turn/runnable.ts';
import { type Effect, turnFor } from '../turn/turn.ts';
import { passUnchanged } from '../turn/values.ts';
import { whenRead } from './wait.ts';

/** Handlers of an answer that is passed on. Without `next`, calls on the pending answer wait. */
export interface Passing {
  /** Runs in a turn of its own once the answer is fulfilled. The caller gets its result. */
  ok(value: unknown): unknown;
  /** Runs in a turn of its own once the answer breaks. Throw the error on, or call `breakAnswer` with it. */
  broken(error: Error): unknown;
  /** Receives calls on the answer while it is pending. Without it they wait. */
  readonly next?: Procedure | undefined;
  /** When this cause ends, or one of several, the caller's answer breaks. */
  readonly cause?: string | readonly string[] | undefined;
  /**
   * With `true`, `ok` gets an answer that is bytes without a copy, and if it returns them they are not copied either.
   * Others may hold these bytes, so `ok` must neither change nor keep them. Default: `ok` gets a copy.
   */
  readonly sharesBytes?: boolean | undefined;
}

const passingOptions: OptionNames<Passing> = { ok: true, broken: true, next: true, cause: true, sharesBytes: true };

/** A waiting caller, as something that a cut ends. */
class Waiting implements Outside, Effect {
  readonly sent = undefined;
  readonly #vatPromise: VatPromise;
  readonly #causes: Causes;
  readonly #ids: readonly string[];

  constructor(vatPromise: VatPromise, causes: Causes, ids: readonly string[]) {
    this.#vatPromise = vatPromise;
    this.#causes = causes;
    this.#ids = ids;
  }

  release(): void {
    if (this.#vatPromise.settled !== undefined) return;
    const ended = this.#causes.ended(this.#ids);
    if (ended !== undefined) return this.#vatPromise.break(ended);
    this.#causes.started(this.#ids, this);
    const done = (): void => this.#causes.done(this.#ids, this);
    this.#vatPromise.watch(done, done);
  }

  drop(): void {}

  async abort(why: CapError): Promise<void> {
    this.#vatPromise.break(why);
  }
}

/** The value of a promise, for a handler that gets bytes without a copy. */
const shared = (promise: VatPromise): unknown =>
  promise.value instanceof Uint8Array ? promise.value : fulfilment(promise);

/** Call within a turn. `answer` must be a promise that the vat made. Errors: `invalid`. */
export function passOn(answer: Promise<unknown>, passing: Passing): Promise<unknown> {
  const turn = turnFor('passOn');
  const { ok, broken, next, cause, sharesBytes } = takeOptions(passing, 'passOn', passingOptions);
  const sharing = (value: unknown): unknown => {
    const result = ok(value);
    return result === value && value instanceof Uint8Array ? passUnchanged(value) : result;
  };
  const promise =
    sharesBytes === true
      ? whenRead(turn, answer, shared, sharing, broken)
      : whenRead(turn, answer, fulfilment, ok, broken);
  const vatPromise = vatPromiseOf(promise) as VatPromise;
  if (next !== undefined) vatPromise.along(new Ephemeral(turn.home as ActorHome, 'pipelined', next));
  const { causes } = turn.chain;
  const ids = typeof cause === 'string' ? [cause] : cause;
  if (ids !== undefined && causes !== undefined) turn.effects.push(new Waiting(vatPromise, causes, ids));
  return promise;
}
