/**
 * Answers that are not there yet when their call has to return: each waits under an id.
 *
 * Promise: an id leads to the calls of this face only. An answer is kept until 256 newer ones wait.
 */
import { CapError } from '@hob/vat/peer';
import type { Answer } from '../text/answer.ts';

/** A timer: calls `then` once after `ms`, unless the returned function is called before. */
export type After = (ms: number, then: () => void) => () => void;

const MOST = 256;

/** An answer that somebody may come back for. */
export interface Waiting {
  readonly answer: Promise<Answer>;
  /** Ends the call. Absent for a request: it waits on, also if nobody waits for its answer. */
  readonly cancel?: () => void;
}

/** The waiting answers of one face. */
export class Waits {
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;

  /** Returns the id of a call that still waits. */
  add(waiting: Waiting): string {
    this.#count += 1;
    const id = `W${this.#count}`;
    this.set(id, waiting);
    return id;
  }

  set(id: string, waiting: Waiting): void {
    this.#waiting.delete(id);
    this.#waiting.set(id, waiting);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MOST && oldest !== undefined) this.#waiting.delete(oldest);
  }

  /** Errors: `invalid`. */
  get(id: string): Waiting {
    const found = this.#waiting.get(id);
    if (found === undefined)
      throw new CapError('invalid', 'nothing waits under that id: give the one that request_cap or a call returned');
    return found;
  }

  /** The calls that still wait. */
  all(): readonly Waiting[] {
    return [...this.#waiting.values()];
  }
}

/** The answer of a call that waits longer than a client does. */
export function stillWaiting(id: string): Answer {
  const text = `still waiting: call wait_for {"request":"${id}"} again`;
  return { text, data: { waiting: id, note: text } };
}

/** Resolves with undefined if `promise` is not there after `ms`. */
export function within<T>(after: After, promise: Promise<T>, ms: number): Promise<{ readonly value: T } | undefined> {
  return new Promise((resolve, reject) => {
    const stop = after(ms, () => resolve(undefined));
    promise.then((value) => resolve({ value }), reject).finally(stop);
  });
}
