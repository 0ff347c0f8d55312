/**
 * The line that says which earlier lines were dropped. Line 1 stays, and so does all from a checkpoint on.
 *
 * Promise: who has not the host's key can neither make such a line nor enlarge one. It counts only with the checkpoint that follows it, whose
 * root is over all lines, also those that are gone: `tree` is the frontier of the tree over lines 1 to `to`, and the line after the gap is
 * in the tree with its `prev`, the hash of line `to`. Line 1 alone would be vouched for by nobody any more: hence its hash in `first`.
 */
import { sha256 } from '../drivers/hash.ts';
import type { Fields } from './line.ts';
import { Tree } from './tree.ts';

export interface Cut {
  /** Lines 2 to this one were dropped. A checkpoint is next. */
  readonly to: number;
  /** The hash of line 1. */
  readonly first: string;
  /** Over lines 1 to `to`. */
  readonly tree: Tree;
}

/** A cut as it was found: who made it, when, and in which line. */
export interface FoundCut extends Cut {
  readonly line: number;
  /** Of the line. */
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

/** The cut that this line tells of, if its last dropped line is `to`. What it says is not believed yet. */
export function cutIn(bytes: Uint8Array, to: number): FoundCut | undefined {
  // Most lines are none: reading each of a long ledger as JSON would take minutes.
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
  // What no date can be.
  if (typeof t !== 'number' || Math.abs(t) > 8.64e15) return undefined;
  const tree = Tree.unpack(to, new Uint8Array(Buffer.from(packed, 'base64')));
  if (tree === undefined) return undefined;
  return { to, first, tree, line: Number(seq), hash: sha256(bytes), by: String(by), t };
}
