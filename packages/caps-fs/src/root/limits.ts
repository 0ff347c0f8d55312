/**
 * How much one root may use at once, and how much one call may move. Everything made from a root shares its
 * limits.
 *
 * Promise: a holder cannot exhaust the descriptors, the memory or the thread pool of the process. It is
 * refused with `FS_LIMIT` and the name of the limit.
 */
import { takeCount, takeRecord } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';

export interface Limits {
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

const defaults: Limits = {
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

export function takeLimits(given: unknown): Limits {
  const limits: Record<keyof Limits, number> = { ...defaults };
  for (const [name, value] of Object.entries(takeRecord(given, 'limits'))) {
    if (!Object.hasOwn(defaults, name)) throw refusal('invalid', 'a limit of that name does not exist');
    limits[name as keyof Limits] = takeCount(value, 'a limit', 1) ?? defaults[name as keyof Limits];
  }
  return limits;
}

/** A limited number of slots that are taken and given back. With `outer`, each slot takes one there, too. */
export class Slots {
  readonly #name: string;
  readonly #max: number;
  readonly #outer: Slots | undefined;
  #taken = 0;

  constructor(name: string, max: number, outer?: Slots) {
    this.#name = name;
    this.#max = max;
    this.#outer = outer;
  }

  /** Returns a function that gives the slot back. Calling it again does nothing. */
  take(): () => void {
    if (this.#taken >= this.#max) throw refusal('FS_LIMIT', `${this.#name} ${this.#max}`);
    const giveBackOuter = this.#outer?.take();
    this.#taken += 1;
    let mine = true;
    return () => {
      if (!mine) return;
      mine = false;
      this.#taken -= 1;
      giveBackOuter?.();
    };
  }
}

// Limits the bytes held by queued writes: 4,096 of the largest writes would be 64 GiB.
const maxWaitingBytes = 64 * 1024 * 1024;

/** Admits a few operations at a time. The others wait in order of arrival. */
export class AdmissionQueue {
  readonly #places: number;
  readonly #queue: { readonly bytes: number; admit(): void }[] = [];
  #bytes = 0;
  readonly #maxWaiting: number;
  #inside = 0;

  constructor(limits: Limits) {
    this.#places = limits.maxConcurrent;
    this.#maxWaiting = limits.maxWaiting;
  }

  /**
   * `bytes` is how much memory the operation holds while it waits. Returns a promise only if the operation
   * has to wait, so that an operation that need not wait starts in the caller's own turn.
   */
  enter(bytes: number): Promise<void> | undefined {
    if (this.#inside < this.#places) {
      this.#inside += 1;
      return undefined;
    }
    if (this.#queue.length >= this.#maxWaiting) throw refusal('FS_LIMIT', `operations waiting ${this.#maxWaiting}`);
    if (this.#bytes + bytes > maxWaitingBytes) {
      throw refusal('FS_LIMIT', `bytes of writes waiting ${maxWaitingBytes}, await some first`);
    }
    this.#bytes += bytes;
    return new Promise((admit) => this.#queue.push({ bytes, admit }));
  }

  leave(): void {
    const next = this.#queue.shift();
    // The place passes to the next in the queue. Counting down and up again would let a newcomer overtake it.
    if (!next) this.#inside -= 1;
    else {
      this.#bytes -= next.bytes;
      next.admit();
    }
  }
}
