/**
 * The line that records which earlier lines were dropped. Line 1 stays, and so do all lines from a checkpoint
 * on.
 *
 * Promise: nobody without the host's key can make such a line or enlarge a cut. The line counts only with the
 * checkpoint that follows it. The root of that checkpoint covers all lines, also the dropped ones: `tree` is
 * the frontier of the tree over lines 1 to `to`, and the tree covers the line after the gap together with its
 * `prev`, the hash of line `to`. After the cut, no signature would cover line 1 alone, so the cut holds its
 * hash in `first`.
 */
import { sha256 } from '../drivers/hash.ts';
import type { Fields } from './line.ts';
import { Tree } from './tree.ts';

export interface Cut {
  /** Lines 2 to this one were dropped. The next line is a checkpoint. */
  readonly to: number;
  /** The hash of line 1. */
  readonly first: string;
  /** The tree over lines 1 to `to`. */
  readonly tree: Tree;
}

/** A cut that was found in a ledger: who made it, when, and in which line. */
export interface FoundCut extends Cut {
  readonly line: number;
  /** The hash of that line. */
  readonly hash: string;
  readonly by: string;
  readonly t: number;
}

const FROM = 2;

export const cutFields = ({ to, first, tree }: Cut, by: string): Fields => ({
  from: FROM,
  to,
  first,
  tree: Buffer.from(tree.pack()).toString('base64'),
  by,
});

const mark = Buffer.from('"k":"cut"');

/** Returns the cut that this line records, if its last dropped line is `to`. The cut is not verified yet. */
export function cutIn(bytes: Uint8Array, to: number): FoundCut | undefined {
  // Most lines record no cut. Parsing every line of a long ledger would take minutes.
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(mark)) return undefined;
  let said: Readonly<Record<string, unknown>>;
  try {
    said = Object(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
  const { k, seq, t, from, to: last, first, tree: packed, by } = said;
  if (k !== 'cut' || from !== FROM || last !== to || typeof first !== 'string' || typeof packed !== 'string')
    return undefined;
  // Outside the range of dates.
  if (typeof t !== 'number' || Math.abs(t) > 8.64e15) return undefined;
  const tree = Tree.unpack(to, new Uint8Array(Buffer.from(packed, 'base64')));
  if (tree === undefined) return undefined;
  return { to, first, tree, line: Number(seq), hash: sha256(bytes), by: String(by), t };
}
