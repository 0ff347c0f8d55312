/**
 * The exports of a connection: each reference and each promise under a number, with the count of its
 * mentions.
 *
 * Promise: numbers are local to the connection, so one session cannot name the exports of another. An export
 * is removed when the peer has dropped as many mentions as were made. The resolution of a promise is sent
 * when every turn that settled it is durable.
 */
import { CapError } from '../../core/errors.ts';
import type { Target } from '../../core/message.ts';
import { VatPromise } from '../../core/promise.ts';

export interface Export {
  readonly id: number;
  /** The reference, or the `VatPromise` behind a promise. */
  readonly value: object;
  readonly target: Target;
  mentions: number;
  /** The session waits for this promise, to tell the peer how it settles. */
  watched: boolean;
  /** The peer was told how this promise settled. */
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

  /** Promises whose resolution the peer was not told. */
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

  /** Adds the bootstrap as number 0. It is never removed. */
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

  /** Counts one more mention. The second result is `true` if the export is new. Throws `limit`. */
  mention(value: object, target: Target): readonly [Export, boolean] {
    const known = this.#byValue.get(value);
    if (known !== undefined) {
      known.mentions += 1;
      return [known, false];
    }
    if (this.#byId.size >= this.#limit)
      throw new CapError(
        'limit',
        'this connection has exported as many references as it may: release some, or connect again',
      );
    this.#last += 1;
    const made: Export = { id: this.#last, value, target, mentions: 1, watched: false, told: false };
    this.#byId.set(made.id, made);
    this.#byValue.set(value, made);
    return [made, true];
  }

  /**
   * Removes mentions. Peers of other makes may honestly count too high, so a larger number removes all.
   * Returns `true` if the export is gone.
   */
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
