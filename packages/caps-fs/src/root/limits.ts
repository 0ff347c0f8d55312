/**
 * What one root may use at once, and how much one call may move. Shared by everything made from the root.
 *
 * Promise: a holder cannot exhaust descriptors, memory or the thread pool of the process; the answer is `FS_LIMIT` with
 * the name of the limit.
 */
import { takeCount, takeRecord } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';

export interface Limits {
  readonly maxReadBytes: number;
  readonly maxWriteBytes: number;
  /** One file through a stream or a copy. */
  readonly maxStreamBytes: number;
  /** Names that one `list` answers. */
  readonly maxList: number;
  /** Entries that one call may touch: a removal, a glob, a search, or the directory that `entries` pages through. */
  readonly maxEntries: number;
  /** Of a recursive removal, a glob, a search. */
  readonly maxDepth: number;
  readonly maxSubdirs: number;
  readonly maxStreams: number;
  /** A stream that nobody pulls or pushes for this long ends. */
  readonly maxIdleMs: number;
  /** The pool of Node has four threads; more at once only lengthen its queue. */
  readonly maxConcurrent: number;
  readonly maxWaiting: number;
  /** What one search reads. */
  readonly maxSearchBytes: number;
  /** What one glob or search takes, in a thread of its own. */
  readonly maxSearchMs: number;
  /** Lines that one search answers. */
  readonly maxHits: number;
  /** Below this much free space nothing is written; at most a twentieth of the disk. */
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

/** Places that are taken and given back. With `outer`, a place there is taken too. */
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

  /** The answer gives the place back; calling it again does nothing. */
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

// Of what is to be written, while it waits: 4,096 of the largest writes would be 64 GiB.
const maxWaitingBytes = 64 * 1024 * 1024;

/** Lets a few operations in at a time, the rest in order of arrival. */
export class AdmissionQueue {
  readonly #places: number;
  readonly #line: { readonly bytes: number; admit(): void }[] = [];
  #bytes = 0;
  readonly #maxWaiting: number;
  #inside = 0;

  constructor(limits: Limits) {
    this.#places = limits.maxConcurrent;
    this.#maxWaiting = limits.maxWaiting;
  }

  /** With `bytes` in its hands. A promise only when there is a wait: an operation that may start does so in the caller's own turn. */
  enter(bytes: number): Promise<void> | undefined {
    if (this.#inside < this.#places) {
      this.#inside += 1;
      return undefined;
    }
    if (this.#line.length >= this.#maxWaiting) throw refusal('FS_LIMIT', `operations waiting ${this.#maxWaiting}`);
    if (this.#bytes + bytes > maxWaitingBytes) {
      throw refusal('FS_LIMIT', `bytes of writes waiting ${maxWaitingBytes}, await some first`);
    }
    this.#bytes += bytes;
    return new Promise((admit) => this.#line.push({ bytes, admit }));
  }

  leave(): void {
    const next = this.#line.shift();
    // The place passes on: counting down and up again would let a newcomer in ahead of the line.
    if (!next) this.#inside -= 1;
    else {
      this.#bytes -= next.bytes;
      next.admit();
    }
  }
}
