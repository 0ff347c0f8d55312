/**
 * The chain of causes: the grants that a message was sent under, and the driver calls to abort when one of
 * them ends.
 *
 * Promise: once a cause is cut, no message sent under it is delivered. The signal of every driver call that
 * it led to fires, and the answer of the call breaks. A result that arrives later is dropped. `cut` resolves
 * when those drivers are done. The vat knows only the ids of causes. `@hob/revocable` knows what a grant is.
 */
import type { CapError } from './errors.ts';

/** One driver call that is running. */
export interface Outside {
  /** Fires the signal and breaks the answer. Resolves when the driver's own promise is settled. */
  abort(why: CapError): Promise<void>;
}

export class Causes {
  // Ended causes are never removed: a message sent before the cut may wait at a promise for any length of
  // time.
  readonly #ended = new Map<string, CapError>();
  readonly #outside = new Map<string, Set<Outside>>();
  readonly #all = new Set<Outside>();
  /** Writes a ledger line that a driver states. Encodes `args` at once. Resolves once the line is durable. */
  ledger:
    | ((kind: string, fields: Readonly<Record<string, unknown>>, args?: readonly unknown[]) => Promise<void>)
    | undefined;

  /** Returns the error for a message under these causes, or undefined while it may be delivered. */
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
    // `async`: an internal error at one call must not keep the others running.
    await Promise.all(calls.map(async (call) => call.abort(why)));
  }

  /** Undoes `cut` after its turn was rolled back. Aborted calls stay aborted. */
  forget(cause: string): void {
    this.#ended.delete(cause);
  }

  async cutAll(why: CapError): Promise<void> {
    await Promise.all([...this.#all].map(async (call) => call.abort(why)));
  }
}

/** Many causes that are cut as one, such as all grants of a session. Its id begins with `=`. */
export type Group = `=${string}`;
const isGroup = (id: string): boolean => id.startsWith('=');

/** The causes that one message was sent under, outermost first, and the table that says which have ended. */
export class Chain {
  readonly ids: readonly string[];
  readonly causes: Causes | undefined;

  constructor(ids: readonly string[], causes: Causes | undefined) {
    this.ids = Object.freeze(ids);
    this.causes = causes;
  }

  /** The chain that `with` returned last. A grant that is used again and again reuses it. */
  #longer: Chain | undefined;

  /** The ids that a driver sees. It does not see groups. */
  get named(): readonly string[] {
    return this.ids.some(isGroup) ? Object.freeze(this.ids.filter((id) => !isGroup(id))) : this.ids;
  }

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

/** The chain of messages that the host program sends. */
export const noChain: Chain = new Chain([], undefined);
