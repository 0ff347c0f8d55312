/**
 * One call of a driver that is under way.
 *
 * Promise: the first of its result and a cut settles the answer. A later result is dropped.
 */
import { when } from '../core/barrier.ts';
import type { Outside } from '../core/causes.ts';
import type { CapError } from '../core/errors.ts';
import { fenced } from '../core/faults.ts';
import type { Message, ResultSink } from '../core/message.ts';
import { sealed } from '../core/reference.ts';
import type { Meter } from '../core/types.ts';
import { type Watch, watchOver } from './watch.ts';

/** The facts about a call that a driver's method receives besides its arguments. */
export interface DriverCall {
  /** Fires when a grant that the call was made under ends. Stop then, and settle the promise. */
  readonly signal: AbortSignal;
  /** The session that pays for the call. */
  readonly meter: Meter;
  /** Ids of the grants that the call was made under, outermost first. */
  readonly cause: readonly string[];
  /**
   * For work that continues after the result, such as a job or a stream. Its signal fires when one of the
   * grants ends. The revoker waits until you call `done`.
   */
  watch(): Watch;
  /**
   * Writes the outcome of the call to the ledger of the vats that hold the grants. Without a grant it does
   * nothing. Resolves when the line is on disk; a line of the kind `result` is there at most 5 ms later, and is
   * not waited for.
   */
  tell(kind: string, fields: Readonly<Record<string, unknown>>, args?: readonly unknown[]): Promise<void>;
}

/**
 * The driver's view of a call. Its parts are made on first use: this is made for every call, and most drivers
 * do not use it.
 */
export class CallView implements DriverCall {
  readonly #call: RunningCall;

  constructor(call: RunningCall) {
    this.#call = call;
    Object.freeze(this);
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get meter(): Meter {
    return this.#call.message.account;
  }

  get cause(): readonly string[] {
    return this.#call.message.chain.named;
  }

  // These return functions and not methods, so that a driver can destructure them.
  get watch(): DriverCall['watch'] {
    const { chain } = this.#call.message;
    return () => watchOver(chain);
  }

  get tell(): DriverCall['tell'] {
    const { chain } = this.#call.message;
    return async (kind, fields, args) => {
      if (chain.ids.length > 0) await chain.causes?.ledger?.(kind, fields, args);
    };
  }
}
sealed(CallView.prototype);

/** One call that is under way. The first of result and cut settles the answer. */
export class RunningCall implements Outside {
  readonly message: Message;
  #controller: AbortController | undefined;
  #aborted: CapError | undefined;
  #finished = false;
  #returned = false;
  readonly #whenFinished: (() => void)[] = [];

  constructor(message: Message) {
    this.message = message;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  abort(why: CapError): Promise<void> {
    if (this.#finished) return Promise.resolve();
    if (this.#aborted === undefined) {
      this.#aborted = why;
      // The signal stops the driver, so it fires also if the caller cannot be told.
      fenced(() => this.message.answer?.break(why));
      fenced(() => this.#controller?.abort(why));
    }
    if (this.#returned) {
      this.#finish();
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#whenFinished.push(resolve));
  }

  /**
   * The driver is done. Its result is a promise of a vat, which may never settle: a cut does not wait for it.
   */
  returned(): void {
    this.#returned = true;
    if (this.#aborted !== undefined) this.#finish();
  }

  fulfilled(value: unknown): void {
    this.#finish();
    this.#answer((answer) => answer.fulfil(value));
  }

  /** Settles the answer with bytes that only the caller holds from now on. */
  gave(bytes: Uint8Array): void {
    this.#finish();
    this.#answer((answer) => (answer.own === undefined ? answer.fulfil(bytes) : answer.own(bytes)));
  }

  broken(error: unknown): void {
    this.#finish();
    this.#answer((answer) => answer.break(error));
  }

  /** Settles the answer once the sending turn is durable, since the call may have run before that. */
  #answer(how: (answer: ResultSink) => void): void {
    const { answer, after } = this.message;
    if (answer === undefined) return;
    when(
      after,
      () => how(answer),
      (why) => answer.break(why),
    );
  }

  #finish(): void {
    if (this.#finished) return;
    const { chain } = this.message;
    chain.causes?.done(chain.ids, this);
    // Only now: after an internal error in the line above, `broken` finishes the call.
    this.#finished = true;
    for (const then of this.#whenFinished) then();
  }
}
