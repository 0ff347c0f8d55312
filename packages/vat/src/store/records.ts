/**
 * The records of a store: lines of the ledger with their arguments, its head, and the content of a commit.
 */

/** A line of the ledger to be stored. `hash` is the SHA-256 of `bytes`, as base64url. */
export interface LedgerLine {
  readonly seq: number;
  readonly bytes: Uint8Array;
  readonly hash: string;
  /** Stored in a table of their own. The line only commits to them. */
  readonly args?: Args | undefined;
  /** The number of a line whose arguments are deleted in the same commit. */
  readonly forgets?: number | undefined;
  /** Lines 2 to this one and their arguments are deleted in the same commit. */
  readonly drops?: number | undefined;
  /**
   * The state that the ledger continues from, stored with the head. On the last of the lines that were
   * prepared together.
   */
  readonly mark?: Uint8Array | undefined;
  /** `ends`: the line ends authority, so it may use the reserve. `along`: it may accompany such a line. */
  readonly urgency?: 'ends' | 'along' | undefined;
}

/** SHA-256 of `salt` and `bytes` is the commitment. */
export interface Args {
  readonly salt: Uint8Array;
  readonly bytes: Uint8Array;
}

/** The arguments of a line as read from the store. */
export interface StoredArgs extends Args {
  readonly seq: number;
}

/** A line as read from the store. It is input from outside and must be verified. */
export interface StoredLine {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

/** The last committed line; `{seq: 0, hash: ''}` if there is none. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
  readonly mark?: Uint8Array | undefined;
}

/** The content of one commit. */
export interface Writes {
  readonly lines: readonly LedgerLine[];
  /** Portraits, table rows and queued messages, by key. `undefined` deletes a cell. */
  readonly cells?: ReadonlyMap<string, string | undefined>;
}
