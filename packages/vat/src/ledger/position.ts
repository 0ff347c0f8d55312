/**
 * The position of a ledger: where its chain stands after the last line. It is stored with the head of the
 * store, as the mark: the number of the last checkpoint's line in 8 bytes, then the packed tree.
 */
import type { StoreEngine } from '../store/engine.ts';
import type { Head } from '../store/records.ts';
import { type Cut, cutIn } from './dropped.ts';
import { PAGE } from './pages.ts';
import { Tree } from './tree.ts';

export interface ChainPosition {
  readonly mark: Uint8Array | undefined;
  /** The tree over all lines. It is copied, never changed. */
  readonly tree: Tree;
  /** The number of the last checkpoint's line, 0 before the first. */
  readonly checked: number;
}

export function markOf(checked: number, tree: Tree): Uint8Array {
  const packed = tree.pack();
  const mark = new Uint8Array(8 + packed.length);
  new DataView(mark.buffer).setFloat64(0, checked);
  mark.set(packed, 8);
  return mark;
}

/**
 * Reads the position from the mark. If only some of the lines that were prepared together were committed,
 * there is no mark. Then all lines are read again.
 */
export function positionOf(engine: StoreEngine, { seq, mark }: Head): ChainPosition {
  if (mark !== undefined && mark.length >= 8) {
    const checked = new DataView(mark.buffer, mark.byteOffset).getFloat64(0);
    const tree = Tree.unpack(seq, mark.subarray(8));
    if (tree !== undefined) return { mark, tree, checked };
  }
  let tree = Tree.empty();
  let checked = 0;
  for (let from = 1; from <= seq; ) {
    const page = engine.lines(from, Math.min(PAGE, seq - from + 1));
    if (page.length === 0) break;
    for (const { seq: n, bytes } of page) {
      if (n > tree.size + 1) tree = cutBefore(engine, n)?.tree.copy() ?? tree;
      tree.add(bytes);
      if (fieldsOf(bytes)['k'] === 'checkpoint') checked = n;
      from = n + 1;
    }
  }
  return { mark, tree, checked };
}

/** Finds the cut that explains why the lines between the first and line `seq` are missing. */
function cutBefore(engine: StoreEngine, seq: number): Cut | undefined {
  for (let from = seq; ; ) {
    const page = engine.lines(from, PAGE);
    for (const { bytes } of page) {
      const cut = cutIn(bytes, seq - 1);
      if (cut !== undefined) return cut;
    }
    if (page.length < PAGE) return undefined;
    from = (page.at(-1)?.seq ?? from) + 1;
  }
}

/** Returns the fields of a line, and no fields if the line is not JSON. */
export function fieldsOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return {};
  }
}
