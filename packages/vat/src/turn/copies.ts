/** Marks on the copies of data that messages and portraits carry: what is marked need not be copied again. */
import { types } from '../core/drivers/platform.ts';
import { ByReference, Given } from '../core/reference.ts';

/**
 * Marks a copy made here, before it is frozen, with a private field (as `promise.ts` does). For 20,000 small
 * records a WeakSet costs three times as much as making them, mostly in the garbage collector.
 */
export class Copied extends Given {
  /** True when it can be passed without copying: it holds no bytes, which cannot be frozen. */
  readonly #clean: boolean;
  /** About its size in bytes. */
  readonly #bytes: number;
  constructor(copy: object, clean: boolean, bytes: number) {
    super(copy);
    this.#clean = clean;
    this.#bytes = bytes > 64 ? bytes : 16;
  }
  static is(x: object): boolean {
    return #clean in x;
  }
  static isClean(x: object): boolean {
    return #clean in x && x.#clean;
  }
  /**
   * The size is counted once, when the copy is made. Passing the same frozen data on costs its holder a
   * pointer.
   */
  static size(x: object): number {
    return #bytes in x ? x.#bytes : 16;
  }
}

/** The copies that hold a promise. */
export const withPromises: WeakSet<object> = new WeakSet();

/** Facts about decoded data that its decoder knows. */
interface Decoded {
  /** Whether it holds a promise. */
  readonly promises: boolean;
  /** Whether it holds bytes, which cannot be frozen. */
  readonly mutable: boolean;
  /** About its size in bytes; 0 for a part of larger data. */
  readonly bytes: number;
}

/** A part of larger data, with a promise in it. */
export const partWithPromise: Decoded = Object.freeze({ promises: true, mutable: true, bytes: 0 });

/**
 * Marks data that a decoder just made from text: every object is new, plain and frozen. It needs no further
 * copy, unless it holds bytes, which cannot be frozen.
 */
export function decoded(made: object, { promises, mutable, bytes }: Decoded): void {
  // The whole text may stand for data that was decoded, and marked, before.
  if (Copied.is(made)) return;
  if (!mutable || bytes > 0) new Copied(made, !mutable, bytes);
  if (promises) withPromises.add(made);
}

/** Whether holders can share the value, because nobody can change it. */
export const shareable = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  Copied.isClean(value) ||
  ByReference.is(value) ||
  types.isPromise(value) ||
  types.isNativeError(value);
