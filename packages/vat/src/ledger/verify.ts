/**
 * Checks a ledger, in a store or exported to a file, and names the first line that is not as it was written.
 *
 * Promise: a line changed, left out, put in or moved is found, and so is an end cut off inside a line. What a *file* cannot show
 * is that whole lines are missing at its end; a store can, because its head is kept beside the lines.
 *
 * Reads in batches: neither the file nor the ledger is ever in memory as a whole, and other work goes on in between.
 */
import { sha256 } from '../drivers/hash.ts';
import { readLines } from '../drivers/lines.ts';
import { engineOf, type Head, type Store } from '../store/store.ts';
import { CRC_TAIL, crcTail, MAX_LINE_BYTES } from './line.ts';
import { breathe, PAGE } from './pages.ts';

export interface LedgerVerdict {
  readonly ok: boolean;
  /** Lines found good. */
  readonly lines: number;
  /** The first bad line, counted from 1. */
  readonly badLine?: number;
  readonly why?: string;
}

export async function verifyLedger(where: Store | { readonly file: string }): Promise<LedgerVerdict> {
  return 'file' in where ? verifyFile(where.file) : verifyStore(where);
}

async function verifyFile(file: string): Promise<LedgerVerdict> {
  const check = makeCheck();
  for await (const batch of readLines(file, MAX_LINE_BYTES)) {
    for (const bytes of batch) {
      const bad = check.take(bytes);
      if (bad !== undefined) return bad;
    }
  }
  return check.end();
}

async function verifyStore(store: Store): Promise<LedgerVerdict> {
  const engine = engineOf(store);
  const check = makeCheck();
  // From below 1, to find a row that was slipped in before the first.
  for (let from = Number.MIN_SAFE_INTEGER; ; await breathe()) {
    const page = engine.lines(from, PAGE);
    for (const { seq, bytes } of page) {
      const bad = check.take(bytes);
      if (bad !== undefined) return bad;
      from = seq + 1;
    }
    // The same instant for both: no commit can come between the last page and the head.
    if (page.length < PAGE) return check.end(engine.head());
  }
}

interface Check {
  /** The next line; answers a verdict as soon as there is a bad one. */
  take(bytes: Uint8Array): LedgerVerdict | undefined;
  end(head?: Head): LedgerVerdict;
}

function makeCheck(): Check {
  let count = 0;
  let hash = '';
  let broken = false; // the last line's `prev` is not the hash of the line before it

  /**
   * Of two neighbours that do not fit one was changed. If the next line (or the head) names the second one's hash, the second
   * is as it was written and the first is the bad one; otherwise it is the second.
   */
  const blame = (vouched: boolean): LedgerVerdict =>
    vouched
      ? verdict(count - 1, 'it is not the line that the next one was written after: it was changed')
      : verdict(count, 'its prev is not the hash of the line before it');

  return {
    take(bytes) {
      const line = read(bytes, count + 1);
      if (broken) return blame(line.why === undefined && line.prev === hash);
      if (line.why !== undefined) return verdict(count + 1, line.why);
      broken = line.prev !== hash;
      hash = sha256(bytes);
      count += 1;
      return undefined;
    },
    end(head) {
      if (broken) return blame(head?.hash === hash);
      if (head === undefined && count === 0)
        return verdict(1, 'there is no line: a ledger begins with its genesis line');
      if (head !== undefined && head.seq > count)
        return verdict(count + 1, `it is missing: the ledger has ${head.seq} lines`);
      if (head !== undefined && head.seq < count) return verdict(head.seq + 1, 'it was put in after the last line');
      if (head !== undefined && head.hash !== hash)
        return verdict(count, 'it is not the line that was committed last: it was changed');
      return { ok: true, lines: count };
    },
  };
}

function verdict(badLine: number, why: string): LedgerVerdict {
  return { ok: false, lines: badLine - 1, badLine, why };
}

type Reading = { readonly why: string; readonly prev?: never } | { readonly why?: never; readonly prev: string };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What line `n` says, or why it is none, by itself. */
function read(bytes: Uint8Array, n: number): Reading {
  if (bytes.length > MAX_LINE_BYTES) return { why: 'it is longer than a line can be' };
  let text: string;
  let said: { readonly [field: string]: unknown } | null;
  try {
    text = decoder.decode(bytes);
    said = JSON.parse(text);
  } catch {
    return { why: 'it is not JSON: it was changed, or cut off' };
  }
  if (crcTail(bytes.subarray(0, Math.max(0, bytes.length - CRC_TAIL))) !== text.slice(-CRC_TAIL)) {
    return { why: 'its check sum is wrong: it was changed' };
  }
  if (typeof said !== 'object' || said === null) return { why: 'it is not a line of a ledger' };
  const { v, seq, k, prev } = said;
  if (v !== 1) return { why: 'it is of a version that this Hob does not know' };
  if ((n === 1) !== (k === 'genesis'))
    return { why: n === 1 ? 'a ledger begins with its genesis line' : 'there can be no second genesis line' };
  if (seq !== n) return { why: `it says that it is line ${String(seq)}: a line is missing, put in or moved` };
  if (typeof prev !== 'string') return { why: 'it has no prev' };
  return { prev };
}
