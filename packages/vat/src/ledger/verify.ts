/**
 * Checks a ledger, in a store or exported to a file, and names the first line that is not as it was written.
 *
 * Promise: a line changed, left out, put in or moved is found, and so is an end cut off inside a line. Lines that were written
 * anew, with a chain that is right, are found at the next checkpoint, at most 1,000 lines further: without the host's key none can
 * be made. What a *file* cannot show is that whole lines are missing at its end (`signed` says how far the host vouches); a
 * store can, because its head is kept beside the lines. Who has the store *and* its key can write another history from the
 * first line on: only a checkpoint that was kept elsewhere (`anchor`) shows that, and also a store that was put back to an earlier state.
 *
 * Lines after the first may have been dropped (`retainLedger`): then a signed line says up to where, and all that is left is checked as ever.
 *
 * Reads in batches: neither the file nor the ledger is ever in memory as a whole, and other work goes on in between.
 */
import { CapError } from '../core/errors.ts';
import { sha256 } from '../drivers/hash.ts';
import { readLines } from '../drivers/lines.ts';
import type { StoreEngine } from '../store/engine.ts';
import type { Head, StoredArgs } from '../store/records.ts';
import type { Doubt, Era } from '../store/rows.ts';
import { engineOf, type Store } from '../store/store.ts';
import { commitment } from './arguments.ts';
import { CHECKPOINT_LINES, drops } from './chain.ts';
import { cutIn, type FoundCut } from './dropped.ts';
import { storedLine } from './escapes.ts';
import { CRC_TAIL, crcTail, MAX_LINE_BYTES } from './line.ts';
import { type Checkpoint, keyText, noteReader, parseKey, rootText } from './note.ts';
import { breathe, PAGE } from './pages.ts';
import { Tree } from './tree.ts';

export interface LedgerVerdict {
  readonly ok: boolean;
  /** Lines found good. */
  readonly lines: number;
  /** The first bad line, counted from 1. */
  readonly badLine?: number;
  readonly why?: string;
  /** Checkpoints found good, with their signatures. */
  readonly checkpoints: number;
  /** The host vouches for so many lines from the first on; of the end of a file beyond them, lines could be missing. */
  readonly signed: number;
  /** Lines 2 to `to` are not there any more: line `line` says so, and the host vouches for that. */
  readonly dropped?: { readonly to: number; readonly by: string; readonly t: number; readonly line: number };
  /** Of a store: it was found at this opening to have been put back, and how that is known (`Era`). */
  readonly putBack?: NonNullable<Era['why']>;
  /** The last of these checkpoints, as text: kept somewhere else it is an anchor. */
  readonly checkpoint?: string;
}

export interface VerifyOptions {
  /** A checkpoint of this ledger that was kept elsewhere: its lines must still be there and be the same, or have been dropped since. */
  readonly anchor?: string;
  /** Checkpoints that were sent elsewhere, of this ledger and perhaps of others: each of this one must still hold. */
  readonly against?: readonly string[];
  /** The key that the genesis line has to name, as it names it, where that is known from elsewhere. */
  readonly key?: string;
}

/** Errors: `invalid` for an anchor that is none; `unavailable` for a file that cannot be read. */
export async function verifyLedger(
  where: Store | { readonly file: string },
  options: VerifyOptions = {},
): Promise<LedgerVerdict> {
  const { anchor } = options;
  if (anchor !== undefined && !(typeof anchor === 'string' && LOOKS_LIKE_ONE.test(anchor)))
    throw new CapError('invalid', 'this is no checkpoint: an anchor is the whole text of one, with its signature');
  if (options.against?.some((note) => !LOOKS_LIKE_ONE.test(note)) || options.against?.length === 0)
    throw new CapError('invalid', 'there is no checkpoint to verify against, or some are none');
  return 'file' in where ? verifyFile(where.file, options) : verifyStore(where, options);
}

const LOOKS_LIKE_ONE = /^[^\n]+\n\d+\n[A-Za-z0-9+/=]+\n\n—/;

async function verifyFile(file: string, options: VerifyOptions): Promise<LedgerVerdict> {
  const check = makeCheck(options, await cutOfFile(file));
  for await (const bytes of linesOf(file)) {
    const bad = check.take(bytes);
    if (bad !== undefined) return bad;
  }
  return check.end();
}

async function* linesOf(file: string): AsyncGenerator<Uint8Array> {
  // An escape has up to three times the bytes of its character.
  for await (const batch of readLines(file, 3 * MAX_LINE_BYTES)) for (const bytes of batch) yield storedLine(bytes);
}

