/**
 * How much one root may use at once, and how much one call may move. Everything made from a root shares its
 * limits, each holder a part of them (`holder.ts`).
 *
 * Promise: a holder cannot exhaust the descriptors, the memory or the thread pool of the process. It is
 * refused with `FS_LIMIT` and the name of the limit.
 */
import { takeCount, takeRecord } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { type Holder, Shares } from './holder.ts';

export interface FsLimits {
  readonly maxReadBytes: number;
  readonly maxWriteBytes: number;
  /** Bytes of one file through a stream or a copy. */
  readonly maxStreamBytes: number;
  /** Names that one `list` returns. */
  readonly maxList: number;
  /**
   * Entries that one removal, glob or search may touch, and entries of a directory that `entries` pages
   * through.
   */
  readonly maxEntries: number;
  /** Depth of a recursive removal, a glob or a search. */
  readonly maxDepth: number;
  readonly maxSubdirs: number;
  readonly maxStreams: number;
  /** A stream ends when nobody reads from it or writes to it for this long. */
  readonly maxIdleMs: number;
  /** Node's pool has four threads. More operations at once only lengthen its queue. */
  readonly maxConcurrent: number;
  readonly maxWaiting: number;
  /** Bytes that one search reads. */
  readonly maxSearchBytes: number;
  /** Time that one glob or search takes in a worker thread. */
  readonly maxSearchMs: number;
  /** Lines that one search returns. */
  readonly maxHits: number;
  /**
   * Nothing is written when less space than this is free. On a small disk a twentieth of the disk counts
   * instead.
   */
  readonly minFreeBytes: number;
}

const defaults: FsLimits = {
  maxReadBytes: 16 * 1024 * 1024,
  maxWriteBytes: 16 * 1024 * 1024,
  maxStreamBytes: 1024 * 1024 * 1024,
  maxList: 10_000,
  maxEntries: 200_000,
  maxDepth: 64,
  maxSubdirs: 256,
  maxStreams: 32,
  maxIdleMs: 60_000,
  maxConcurrent: 8,
  maxWaiting: 4096,
  maxSearchBytes: 256 * 1024 * 1024,
  maxSearchMs: 5_000,
  maxHits: 1_000,
  minFreeBytes: 64 * 1024 * 1024,
};

export function takeLimits(given: unknown): FsLimits {
  const limits: Record<keyof FsLimits, number> = { ...defaults };
  const names = Object.keys(defaults) as (keyof FsLimits)[];
  const taken = takeRecord(given, 'limits', names);
  for (const name of names) {
    limits[name] = takeCount(taken[name], name, 1) ?? defaults[name];
  }
  return limits;
}

/** A limited number of slots that are taken and given back. With `outer`, each slot takes one there, too. */
export class Slots {
  readonly #name: string;
  readonly #max: number;
  readonly #outer: Slots | undefined;
  readonly #shares: Shares;

  constructor(name: string, max: number, outer?: Slots) {
    this.#name = name;
    this.#max = max;
    this.#outer = outer;
    this.#shares = new Shares(max);
  }

  /** Returns a function that gives the slot back. Calling it again does nothing. */
  take(holder: Holder): () => void {
    if (this.#shares.full) throw refusal('FS_LIMIT', `${this.#name} ${this.#max}`);
    if (!this.#shares.mayTake(holder)) throw refusal('FS_LIMIT', `${this.#name}, this holder’s share of ${this.#max}`);
    const giveBackOuter = this.#outer?.take(holder);
    this.#shares.add(holder, 1);
    let mine = true;
    return () => {
      if (!mine) return;
      mine = false;
      this.#shares.add(holder, -1);
      giveBackOuter?.();
    };
  }
}
