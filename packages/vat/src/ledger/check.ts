/**
 * Checks the lines of a ledger one after the other, wherever they are read from.
 */
import { sha256 } from '../drivers/hash.ts';
import type { Head, StoredArgs } from '../store/records.ts';
import type { Doubt } from '../store/rows.ts';
import { CHECKPOINT_LINES } from './chain.ts';
import type { FoundCut } from './dropped.ts';
import { CallEnds } from './ends.ts';
import { CRC_TAIL, commitment, crcTail, MAX_LINE_BYTES } from './line.ts';
import { type Checkpoint, keyText, noteReader, parseKey, rootText } from './note.ts';
import { Tree } from './tree.ts';
import type { LedgerVerdict, VerifyOptions } from './verdict.ts';

export class LedgerCheck {
  readonly #options: VerifyOptions;
  readonly #cut: FoundCut | undefined;
  /** The key of the store that holds the ledger. */
  readonly #owner: Uint8Array | undefined;
  #count = 0;
  #hash = '';
  /** The `prev` of the last line is not the hash of the line before it. */
  #broken = false;
  #tree = Tree.empty();
  #readNote: ((note: unknown) => Checkpoint | undefined) | undefined;
  readonly #anchored = new Map<number, Checkpoint[]>();
  /** The largest number of lines that an anchor covers. */
  #furthest: number;
  #checkpoints = 0;
  readonly #ends = new CallEnds();
  #unended = 0;
  /** The line of the last checkpoint. */
  #checked = 0;
  #last: { readonly note: string; readonly size: number } | undefined;

  constructor(options: VerifyOptions, cut: FoundCut | undefined, owner?: Uint8Array) {
    this.#options = options;
    this.#cut = cut;
    this.#owner = owner;
    this.#furthest = options.anchor === undefined ? 0 : 1;
  }