/** Where lines after the first are missing: the line that says so. */
async function cutOfFile(file: string): Promise<FoundCut | undefined> {
  let count = 0;
  let to = 0;
  for await (const bytes of linesOf(file)) {
    count += 1;
    if (count === 2) to = numberOf(bytes) - 1;
    if (count === 2 && !(to > 1)) return undefined;
    const cut = count < 2 ? undefined : cutIn(bytes, to);
    if (cut !== undefined) return cut;
  }
  return undefined;
}

async function cutOfStore(engine: StoreEngine): Promise<FoundCut | undefined> {
  const [second] = engine.lines(2, 1);
  if (second === undefined || second.seq <= 2) return undefined;
  for (let from = second.seq; ; await breathe()) {
    const page = engine.lines(from, PAGE);
    for (const { seq, bytes } of page) {
      const cut = cutIn(bytes, second.seq - 1);
      if (cut !== undefined) return cut;
      from = seq + 1;
    }
    if (page.length < PAGE) return undefined;
  }
}

function numberOf(bytes: Uint8Array): number {
  try {
    return Number(Object(JSON.parse(new TextDecoder().decode(bytes))).seq);
  } catch {
    return 0;
  }
}

async function verifyStore(store: Store, options: VerifyOptions): Promise<LedgerVerdict> {
  const engine = engineOf(store);
  for (;;) {
    const before = drops(engine);
    const verdict = await verifyOnce(engine, options);
    // Lines that went away while they were read are not missing.
    const { why } = engine.era;
    if (verdict.ok || drops(engine) === before) return why === undefined ? verdict : { ...verdict, putBack: why };
  }
}

async function verifyOnce(engine: StoreEngine, options: VerifyOptions): Promise<LedgerVerdict> {
  const check = makeCheck(options, await cutOfStore(engine), engine.signer.publicKey);
  // From below 1, to find a row that was slipped in before the first.
  for (let from = Number.MIN_SAFE_INTEGER; ; await breathe()) {
    const page = engine.lines(from, PAGE);
    const last = page.at(-1)?.seq ?? from;
    const side = page.length === 0 ? [] : engine.args(from, last);
    const args = side.length === 0 ? undefined : new Map(side.map((row) => [row.seq, row]));
    for (const { seq, bytes } of page) {
      const bad = check.take(bytes, args?.get(seq));
      if (bad !== undefined) return bad;
      from = seq + 1;
    }
    // The same instant for both: no commit can come between the last page and the head.
    if (page.length < PAGE) return check.end(engine.head(), engine.doubt);
  }
}

interface Check {
  /** The next line, with what is kept beside it; answers a verdict as soon as there is a bad one. */
  take(bytes: Uint8Array, args?: StoredArgs): LedgerVerdict | undefined;
  end(head?: Head, doubt?: Doubt): LedgerVerdict;
}

