/**
 * The ledger: lines that follow the last one, for the commit of the turn they tell of.
 *
 * Promise: each line names the hash of the one before it, from a genesis line on, so no line can be changed, left out, put in or
 * moved without `verifyLedger` naming it. A checkpoint signed by the host's key stands after every 1,000 lines, a minute after
 * a line at the latest, and at the close: who can write the store but has not the key can make no other history before the last one.
 * Where the chain stands is kept with the store's head, so a failed commit leaves nothing to undo.
 */
import { CapError } from '../core/errors.ts';
import type { StoreEngine } from '../store/engine.ts';
import { endsAuthority } from '../store/engine.ts';
import type { Head, Line } from '../store/records.ts';
import type { Clock } from '../time/clock.ts';
import { commitment, SALT } from './arguments.ts';
import { type Cut, cutFields, cutIn } from './dropped.ts';
import type { Entry, LineKind } from './kinds.ts';
import { checkLine, type Fields, makeLine } from './line.ts';
import { type Key, keyText, nameOf, parseKey, signNote } from './note.ts';
import { PAGE } from './pages.ts';
import { Runs } from './runs.ts';
import { Tree } from './tree.ts';

export interface Ledger {
  /** The next lines, for a commit of the caller's own: `engine.commit(engine.epoch, { lines })`, before anything else is prepared. */
  prepare(entries: readonly Entry[]): readonly Line[];
  /** Prepares and commits: durable on return. Answers the number of the first entry's line, or the last line's if it was counted. */
  write(entries: readonly Entry[]): number;
  /**
   * Deletes the arguments of line `seq` from every file of the store and says so in a line; the chain still holds. Answers false,
   * without a line, where there are none. `said` is what the line tells beside: by whom, and why.
   */
  redact(seq: number, said?: Fields): boolean;
  /** Drops the lines after the first up to a checkpoint, and says so in a line with a checkpoint after it. Calls back when it is durable, or why it is not. */
  drop(cut: Cut, by: string, done: (error: unknown) => void): void;
  /** Says who lets the grants of a store that was put back go on, before they do. */
  trust(by: string): void;
  /** A commit failed and the store was read again: goes on from what it holds, and says so in a line. */
  resume(): void;
  /** Writes the counts of refusals and a last checkpoint, and sets no timer any more. Does not throw: a failed store takes no more. */
  close(): void;
}

export interface LedgerPowers {
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** What a line gives as its vat time. */
  readonly vatTime?: () => number;
  /** Is given the last checkpoint that is on the disk: at the opening, each hour, and at the close. Never the same one twice in a row. */
  readonly onCheckpoint?: ((checkpoint: string) => void) | undefined;
}

/** Lines from one checkpoint to the next, at most. `verifyLedger` insists on it: else who has no key would just leave them out. */
export const CHECKPOINT_LINES = 1000;
const CHECKPOINT_MS = 60_000;
/** A checkpoint goes out no later than this after a line that it vouches for. */
const SEND_MS = 3_600_000;

/** They may use the room that is kept on a full disk: none of them lets anybody do anything. */
const ENDS: ReadonlySet<LineKind> = new Set(['revoke', 'expire', 'host-stop']);

type AnyEntry = Omit<Entry, 'kind'> & { readonly kind: LineKind; readonly forgets?: number; readonly drops?: number };

/** Where the chain stands after a line. */
interface Place {
  readonly mark: Uint8Array | undefined;
  /** The tree over all lines; never changed, only copied. */
  readonly tree: Tree;
  /** The number of the last checkpoint's line, 0 before the first. */
  readonly checked: number;
}

const ledgers = new WeakMap<StoreEngine, Ledger>();

/** The ledger that writes to this store now, if one does. */
export const ledgerOf = (engine: StoreEngine): Ledger | undefined => ledgers.get(engine);

const dropping = new WeakMap<StoreEngine, number>();

/** How often lines were dropped: who reads in pages begins again where this has changed in between. */
export const drops = (engine: StoreEngine): number => dropping.get(engine) ?? 0;