  /** Checks the next line and the arguments stored beside it. Returns a verdict if a line is bad. */
  take(bytes: Uint8Array, args?: StoredArgs): LedgerVerdict | undefined {
    const cut = this.#cut;
    const bad = cut !== undefined && this.#count === 1 && !this.#broken ? this.#skip(cut, bytes) : undefined;
    if (bad !== undefined) return bad;
    const line = read(bytes, this.#count + 1);
    if (this.#broken) return this.#blame(line.why === undefined && line.prev === this.#hash);
    if (line.why !== undefined) return this.#verdict(this.#count + 1, line.why);
    this.#broken = line.prev !== this.#hash;
    const why = this.#broken ? undefined : this.#doubt(line, args);
    if (why !== undefined) return this.#verdict(this.#count + 1, why);
    this.#hash = sha256(bytes);
    this.#tree.add(bytes);
    this.#count += 1;
    this.#unended += this.#ends.take(line.fields).length;
    if (this.#count === cut?.line && this.#hash !== cut.hash)
      return this.#verdict(this.#count, 'it was changed while it was read');
    return this.#unlikeAnchor();
  }

  /** Called after the last line. `head` and `doubt` are those of the store; a file has neither. */
  end(head?: Head, doubt?: Doubt): LedgerVerdict {
    const count = this.#count;
    const cut = this.#cut;
    if (this.#broken) return this.#blame(head?.hash === this.#hash);
    if (head === undefined && count === 0)
      return this.#verdict(1, 'there is no line: a ledger begins with its genesis line');
    if (cut !== undefined && !this.#isSigned())
      return this.#verdict(2, `it is missing: no line that is signed says that lines 2 to ${cut.to} were dropped`);
    if (head !== undefined && head.seq > count)
      return this.#verdict(count + 1, `it is missing: the ledger has ${head.seq} lines`);
    if (head !== undefined && head.seq < count) return this.#verdict(head.seq + 1, 'it was put in after the last line');
    if (head !== undefined && head.hash !== this.#hash)
      return this.#verdict(count, 'it is not the line that was committed last: it was changed');
    if (doubt !== undefined) return this.#verdict(doubt.line, doubt.why);
    if (this.#furthest > count) {
      const lines = this.#anchored.size === 0 ? 'more' : this.#furthest;
      return this.#verdict(count + 1, `it is missing: the anchor is of ${lines} lines. This is an earlier state`);
    }
    return { ok: true, lines: count, ...this.#known() };
  }

  // ---- one line -------------------------------------------------------------------------------------------

  /** Checks a line whose place in the chain is right. Returns why it is bad. */
  #doubt({ kind, fields }: Good, args: StoredArgs | undefined): string | undefined {
    if (args !== undefined && commitment(args) !== fields['args'])
      return 'the arguments kept beside it are not those that it commits to';
    if (kind === 'genesis') return this.#begin(fields['key']);
    if (kind === 'checkpoint') return this.#checkpoint(fields['note']);
    if (this.#count - this.#checked >= CHECKPOINT_LINES) return 'a checkpoint is missing before it';
    return undefined;
  }

  #begin(text: unknown): string | undefined {
    const { anchor, against = [], key: expected } = this.#options;
    const key = parseKey(text);
    if (key === undefined) return 'it names no key whose signatures would count';
    const other = this.#owner !== undefined && keyText({ name: key.name, publicKey: this.#owner }) !== text;
    if (other || (expected !== undefined && expected !== text)) return 'it names another key: it was changed';
    this.#readNote = noteReader(key);
    const ours = [
      ...(anchor === undefined ? [] : [anchor]),
      ...against.filter((note) => note.startsWith(`${key.name}\n`)),
    ];
    if (ours.length === 0 && against.length > 0)
      return 'none of the checkpoints to verify against is of this ledger: another one stands here';
    for (const note of ours) {
      const kept = this.#readNote(note);
      if (kept === undefined)
        return 'the anchor is not of this ledger: another one stands here, or the anchor was changed';
      this.#anchored.set(kept.size, [...(this.#anchored.get(kept.size) ?? []), kept]);
      this.#furthest = Math.max(this.#furthest, kept.size);
    }
    return undefined;
  }

  #checkpoint(note: unknown): string | undefined {
    const checkpoint = this.#readNote?.(note);
    if (checkpoint === undefined) return "its checkpoint is not signed by the ledger's key";
    if (checkpoint.size !== this.#count || checkpoint.root !== rootText(this.#tree))
      return 'its checkpoint is of other lines: some line before it was written anew';
    this.#checkpoints += 1;
    this.#checked = this.#count + 1;
    this.#last = { note: note as string, size: this.#count };
    return undefined;
  }

  /** Goes from line 1 to the first line after the cut. */
  #skip(cut: FoundCut, next: Uint8Array): LedgerVerdict | undefined {
    if (cut.first !== this.#hash)
      return this.#verdict(1, 'it is not the first line that the cut names: it was changed');
    this.#count = cut.to;
    this.#tree = cut.tree.copy();
    this.#checked = this.#count;
    const line = read(next, this.#count + 1);
    if (line.why === undefined && line.kind !== 'checkpoint')
      return this.#verdict(this.#count + 1, 'lines before it were dropped, and it is no checkpoint');
    // The tree covers this line with its `prev`.
    this.#hash = line.prev ?? '';
    return this.#unlikeAnchor();
  }

  // ---- verdicts -------------------------------------------------------------------------------------------

  #unlikeAnchor(): LedgerVerdict | undefined {
    return this.#anchored.get(this.#count)?.some(({ root }) => root !== rootText(this.#tree))
      ? this.#verdict(this.#count, 'up to here it is not the ledger that the anchor is of: some line was written anew')
      : undefined;
  }

  /**
   * One of two neighbours that do not fit was changed. If the next line, or the head, names the hash of the
   * second, the second is as it was written and the first is bad. Otherwise the second is bad.
   */
  #blame(vouched: boolean): LedgerVerdict {
    return vouched
      ? this.#verdict(this.#count - 1, 'it is not the line that the next one was written after: it was changed')
      : this.#verdict(this.#count, 'its prev is not the hash of the line before it');
  }

  #verdict(badLine: number, why: string): LedgerVerdict {
    return { ok: false, lines: badLine - 1, badLine, why, ...this.#known() };
  }

  #known() {
    const cut = this.#cut;
    return {
      checkpoints: this.#checkpoints,
      signed: this.#last?.size ?? 0,
      ...(this.#unended === 0 ? {} : { unended: this.#unended }),
      ...(cut !== undefined && this.#isSigned()
        ? { dropped: { to: cut.to, by: cut.by, t: cut.t, line: cut.line } }
        : {}),
      ...(this.#last === undefined ? {} : { checkpoint: this.#last.note }),
    };
  }

  #isSigned(): boolean {
    return this.#cut !== undefined && (this.#last?.size ?? 0) >= this.#cut.line;
  }
}

interface Good {
  readonly why?: never;
  readonly prev: string;
  readonly kind: unknown;
  readonly fields: { readonly [field: string]: unknown };
}
type Reading = { readonly why: string; readonly prev?: never } | Good;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads line `n` by itself: returns its fields, or why it is not a valid line. */
function read(bytes: Uint8Array, n: number): Reading {
  if (bytes.length > MAX_LINE_BYTES) return { why: 'it is longer than a line can be' };
  let text: string;
  let fields: { readonly [field: string]: unknown } | null;
  try {
    text = decoder.decode(bytes);
    fields = JSON.parse(text);
  } catch {
    return { why: 'it is not JSON: it was changed, or cut off' };
  }
  if (crcTail(bytes.subarray(0, Math.max(0, bytes.length - CRC_TAIL))) !== text.slice(-CRC_TAIL)) {
    return { why: 'its check sum is wrong: it was changed' };
  }
  if (typeof fields !== 'object' || fields === null) return { why: 'it is not a line of a ledger' };
  const { v, seq, k, prev } = fields;
  if (v !== 1) return { why: 'it is of a version that this Hob does not know' };
  if ((n === 1) !== (k === 'genesis'))
    return { why: n === 1 ? 'a ledger begins with its genesis line' : 'there can be no second genesis line' };
  if (seq !== n) return { why: `it says that it is line ${String(seq)}: a line is missing, put in or moved` };
  if (typeof prev !== 'string') return { why: 'it has no prev' };
  return { prev, kind: k, fields };
}