/** `owner` is the key of the store that holds the ledger. */
function makeCheck(
  { anchor, against = [], key: expected }: VerifyOptions,
  cut: FoundCut | undefined,
  owner?: Uint8Array,
): Check {
  let count = 0;
  let hash = '';
  let broken = false; // the last line's `prev` is not the hash of the line before it
  let tree = Tree.empty();
  let readNote: ((note: unknown) => Checkpoint | undefined) | undefined;
  const anchored = new Map<number, Checkpoint[]>();
  let furthest = anchor === undefined ? 0 : 1;
  let checkpoints = 0;
  let checked = 0; // the last checkpoint's line
  let last: { readonly note: string; readonly size: number } | undefined;

  const isSigned = (): boolean => cut !== undefined && (last?.size ?? 0) >= cut.line;
  const known = () => ({
    checkpoints,
    signed: last?.size ?? 0,
    ...(cut !== undefined && isSigned() ? { dropped: { to: cut.to, by: cut.by, t: cut.t, line: cut.line } } : {}),
    ...(last === undefined ? {} : { checkpoint: last.note }),
  });
  const verdict = (badLine: number, why: string): LedgerVerdict => ({
    ok: false,
    lines: badLine - 1,
    badLine,
    why,
    ...known(),
  });

  /**
   * Of two neighbours that do not fit one was changed. If the next line (or the head) names the second one's hash, the second
   * is as it was written and the first is the bad one; otherwise it is the second.
   */
  const blame = (vouched: boolean): LedgerVerdict =>
    vouched
      ? verdict(count - 1, 'it is not the line that the next one was written after: it was changed')
      : verdict(count, 'its prev is not the hash of the line before it');

  const begin = (text: unknown): string | undefined => {
    const key = parseKey(text);
    if (key === undefined) return 'it names no key whose signatures would count';
    const other = owner !== undefined && keyText({ name: key.name, publicKey: owner }) !== text;
    if (other || (expected !== undefined && expected !== text)) return 'it names another key: it was changed';
    readNote = noteReader(key);
    const ours = [
      ...(anchor === undefined ? [] : [anchor]),
      ...against.filter((note) => note.startsWith(`${key.name}\n`)),
    ];
    if (ours.length === 0 && against.length > 0)
      return 'none of the checkpoints to verify against is of this ledger: another one stands here';
    for (const note of ours) {
      const kept = readNote(note);
      if (kept === undefined)
        return 'the anchor is not of this ledger: another one stands here, or the anchor was changed';
      anchored.set(kept.size, [...(anchored.get(kept.size) ?? []), kept]);
      furthest = Math.max(furthest, kept.size);
    }
    return undefined;
  };

  const checkpoint = (note: unknown): string | undefined => {
    const said = readNote?.(note);
    if (said === undefined) return "its checkpoint is not signed by the ledger's key";
    if (said.size !== count || said.root !== rootText(tree))
      return 'its checkpoint is of other lines: some line before it was written anew';
    checkpoints += 1;
    checked = count + 1;
    last = { note: note as string, size: count };
    return undefined;
  };

  /** What is wrong with a line whose place in the chain is right. */
  const doubt = ({ kind, said }: Good, args: StoredArgs | undefined): string | undefined => {
    if (args !== undefined && commitment(args) !== said['args'])
      return 'the arguments kept beside it are not those that it commits to';
    if (kind === 'genesis') return begin(said['key']);
    if (kind === 'checkpoint') return checkpoint(said['note']);
    if (count - checked >= CHECKPOINT_LINES) return 'a checkpoint is missing before it';
    return undefined;
  };

  const unlikeAnchor = (): LedgerVerdict | undefined =>
    anchored.get(count)?.some(({ root }) => root !== rootText(tree))
      ? verdict(count, 'up to here it is not the ledger that the anchor is of: some line was written anew')
      : undefined;

  /** From line 1 to the first that is left. */
  const skip = (to: FoundCut, next: Uint8Array): LedgerVerdict | undefined => {
    if (to.first !== hash) return verdict(1, 'it is not the first line that the cut names: it was changed');
    count = to.to;
    tree = to.tree.copy();
    checked = count;
    const line = read(next, count + 1);
    if (line.why === undefined && line.kind !== 'checkpoint')
      return verdict(count + 1, 'lines before it were dropped, and it is no checkpoint');
    // It is in the tree with its `prev`.
    hash = line.prev ?? '';
    return unlikeAnchor();
  };

  return {
    take(bytes, args) {
      const bad = cut !== undefined && count === 1 && !broken ? skip(cut, bytes) : undefined;
      if (bad !== undefined) return bad;
      const line = read(bytes, count + 1);
      if (broken) return blame(line.why === undefined && line.prev === hash);
      if (line.why !== undefined) return verdict(count + 1, line.why);
      broken = line.prev !== hash;
      const why = broken ? undefined : doubt(line, args);
      if (why !== undefined) return verdict(count + 1, why);
      hash = sha256(bytes);
      tree.add(bytes);
      count += 1;
      if (count === cut?.line && hash !== cut.hash) return verdict(count, 'it was changed while it was read');
      return unlikeAnchor();
    },
    end(head, doubt) {
      if (broken) return blame(head?.hash === hash);
      if (head === undefined && count === 0)
        return verdict(1, 'there is no line: a ledger begins with its genesis line');
      if (cut !== undefined && !isSigned())
        return verdict(2, `it is missing: no line that is signed says that lines 2 to ${cut.to} were dropped`);
      if (head !== undefined && head.seq > count)
        return verdict(count + 1, `it is missing: the ledger has ${head.seq} lines`);
      if (head !== undefined && head.seq < count) return verdict(head.seq + 1, 'it was put in after the last line');
      if (head !== undefined && head.hash !== hash)
        return verdict(count, 'it is not the line that was committed last: it was changed');
      if (doubt !== undefined) return verdict(doubt.line, doubt.why);
      if (furthest > count)
        return verdict(
          count + 1,
          `it is missing: the anchor is of ${anchored.size === 0 ? 'more' : furthest} lines. This is an earlier state`,
        );
      return { ok: true, lines: count, ...known() };
    },
  };
}

interface Good {
  readonly why?: never;
  readonly prev: string;
  readonly kind: unknown;
  readonly said: { readonly [field: string]: unknown };
}
type Reading = { readonly why: string; readonly prev?: never } | Good;

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
  return { prev, kind: k, said };
}
