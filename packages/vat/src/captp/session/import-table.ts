/**
 * The imports of a connection, by the numbers of the peer: objects while somebody here holds them, promises
 * until they are settled.
 *
 * Promise: one object has one reference. Every mention is counted, also while nobody holds the object, so the
 * drop gives back the exact count.
 */
import { CapError } from '../../core/errors.ts';
import { VatPromise } from '../../core/promise.ts';
import { type Collector, noticeCollected } from './collected.ts';
import { Import, ImportedPromise, type PeerConnection } from './imports.ts';
import { promisesPerFrame, weights } from './limits.ts';
import { Violation } from './operations.ts';

interface ImportEntry {
  readonly import: WeakRef<Import>;
  mentions: number;
}

export class ImportTable {
  readonly #connection: PeerConnection & Collector;
  readonly #limit: number;
  readonly #addBytes: (bytes: number) => void;
  readonly #collector: WeakRef<Collector>;
  readonly #objects = new Map<number, ImportEntry>();
  readonly #promises = new Map<number, ImportedPromise>();
  /** Settled but not dropped yet, because their values may mention them. */
  readonly #settled = new Map<number, ImportedPromise>();
  /** New promises in the current frame. */
  #newPromises = 0;

  constructor(connection: PeerConnection & Collector, limit: number, addBytes: (bytes: number) => void) {
    this.#connection = connection;
    this.#limit = limit;
    this.#addBytes = addBytes;
    this.#collector = new WeakRef(connection);
  }

  /** Objects that somebody here may hold. */
  get size(): number {
    return this.#objects.size;
  }

  /** Unsettled promises. */
  get pending(): number {
    return this.#promises.size;
  }

  /** Called at the start of each frame. */
  begin(): void {
    this.#newPromises = 0;
  }

  /** Counts one more mention of an object and returns its reference. */
  object(id: number): object {
    let entry = this.#objects.get(id);
    let found = entry?.import.deref();
    if (entry === undefined || found === undefined) {
      if (this.#promises.has(id) || this.#settled.has(id))
        throw new Violation('one number is used for an object and for a promise');
      if (entry === undefined) this.#reserve(weights.import);
      found = new Import(this.#connection, id);
      entry = { import: new WeakRef(found), mentions: entry?.mentions ?? 0 };
      this.#objects.set(id, entry);
      noticeCollected(found, this.#collector);
    }
    entry.mentions += 1;
    return found.reference;
  }

  /** Counts one more mention of a promise and returns it. */
  promise(id: number): Promise<unknown> {
    let found = this.#promises.get(id) ?? this.#settled.get(id);
    if (found === undefined) {
      // Number 0 is the bootstrap, an object, even while nobody here holds it.
      if (id === 0 || this.#objects.has(id)) throw new Violation('one number is used for an object and for a promise');
      this.#newPromises += 1;
      if (this.#newPromises > promisesPerFrame)
        throw new CapError('limit', `a frame may bring ${promisesPerFrame} new promises: send less at a time`);
      const vatPromise = new VatPromise(this.#connection.account);
      this.#reserve(weights.promise);
      vatPromise.watchedInside();
      found = new ImportedPromise(this.#connection, id, vatPromise);
      vatPromise.along(found);
      this.#promises.set(id, found);
    }
    found.mentions += 1;
    return found.vatPromise.promise();
  }

  #reserve(weight: number): void {
    if (this.#objects.size + this.#promises.size + this.#settled.size >= this.#limit)
      throw new CapError('limit', 'too many references arrived on this connection: release some before you send more');
    this.#addBytes(weight);
  }

  /** Returns an unsettled promise. */
  promised(id: number): ImportedPromise | undefined {
    return this.#promises.get(id);
  }

  settled(promise: ImportedPromise): void {
    const { id } = promise.slot;
    if (this.#promises.delete(id)) this.#settled.set(id, promise);
  }

  /** Removes a settled promise and returns its mentions. Its number can then stand for a new promise. */
  giveBack({ slot, mentions }: ImportedPromise): number {
    if (!this.#settled.delete(slot.id)) return 0;
    this.#addBytes(-weights.promise);
    return mentions;
  }

  /**
   * The garbage collector has collected an object. Returns the mentions to drop, or 0 if the object was
   * mentioned again.
   */
  collected(id: number): number {
    const entry = this.#objects.get(id);
    if (entry === undefined || entry.import.deref() !== undefined) return 0;
    this.#objects.delete(id);
    return entry.mentions;
  }

  /** The program released an object. Returns the mentions to drop. */
  release(released: Import): number {
    released.released = true;
    const { id } = released.slot;
    const entry = this.#objects.get(id);
    if (entry?.import.deref() !== released) return 0;
    this.#objects.delete(id);
    return entry.mentions;
  }

  /** Empties the tables at the end of the connection. Returns the promises that are still unsettled. */
  clear(): ImportedPromise[] {
    const promises = [...this.#promises.values()];
    this.#objects.clear();
    this.#promises.clear();
    this.#settled.clear();
    return promises;
  }
}
