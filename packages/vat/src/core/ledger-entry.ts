/** A fact on its way into the ledger, as a turn or a driver states it. The ledger turns it into a line. */

/** The arguments of a call as text. They are encoded at once, because bytes among them could change later. */
export interface EncodedArgs {
  readonly bytes: Uint8Array;
  /** The number of arguments. */
  readonly argc: number;
  /** Set when the text was too long and its end is missing. */
  readonly cut: boolean;
}

export interface LedgerEntry {
  /** One of `ledger/kinds.ts`. */
  readonly kind: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly args?: EncodedArgs | undefined;
}

/** Whether the line only says how a call ended. What its turn sends need not wait until it is on disk. */
export const isOutcome = ({ kind }: LedgerEntry): boolean => kind === 'result';
