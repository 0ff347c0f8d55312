/** What a store keeps and gives back: lines of the ledger with their arguments, its head, and what one commit writes. */

/** A line of the ledger on its way into the store; `hash` is the SHA-256 of `bytes`, as base64url. */
export interface Line {
  readonly seq: number;
  readonly bytes: Uint8Array;
  readonly hash: string;
  /** Kept in a table of their own: the line only commits to them. */
  readonly args?: Args | undefined;
  /** The number of a line whose arguments are deleted in the same commit. */
  readonly forgets?: number | undefined;
  /** Lines 2 to this one and their arguments are deleted in the same commit. */
  readonly drops?: number | undefined;
  /** What the ledger goes on from; kept with the head. On the last line of those that were prepared together. */
  readonly mark?: Uint8Array | undefined;
  /** `ends`: ends authority, so it may use the room that is kept for that. `along`: may go with one that ends. */
  readonly urgency?: 'ends' | 'along' | undefined;
}

/** SHA-256 of `salt` and `bytes` is the commitment. */
export interface Args {
  readonly salt: Uint8Array;
  readonly bytes: Uint8Array;
}

export interface StoredArgs extends Args {
  readonly seq: number;
}

/** A line as the store holds it: input from outside, to be verified before it is believed. */
export interface StoredLine {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

/** The last line committed; `{seq: 0, hash: ''}` while there is none. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
  readonly mark?: Uint8Array | undefined;
}

/** What one commit writes. Portraits, table rows and queued messages join the lines here. */
export interface Writes {
  readonly lines: readonly Line[];
  /** Portraits, rows, queued messages: by key, in `undefined` deletes. */
  readonly cells?: ReadonlyMap<string, string | undefined>;
}
