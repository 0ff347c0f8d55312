/**
 * The chain of causes: which grants a message was sent under, and what is cut when one of them ends.
 *
 * Promise: from the moment a cause is cut, no message sent under it is delivered, and every driver call it led to has its
 * signal fired and its answer broken; a result that still comes is dropped. `cut` answers when those drivers are done.
 * The vat knows ids only. What a grant is, is said by `@hob/revocable`.
 */
import type { CapError } from './errors.ts';
import type { LedgerEntry } from './ledger-entry.ts';

/** One call that is outside with a driver. */
export interface Outside {
  /** Fires the signal, breaks the answer; resolves when the driver's own promise is settled. */
  abort(why: CapError): Promise<void>;
}

export class Causes {
  // Ended causes stay known: a message sent before the cut may wait at a promise for as long as it likes.
  readonly #ended = new Map<string, CapError>();
  readonly #outside = new Map<string, Set<Outside>>();
  readonly #all = new Set<Outside>();
  /** Writes what a driver tells, once it is durable. */
  ledger: ((entry: LedgerEntry) => Promise<void>) | undefined;

  /** Why a message under these causes may not be delivered any more. */
  ended(causes: readonly string[]): CapError | undefined {
    if (this.#ended.size === 0) return undefined;
    for (const cause of causes) {
      const why = this.#ended.get(cause);
      if (why !== undefined) return why;
    }
    return undefined;
  }

  started(causes: readonly string[], call: Outside): void {
    this.#all.add(call);
    for (const cause of causes) {
      let calls = this.#outside.get(cause);
      if (calls === undefined) this.#outside.set(cause, (calls = new Set()));
      calls.add(call);
    }
  }

  done(causes: readonly string[], call: Outside): void {
    this.#all.delete(call);
    for (const cause of causes) {
      const calls = this.#outside.get(cause);
      if (calls?.delete(call) === true && calls.size === 0) this.#outside.delete(cause);
    }
  }

  async cut(cause: string, why: CapError): Promise<void> {
    if (!this.#ended.has(cause)) this.#ended.set(cause, why);
    const calls = [...(this.#outside.get(cause) ?? [])];
    await Promise.all(calls.map((call) => call.abort(why)));
  }

  /** The turn that cut it never happened. What was aborted stays aborted. */
  forget(cause: string): void {
    this.#ended.delete(cause);
  }

  async cutAll(why: CapError): Promise<void> {
    await Promise.all([...this.#all].map((call) => call.abort(why)));
  }

  /** Calls that are outside now. */
  get size(): number {
    return this.#all.size;
  }
}

/** The causes one message was sent under, outermost first, and where they are kept. */
export class Chain {
  readonly ids: readonly string[];
  readonly causes: Causes | undefined;

  constructor(ids: readonly string[], causes: Causes | undefined) {
    this.ids = Object.freeze(ids);
    this.causes = causes;
  }

  /** The last one that was asked for: a grant that is used again and again need not make it each time. */
  #longer: Chain | undefined;

  with(id: string): Chain {
    const known = this.#longer;
    if (known !== undefined && known.ids[this.ids.length] === id) return known;
    this.#longer = new Chain([...this.ids, id], this.causes);
    return this.#longer;
  }

  ended(): CapError | undefined {
    return this.ids.length === 0 ? undefined : this.causes?.ended(this.ids);
  }
}

/** Of a message that the host program sends. */
export const noChain: Chain = new Chain([], undefined);