/** Begins the ledger of an empty store with its genesis line, or marks in that of an older one that it was opened again. */
export function makeLedger(
  engine: StoreEngine,
  { clock, random, vatTime = () => clock.boottime(), onCheckpoint }: LedgerPowers,
): Ledger {
  const { signer } = engine;
  const runs = new Runs();
  let closed = false;
  let known: Place = { mark: undefined, tree: Tree.empty(), checked: 0 };
  const begun = engine.head().seq > 0;
  const stream = begun ? '' : hex(random(16));
  const key: Key = begun ? keyOf(engine) : { name: nameOf(stream), publicKey: signer.publicKey };

  const { doubt } = engine;
  if (doubt?.refused === true)
    throw new CapError(
      'invalid',
      `the ledger of this store is not as it was written, at line ${doubt.line}: ${doubt.why}. Put the store back from a backup, or give another --state folder`,
    );

  const place = (): Place => {
    const head = engine.head();
    if (head.mark !== known.mark || head.mark === undefined) known = placeOf(engine, head);
    return known;
  };

  /** Lines for `entries` with the checkpoints that fall due among them; `of` is the number of that entry's line. */
  const chain = (entries: readonly AnyEntry[], of?: AnyEntry, last = false): { lines: readonly Line[]; at: number } => {
    const lines: Line[] = [];
    let { seq, hash } = engine.head();
    let at = seq;
    if (entries.length === 0 && !last) return { lines, at };
    const before = place();
    const tree = before.tree.copy();
    let { checked } = before;
    const [t, vt] = [clock.wall(), vatTime()];
    const add = ({ kind, fields, args, forgets, drops }: AnyEntry): void => {
      const side = args === undefined ? undefined : { salt: random(SALT), bytes: args.bytes };
      const line = makeLine({
        seq: seq + 1,
        t,
        vt,
        kind,
        fields:
          side === undefined
            ? fields
            : { ...fields, argc: args?.argc, args: commitment(side), argsCut: args?.cut || undefined },
        prev: hash,
      });
      ({ seq, hash } = line);
      tree.add(line.bytes);
      lines.push({ ...line, args: side, forgets, drops, urgency: urgencyOf(kind, fields) });
    };
    const checkpoint = (): void => {
      add({ kind: 'checkpoint', fields: { note: signNote(signer, key.name, tree) } });
      checked = seq;
    };
    for (const entry of entries) {
      add(entry);
      if (entry === of) at = seq;
      if (seq - checked >= CHECKPOINT_LINES) checkpoint();
    }
    if (last && seq > checked) checkpoint();
    const end = lines.length - 1;
    const final = lines[end];
    if (final === undefined) return { lines, at };
    const mark = markOf(checked, tree);
    lines[end] = { ...final, mark };
    known = { mark, tree, checked };
    return { lines, at };
  };
  const commit = (lines: readonly Line[]): void => engine.commit(engine.epoch, { lines });

  // ---- timers: for lines that nothing follows ------------------------------------------------------------------------------
  let stopChecking: (() => void) | undefined;
  let stopCounting: (() => void) | undefined;
  let stopSending: (() => void) | undefined;
  let sent = '';
  const stopTimers = (): void => {
    stopChecking?.();
    stopCounting?.();
    stopSending?.();
    stopChecking = undefined;
    stopCounting = undefined;
    stopSending = undefined;
  };
  /** A store that failed takes no more lines: then there is nothing to come back for. */
  const quietly = (act: () => void): void => {
    try {
      act();
    } catch {
      stopTimers();
    }
  };
  /** Not waited for: nobody asked for these. */
  const later = (lines: readonly Line[]): void =>
    engine.commitLater(engine.epoch, { lines }, (error) => {
      if (error !== undefined) stopTimers();
    });
  /** Reads it from the disk: what goes out must be there, also after a power cut. */
  const send = (): void => {
    const { checked } = place();
    const [line] = checked === 0 ? [] : engine.lines(checked, 1);
    const note = line?.seq === checked ? said(line.bytes)['note'] : undefined;
    if (typeof note !== 'string' || note === sent) return;
    sent = note;
    onCheckpoint?.(note);
  };
  const sendEachHour = (): void => {
    stopSending = clock.after(SEND_MS, () => {
      sendEachHour();
      quietly(() => engine.commitLater(engine.epoch, { lines: chain([], undefined, true).lines }, () => quietly(send)));
    });
  };
  const arm = (): void => {
    if (closed || engine.failed) return;
    if (stopChecking === undefined && engine.head().seq > place().checked) {
      stopChecking = clock.after(CHECKPOINT_MS, () => {
        stopChecking = undefined;
        quietly(() => later(chain([], undefined, true).lines));
      });
    }
    const next = runs.next();
    if (stopCounting === undefined && next !== undefined) {
      stopCounting = clock.after(Math.max(0, next - clock.tick()), () => {
        stopCounting = undefined;
        quietly(() => later(chain(runs.due(clock.tick())).lines));
        quietly(arm);
      });
    }
  };

  const take = (entries: readonly Entry[]): { lines: readonly Line[]; at: number } => {
    for (const { kind } of entries) checkOurs(kind);
    return chain(runs.take(entries, clock.tick(), clock.wall()), entries[0]);
  };
  const close = (): void => {
    if (closed) return;
    closed = true;
    stopTimers();
    for (const stop of stops) stop();
    if (ledgers.get(engine) === ledger) ledgers.delete(engine);
    quietly(() => commit(chain(runs.close(), undefined, true).lines));
    if (onCheckpoint !== undefined) quietly(send);
  };
  const ledger: Ledger = Object.freeze({
    prepare: (entries: readonly Entry[]) => take(entries).lines,
    write(entries: readonly Entry[]) {
      const { lines, at } = take(entries);
      commit(lines);
      if (lines.length === 0) arm(); // a commit arms by itself
      return at;
    },
    redact(seq: number, said: Fields = {}) {
      const kept = engine.args(seq, seq).length > 0;
      if (kept) {
        const forgets = { forgets: seq };
        commit(chain([{ kind: 'redact', fields: { ...said, line: seq }, ...forgets }]).lines);
      }
      // Also where there was nothing: an earlier redaction may have been cut off before this.
      engine.scrub();
      return kept;
    },
    drop(cut: Cut, by: string, done: (error: unknown) => void) {
      dropping.set(engine, drops(engine) + 1);
      const { to: last } = cut;
      const { lines } = chain([{ kind: 'cut', fields: cutFields(cut, by), drops: last }], undefined, true);
      engine.commitLater(engine.epoch, { lines }, done);
    },
    trust(by: string) {
      commit(chain([{ kind: 'trust', fields: { era: engine.era.now, by } }]).lines);
      engine.trust();
    },
    resume() {
      quietly(() => later(chain([restart()]).lines));
      quietly(arm);
    },
    close,
  });

  const restart = (): AnyEntry => ({ kind: 'restart', fields: { boot: clock.bootId, epoch: engine.epoch } });
  const { now: era, missing, why } = engine.era;
  commit(
    chain([
      begun ? restart() : { kind: 'genesis', fields: { stream, boot: clock.bootId, key: keyText(key) } },
      ...(missing === undefined ? [] : [{ kind: 'restored', fields: { era, missing, why } } as const]),
    ]).lines,
  );
  ledgers.set(engine, ledger);
  const stops = [engine.onCommit(arm), engine.onClosing(close)];
  arm();
  if (onCheckpoint !== undefined) {
    quietly(send);
    sendEachHour();
  }
  return ledger;
}

