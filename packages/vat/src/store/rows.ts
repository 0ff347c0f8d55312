/** What keeps the rows of a store: SQLite, or memory. Everything in it happens before it returns. */
import type { Signer } from '../drivers/keys.ts';
import type { Head, Line, StoredArgs, StoredLine } from './records.ts';

export type Cells = ReadonlyMap<string, string | undefined>;
export const noCells: Cells = new Map();

/** The disk has no room: nothing was written, and the same may be tried again. */
export class Full extends Error {}

/** What can be read, as last committed. */
export interface Reads {
  lines(from: number, limit: number): readonly StoredLine[];
  get(key: string): string | undefined;
  getAll(keys: readonly string[]): readonly (string | undefined)[];
  scan(prefix: string): readonly (readonly [key: string, value: string])[];
  page(prefix: string, after: string, limit: number): readonly (readonly [key: string, value: string])[];
  args(from: number, to: number): readonly StoredArgs[];
}

/** How often a store was put back to an earlier state; a person has looked at it since `trusted`. */
export interface Era {
  readonly now: number;
  readonly trusted: number;
  /** It was found so at this opening: how many commits are missing, where that is known. */
  readonly missing?: number | 'unknown' | undefined;
  /** How that is known: older than its sentinel, made of a backup, its sentinel not found, no folder named to look for it,
   * or its ledger is not the one that the sentinel saw. */
  readonly why?: 'older' | 'backup' | 'ledger' | 'lost' | 'unnamed' | undefined;
}

/** The ledger in the store is not the one that the store was last written with. */
export interface Doubt {
  /** The first line that is wrong or missing. */
  readonly line: number;
  readonly why: string;
  /** Nobody without the key could have written it so by going on: no vats are opened on it. */
  readonly refused: boolean;
}

export interface Rows extends Reads {
  readonly epoch: number;
  /** As of the opening. */
  readonly head: Head;
  readonly era: Era;
  readonly doubt: Doubt | undefined;
  /** What was granted before this era counts again. */
  trust(): void;
  /** An online copy, whole or not at all. */
  backup(file: string): Promise<void>;
  readonly signer: Signer;
  /**
   * All or nothing and durable on return; throws when `epoch` is no longer the last opening, or the disk says no: `Full` where
   * it can say that nothing but room was lacking.
   */
  append(epoch: number, lines: readonly Line[], head: Head, cells: Cells): void;
  scrub(): void;
  /** Frees the room that is kept for ending authority; answers whether there was any. */
  release(): boolean;
  /** Takes that room again; answers whether it could. */
  refill(): boolean;
  close(): void;
}
