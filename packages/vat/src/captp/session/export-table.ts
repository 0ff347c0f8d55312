/**
 * What the peer was given: each reference and each promise under an integer of its own, and how often it was mentioned.
 *
 * Promise: what one session exports another cannot name: the numbers are this connection's. What the peer has forgotten as
 * often as it was told of it is gone. What became of a promise is told when every turn that settled it is durable.
 */
import { CapError } from '../../core/errors.ts';
import type { Target } from '../../core/message.ts';
import { VatPromise } from '../../core/promise.ts';

export interface Export {
  readonly id: number;
  /** The reference, or the vow behind a promise. */
  readonly value: object;
  readonly target: Target;
  mentions: number;
  /** The peer is going to be told what became of this promise. */
  watched: boolean;
  /** The peer was told what became of it. */
  told: boolean;
}

export class ExportTable {
  readonly #limit: number;
  readonly #byId = new Map<number, Export>();
  readonly #byValue = new Map<object, Export>();
  #last = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Promises that the peer was not told of yet. */
  get pending(): number {
    let pending = 0;
    for (const known of this.#byValue.values()) if (isPromise(known) && !known.told) pending += 1;
    return pending;
  }

  of(value: object): Export | undefined {
    return this.#byValue.get(value);
  }

  get(id: number): Export | undefined {
    return this.#byId.get(id);
  }

  /** The bootstrap is number 0, and stays. */
  bootstrap(value: object, target: Target): void {
    const made: Export = {
      id: 0,
      value,
      target,
      mentions: Number.POSITIVE_INFINITY,
      watched: true,
      told: true,
    };
    this.#byId.set(0, made);
    this.#byValue.set(value, made);
  }

  /** One more mention of it; `true` where it is new. Throws `limit`. */
  mention(value: object, target: Target): readonly [Export, boolean] {
    const known = this.#byValue.get(value);
    if (known !== undefined) {
      known.mentions += 1;
      return [known, false];
    }
    if (this.#byId.size >= this.#limit)
      throw new CapError(
        'limit',
        'this connection has given out all that it may: release references, or connect again',
      );
    this.#last += 1;
    const made: Export = { id: this.#last, value, target, mentions: 1, watched: false, told: false };
    this.#byId.set(made.id, made);
    this.#byValue.set(value, made);
    return [made, true];
  }

  /** So many mentions are forgotten, at most all: honest peers of other makes count too high. `true` where it is gone. */
  drop(id: number, mentions: number): boolean {
    const known = this.#byId.get(id);
    if (known === undefined) return false;
    known.mentions -= mentions;
    if (known.mentions > 0) return false;
    this.#byId.delete(id);
    if (this.#byValue.get(known.value) === known) this.#byValue.delete(known.value);
    return true;
  }

  clear(): void {
    this.#byId.clear();
    this.#byValue.clear();
  }
}

export const isPromise = (known: Export): known is Export & { readonly value: VatPromise } =>
  known.value instanceof VatPromise;
