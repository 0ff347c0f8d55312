/** The rows of a store, in SQLite or in memory. Every method is complete when it returns. */
import type { Signer } from '../drivers/keys.ts';
import type { Head, LedgerLine, StoredArgs, StoredLine } from './records.ts';

export type Cells = ReadonlyMap<string, string | undefined>;
export const noCells: Cells = new Map();

/** The disk has no room. Nothing was written, and the same commit may be tried again. */
export class Full extends Error {}

/** Reads of the last committed state. */
export interface Reads {
  lines(from: number, limit: number): readonly StoredLine[];
  get(key: string): string | undefined;
  getAll(keys: readonly string[]): readonly (string | undefined)[];
  scan(prefix: string): readonly (readonly [key: string, value: string])[];
  page(prefix: string, after: string, limit: number): readonly (readonly [key: string, value: string])[];
  args(from: number, to: number): readonly StoredArgs[];
}

/**
 * How often a store was found put back to an earlier state. `trusted` is the last era that a person has
 * looked at.
 */
export interface Era {
  readonly now: number;
  readonly trusted: number;
  /** The store was found put back at this opening: the number of missing commits, if it is known. */
  readonly missing?: number | 'unknown' | undefined;
  /**
   * How this is known: the store is older than its sentinel, was made from a backup, its sentinel was not
   * found, no folder was given to look for it, or its ledger differs from the one that the sentinel saw.
   */
  readonly why?: 'older' | 'backup' | 'ledger' | 'lost' | 'unnamed' | undefined;
}

/** The ledger in the store is not the one that the store was last written with. */
export interface Doubt {
  /** The first line that is wrong or missing. */
  readonly line: number;
  readonly why: string;
  /** Nobody without the key can write this by appending. No vats are opened on the store. */
  readonly refused: boolean;
}

/** What a store says of itself at its opening. */
export interface StoreFacts {
  /** An id, made once and copied with every backup; '' for a new store. */
  readonly store: string;
  /** Over all openings. */
  readonly commits: number;
  /** Where its sentinel is: see `history.ts`. */
  readonly watched: number;
  readonly era: Era;
  /** The cell of `bound.ts` must be there. */
  readonly isBound: boolean;
  readonly bound: string | undefined;
  readonly head: Head;
  /** The numbers of the last line and of the first after line 1, 0 if there is none; and hashes of lines, '' for none. */
  readonly ledger: {
    readonly firstHash: string;
    readonly last: number;
    readonly lastHash: string;
    readonly second: number;
  };
}

export interface Rows extends Reads {
  readonly epoch: number;
  /** The head at the opening. */
  readonly head: Head;
  readonly era: Era;
  readonly doubt: Doubt | undefined;
  /** Grants from before this era count again. */
  trust(): void;
  /** Copies the store while it is in use, completely or not at all. */
  backup(file: string): Promise<void>;
  readonly signer: Signer;
  /**
   * All or nothing, and durable on return. Throws if `epoch` is no longer the last opening or if the disk
   * fails: `Full` if only room was lacking.
   */
  append(epoch: number, lines: readonly LedgerLine[], head: Head, cells: Cells): void;
  scrub(): void;
  /** Frees the reserve. Returns true if there was any. */
  release(): boolean;
  /** Fills the reserve again. Returns true if it could. */
  refill(): boolean;
  close(): void;
}