const OURS: ReadonlySet<string> = new Set(['genesis', 'restart', 'restored', 'trust', 'checkpoint', 'cut', 'redact']);

function checkOurs(kind: string): void {
  if (OURS.has(kind)) throw new CapError('invalid', 'a line of this kind is written by the ledger itself');
}

/** Throws for what no commit could take: known in the turn that says it, before the lines of others stand beside it. */
export function checkEntry({ kind, fields }: { readonly kind: string; readonly fields: Fields }): void {
  checkOurs(kind);
  checkLine(kind, fields);
}

/** At least one that ends authority, and nothing beside such but what goes along: a full disk takes these. */
export function endsOnly(entries: readonly { readonly kind: string; readonly fields: Fields }[]): boolean {
  return endsAuthority(entries.map(({ kind, fields }) => ({ urgency: urgencyOf(kind as LineKind, fields) })));
}

function urgencyOf(kind: LineKind, fields: Fields): Line['urgency'] {
  if (ENDS.has(kind)) return 'ends';
  return kind === 'checkpoint' || (kind === 'refuse' && fields['count'] !== undefined) ? 'along' : undefined;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The key of a ledger that is there already: it must be the one that this store signs with. */
function keyOf(engine: StoreEngine): Key {
  const [first] = engine.lines(1, 1);
  const key = first === undefined ? undefined : parseKey(said(first.bytes)['key']);
  if (key === undefined || hex(key.publicKey) !== hex(engine.signer.publicKey))
    throw new CapError(
      'invalid',
      'the ledger in this store was begun with another key: put its ledger.key back, or give another --state folder',
    );
  return key;
}

// ---- the mark: the number of the last checkpoint's line, 8 bytes, then the packed tree ------------------------------------------

function markOf(checked: number, tree: Tree): Uint8Array {
  const packed = tree.pack();
  const mark = new Uint8Array(8 + packed.length);
  new DataView(mark.buffer).setFloat64(0, checked);
  mark.set(packed, 8);
  return mark;
}

/** From the mark; where only a part of what was prepared together was committed there is none, and the lines are read again. */
function placeOf(engine: StoreEngine, { seq, mark }: Head): Place {
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
      if (said(bytes)['k'] === 'checkpoint') checked = n;
      from = n + 1;
    }
  }
  return { mark, tree, checked };
}

/** The cut that says why no line stands between the first and line `seq`. */
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

function said(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return {};
  }
}
