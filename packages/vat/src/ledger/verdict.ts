/** The options and the result of `verifyLedger`. */
import type { Era } from '../store/rows.ts';

/** The result of checking a ledger. `why` and `badLine` are there only if `ok` is false. */
export interface LedgerVerdict {
  readonly ok: boolean;
  /** Count of lines found good. */
  readonly lines: number;
  /** The first bad line, counted from 1. */
  readonly badLine?: number;
  readonly why?: string;
  /** Count of checkpoints whose signatures are good. */
  readonly checkpoints: number;
  /**
   * Count of lines, from the first on, that the host has signed. In a file, lines could be missing after
   * them.
   */
  readonly signed: number;
  /** Lines 2 to `to` were dropped. Line `line` records it, and the host has signed that line. */
  readonly dropped?: { readonly to: number; readonly by: string; readonly t: number; readonly line: number };
  /** Count of calls of audited grants whose end is not recorded, because the host ended first; absent if none. */
  readonly unended?: number;
  /** Only of a store: it was found put back at this opening, and how this is known (`Era`). */
  readonly putBack?: NonNullable<Era['why']>;
  /** The last of these checkpoints, as text. Kept elsewhere, it is an anchor. */
  readonly checkpoint?: string;
}

/**
 * Facts from outside that the ledger must agree with. They come from another machine, or
 * another person.
 */
export interface VerifyOptions {
  /**
   * A checkpoint of this ledger that was kept elsewhere. Its lines must be there unchanged, or have been
   * dropped since.
   */
  readonly anchor?: string;
  /**
   * Checkpoints that were sent elsewhere, of this ledger and perhaps of others. Each of this ledger must
   * still hold.
   */
  readonly against?: readonly string[];
  /** The key that the genesis line must name, in the form in which it names it. */
  readonly key?: string;
}
