/**
 * What the peer gave us, by its numbers: its objects for as long as somebody here holds them, its promises until they are settled.
 *
 * Promise: one object has one reference; every mention is counted, also while nobody held it, so that what is given back is what
 * was had.
 */
import { CapError } from '../../core/errors.ts';
import { VatPromise } from '../../core/promise.ts';
import { type Collector, noticeCollected } from './collected.ts';
import { Import, ImportedPromise, type PeerConnection } from './imports.ts';
import { promisesPerFrame, weights } from './limits.ts';
import { Violation } from './operations.ts';

interface Entry {
  readonly import: WeakRef<Import>;
  mentions: number;
}

export class ImportTable {
  readonly #exit: PeerConnection & Collector;
  readonly #limit: number;
  readonly #keeps: (bytes: number) => void;
  readonly #collector: WeakRef<Collector>;
  readonly #objects = new Map<number, Entry>();
  readonly #promises = new Map<number, ImportedPromise>();
  /** Settled, and not given back: what they became may mention them. */
  readonly #settled = new Map<number, ImportedPromise>();
  /** New in the frame that is being heard. */
  #brought = 0;

  constructor(exit: PeerConnection & Collector, limit: number, keeps: (bytes: number) => void) {
    this.#exit = exit;
    this.#limit = limit;
    this.#keeps = keeps;
    this.#collector = new WeakRef(exit);
  }

  /** Objects that somebody may hold. */
  get size(): number {
    return this.#objects.size;
  }

  /** Promises that are not settled. */
  get pending(): number {
    return this.#promises.size;
  }

  /** A frame begins. */
  begin(): void {
    this.#brought = 0;
  }

  /** The reference of an object of the peer's, mentioned once more. */
  object(id: number): object {
    let entry = this.#objects.get(id);
    let found = entry?.import.deref();
    if (entry === undefined || found === undefined) {
      if (this.#promises.has(id) || this.#settled.has(id)) throw new Violation('one number is an object and a promise');
      if (entry === undefined) this.#room(weights.import);
      found = new Import(this.#exit, id);
      entry = { import: new WeakRef(found), mentions: entry?.mentions ?? 0 };
      this.#objects.set(id, entry);
      noticeCollected(found, this.#collector);
    }
    entry.mentions += 1;
    return found.reference;
  }

  /** The same for a promise. */
  promise(id: number): Promise<unknown> {
    let found = this.#promises.get(id) ?? this.#settled.get(id);
    if (found === undefined) {
      // Number 0 is the bootstrap, an object, also while nobody here holds it.
      if (id === 0 || this.#objects.has(id)) throw new Violation('one number is an object and a promise');
      this.#brought += 1;
      if (this.#brought > promisesPerFrame)
        throw new CapError('limit', `a frame may bring ${promisesPerFrame} new promises: send less at a time`);
      const vow = new VatPromise(this.#exit.account);
      this.#room(weights.promise);
      vow.watchedInside();
      found = new ImportedPromise(this.#exit, id, vow);
      vow.along(found);
      this.#promises.set(id, found);
    }
    found.mentions += 1;
    return found.vow.promise();
  }

  #room(weight: number): void {
    if (this.#objects.size + this.#promises.size + this.#settled.size >= this.#limit)
      throw new CapError('limit', 'too many references came by this connection: give some back before you send more');
    this.#keeps(weight);
  }

  /** One that is not settled. */
  promised(id: number): ImportedPromise | undefined {
    return this.#promises.get(id);
  }

  settled(promise: ImportedPromise): void {
    const { id } = promise.slot;
    if (this.#promises.delete(id)) this.#settled.set(id, promise);
  }

  /** A settled one is given back: how many mentions. From now on its number is that of another one. */
  giveBack({ slot, mentions }: ImportedPromise): number {
    if (!this.#settled.delete(slot.id)) return 0;
    this.#keeps(-weights.promise);
    return mentions;
  }

  /** The garbage collector says that nobody holds it: how many mentions to give back, 0 where it came again meanwhile. */
  collected(id: number): number {
    const entry = this.#objects.get(id);
    if (entry === undefined || entry.import.deref() !== undefined) return 0;
    this.#objects.delete(id);
    return entry.mentions;
  }

  /** The program says that it is done with it. */
  release(given: Import): number {
    given.released = true;
    const { id } = given.slot;
    const entry = this.#objects.get(id);
    if (entry?.import.deref() !== given) return 0;
    this.#objects.delete(id);
    return entry.mentions;
  }

  /** The connection is over: answers the promises that nobody will settle. */
  clear(): ImportedPromise[] {
    const promises = [...this.#promises.values()];
    this.#objects.clear();
    this.#promises.clear();
    this.#settled.clear();
    return promises;
  }
}
