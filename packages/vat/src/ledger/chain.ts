/**
 * The ledger: appends lines to the chain, in the commit of the turn that they record. `line.ts` hashes each of them.
 *
 * Promise: each line holds the hash of the line before it, back to a genesis line. So `verifyLedger` names
 * any line that was changed, left out, put in or moved. A checkpoint signed with the host's key follows after
 * every 1,000 lines, at most a minute after a line, and at the close. A person who can write the store but
 * does not have the key cannot forge the lines before the last checkpoint. The position of the chain is
 * stored with the head of the store, so a failed commit leaves nothing to undo.
 */
import { CapError } from '../core/errors.ts';
import type { StoreEngine } from '../store/engine.ts';
import { endsAuthority } from '../store/engine.ts';
import type { LedgerLine } from '../store/records.ts';
import type { Clock } from '../time/clock.ts';
import { SALT } from './arguments.ts';
import { type Blank, blankedEntry } from './blanked.ts';
import { type Cut, cutFields } from './dropped.ts';
import type { KnownLedgerEntry, LineKind } from './kinds.ts';
import { checkLine, commitment, type Fields, makeLine } from './line.ts';
import { type Key, keyText, nameOf, parseKey, signNote } from './note.ts';
import { type ChainPosition, fieldsOf, markOf, positionOf } from './position.ts';
import { Runs } from './runs.ts';
import { Tree } from './tree.ts';

export interface Ledger {
  /**
   * Returns the next lines, for a commit of the caller: `engine.commit(engine.epoch, { lines })`. The commit
   * must come before anything else is prepared.
   */
  prepare(entries: readonly KnownLedgerEntry[]): readonly LedgerLine[];
  /**
   * Prepares and commits. Durable on return. Returns the number of the first entry's line, or of the last
   * line if that entry was only counted.
   */
  write(entries: readonly KnownLedgerEntry[]): number;
  /**
   * Deletes the arguments of line `seq` from every file of the store and records it in a line. The chain
   * still holds. `fields` are further fields of that line: by whom, and why. Returns false, without a line,
   * if there are no arguments.
   */
  redact(seq: number, fields?: Fields): boolean;
  /**
   * Drops the lines after the first up to a checkpoint, and records it in a line with a checkpoint after it.
   * Calls `done` when this is durable, with an error if it failed.
   */
  drop(cut: Cut, by: string, done: (error: unknown) => void): void;
  /** Records who lets the grants of a store that was put back go on, before they do. */
  trust(by: string): void;
  /**
   * Called after a failed commit, when the store was read again. Goes on from its state and records it in a
   * line.
   */
  resume(): void;
  /**
   * Writes the counts of refusals and a last checkpoint, and stops all timers. Does not throw: a failed store
   * takes no more lines.
   */
  close(): void;
}

interface LedgerPowers {
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** The vat time that lines record. */
  readonly vatTime?: () => number;
  /**
   * Called with the last durable checkpoint: at the opening, each hour, and at the close. Never twice in a
   * row with the same one.
   */
  readonly onCheckpoint?: ((checkpoint: string) => void) | undefined;
  /** Removes the values of secrets from a text. */
  readonly blank?: Blank | undefined;
}

/**
 * Maximum lines between two checkpoints. `verifyLedger` requires this. Otherwise somebody without the key
 * could leave all checkpoints out.
 */
export const CHECKPOINT_LINES = 1000;
const CHECKPOINT_MS = 60_000;
/** A checkpoint is passed on at most this long after a line that it covers. */
const SEND_MS = 3_600_000;

/** Lines that may use the reserve on a full disk. None of them lets anybody do anything. */
const ENDS: ReadonlySet<LineKind> = new Set(['revoke', 'expire', 'host-stop']);

type AnyEntry = Omit<KnownLedgerEntry, 'kind'> & {
  readonly kind: LineKind;
  readonly forgets?: number;
  readonly drops?: number;
};

const ledgers = new WeakMap<StoreEngine, Ledger>();

/** The ledger that writes to this store now, if there is one. */
export const ledgerOf = (engine: StoreEngine): Ledger | undefined => ledgers.get(engine);

const dropping = new WeakMap<StoreEngine, number>();

/** Count of drops of lines. A reader of pages begins again if it has changed in between. */
export const drops = (engine: StoreEngine): number => dropping.get(engine) ?? 0;

/**
 * Starts the ledger of an empty store with its genesis line. In an older store, records that it was opened
 * again.
 */
export const makeLedger = (engine: StoreEngine, powers: LedgerPowers): Ledger => new Chain(engine, powers);

class Chain implements Ledger {
  readonly #engine: StoreEngine;
  readonly #powers: LedgerPowers;
  readonly #key: Key;
  readonly #runs = new Runs();
  #known: ChainPosition = { mark: undefined, tree: Tree.empty(), checked: 0 };
  /** Random bytes that no line has yet. */
  #salts: Uint8Array = new Uint8Array();
  #closed = false;
  /** The checkpoint that was passed on last. */
  #sent = '';
  readonly #stopListening: readonly (() => void)[];
  #stopChecking: (() => void) | undefined;
  #stopCounting: (() => void) | undefined;
  #stopSending: (() => void) | undefined;

  constructor(engine: StoreEngine, powers: LedgerPowers) {
    this.#engine = engine;
    this.#powers = powers;
    const begun = engine.head().seq > 0;
    const stream = begun ? '' : hex(powers.random(16));
    this.#key = begun ? keyOf(engine) : { name: nameOf(stream), publicKey: engine.signer.publicKey };
    const { doubt } = engine;
    if (doubt?.refused === true)
      throw new CapError(
        'invalid',
        `the ledger of this store is not as it was written, at line ${doubt.line}: ${doubt.why}. Restore the store from a backup, or give another --state folder`,
      );
    const genesis = { stream, boot: powers.clock.bootId, key: keyText(this.#key) };
    const { now: era, missing, why } = engine.era;
    this.#commit([
      begun ? this.#restart() : { kind: 'genesis', fields: genesis },
      ...(missing === undefined ? [] : [{ kind: 'restored', fields: { era, missing, why } } as const]),
    ]);
    ledgers.set(engine, this);
    this.#stopListening = [engine.onCommit(() => this.#arm()), engine.onClosing(() => this.close())];
    this.#arm();
    if (powers.onCheckpoint === undefined) return;
    this.#quietly(() => this.#send());
    this.#sendEachHour();
  }

  prepare(entries: readonly KnownLedgerEntry[]): readonly LedgerLine[] {
    return this.#take(entries).lines;
  }

  write(entries: readonly KnownLedgerEntry[]): number {
    const { lines, at } = this.#take(entries);
    this.#engine.commit(this.#engine.epoch, { lines });
    // A commit with lines calls `arm` through its listener.
    if (lines.length === 0) this.#arm();
    return at;
  }

  redact(seq: number, fields: Fields = {}): boolean {
    const kept = this.#engine.args(seq, seq).length > 0;
    if (kept) {
      const forgets = { forgets: seq };
      this.#commit([{ kind: 'redact', fields: { ...fields, line: seq }, ...forgets }]);
    }
    // Also without arguments: an earlier redaction may have been interrupted before this step.
    this.#engine.scrub();
    return kept;
  }

  drop(cut: Cut, by: string, done: (error: unknown) => void): void {
    const engine = this.#engine;
    dropping.set(engine, drops(engine) + 1);
    const entry = { kind: 'cut', fields: cutFields(cut, by), drops: cut.to } as const;
    engine.commitLater(engine.epoch, { lines: this.#chain([entry], { checkpointLast: true }).lines }, done);
  }

  trust(by: string): void {
    this.#commit([{ kind: 'trust', fields: { era: this.#engine.era.now, by } }]);
    this.#engine.trust();
  }

  resume(): void {
    this.#quietly(() => this.#later([this.#restart()]));
    this.#quietly(() => this.#arm());
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopTimers();
    for (const stop of this.#stopListening) stop();
    if (ledgers.get(this.#engine) === this) ledgers.delete(this.#engine);
    this.#quietly(() => this.#commit(this.#runs.close(), { checkpointLast: true }));
    if (this.#powers.onCheckpoint !== undefined) this.#quietly(() => this.#send());
  }

  #restart(): AnyEntry {
    return { kind: 'restart', fields: { boot: this.#powers.clock.bootId, epoch: this.#engine.epoch } };
  }

  // ---- lines ----------------------------------------------------------------------------------------------

  #take(entries: readonly KnownLedgerEntry[]): Prepared {
    const { clock, blank } = this.#powers;
    for (const { kind } of entries) checkOurs(kind);
    const ours = blank === undefined ? entries : entries.map((entry) => blankedEntry(entry, blank));
    return this.#chain(this.#runs.take(ours, clock.tick(), clock.wall()), { numberOf: ours[0] });
  }

  #commit(entries: readonly AnyEntry[], options: ChainOptions = {}): void {
    this.#engine.commit(this.#engine.epoch, { lines: this.#chain(entries, options).lines });
  }

  /** Commits lines that nobody waits for. */
  #later(entries: readonly AnyEntry[], options: ChainOptions = {}): void {
    this.#engine.commitLater(this.#engine.epoch, { lines: this.#chain(entries, options).lines }, (error) => {
      if (error !== undefined) this.#stopTimers();
    });
  }

  #position(): ChainPosition {
    const head = this.#engine.head();
    if (head.mark !== this.#known.mark || head.mark === undefined) this.#known = positionOf(this.#engine, head);
    return this.#known;
  }

  /** Salts are drawn many at once: 32 random bytes cost 10 us, and 2,048 cost 16. */
  #salt(): Uint8Array {
    if (this.#salts.length === 0) this.#salts = this.#powers.random(64 * SALT);
    const salt = this.#salts.slice(0, SALT);
    this.#salts = this.#salts.subarray(SALT);
    return salt;
  }

  /** Makes the lines of `entries`, with the checkpoints that are due among them. */
  #chain(entries: readonly AnyEntry[], { numberOf, checkpointLast = false }: ChainOptions): Prepared {
    const { clock, vatTime = () => clock.boottime() } = this.#powers;
    const lines: LedgerLine[] = [];
    let { seq, hash } = this.#engine.head();
    let at = seq;
    if (entries.length === 0 && !checkpointLast) return { lines, at };
    const before = this.#position();
    const tree = before.tree.copy();
    let { checked } = before;
    const [t, vt] = [clock.wall(), vatTime()];
    const add = ({ kind, fields, args, forgets, drops }: AnyEntry): void => {
      const stored = args === undefined ? undefined : { salt: this.#salt(), bytes: args.bytes };
      const committed =
        stored === undefined
          ? fields
          : { ...fields, argc: args?.argc, args: commitment(stored), argsCut: args?.cut || undefined };
      const line = makeLine({ seq: seq + 1, t, vt, kind, fields: committed, prev: hash });
      ({ seq, hash } = line);
      tree.add(line.bytes);
      lines.push({ ...line, args: stored, forgets, drops, urgency: urgencyOf(kind, fields) });
    };
    const checkpoint = (): void => {
      add({ kind: 'checkpoint', fields: { note: signNote(this.#engine.signer, this.#key.name, tree) } });
      checked = seq;
    };
    for (const entry of entries) {
      add(entry);
      if (entry === numberOf) at = seq;
      if (seq - checked >= CHECKPOINT_LINES) checkpoint();
    }
    if (checkpointLast && seq > checked) checkpoint();
    const final = lines.at(-1);
    if (final === undefined) return { lines, at };
    const mark = markOf(checked, tree);
    lines[lines.length - 1] = { ...final, mark };
    this.#known = { mark, tree, checked };
    return { lines, at };
  }

  // ---- timers, for lines after which no other line comes ---

  #arm(): void {
    const { clock } = this.#powers;
    if (this.#closed || this.#engine.failed) return;
    if (this.#stopChecking === undefined && this.#engine.head().seq > this.#position().checked) {
      this.#stopChecking = clock.after(CHECKPOINT_MS, () => {
        this.#stopChecking = undefined;
        this.#quietly(() => this.#later([], { checkpointLast: true }));
      });
    }
    const next = this.#runs.next();
    if (this.#stopCounting === undefined && next !== undefined) {
      this.#stopCounting = clock.after(Math.max(0, next - clock.tick()), () => {
        this.#stopCounting = undefined;
        this.#quietly(() => this.#later(this.#runs.due(clock.tick())));
        this.#quietly(() => this.#arm());
      });
    }
  }

  #sendEachHour(): void {
    this.#stopSending = this.#powers.clock.after(SEND_MS, () => {
      this.#sendEachHour();
      this.#quietly(() => {
        const { lines } = this.#chain([], { checkpointLast: true });
        this.#engine.commitLater(this.#engine.epoch, { lines }, () => this.#quietly(() => this.#send()));
      });
    });
  }

  /**
   * Passes on the last checkpoint. It is read from the disk, because it must be there also after a power cut.
   */
  #send(): void {
    const { checked } = this.#position();
    const [line] = checked === 0 ? [] : this.#engine.lines(checked, 1);
    const note = line?.seq === checked ? fieldsOf(line.bytes)['note'] : undefined;
    if (typeof note !== 'string' || note === this.#sent) return;
    this.#sent = note;
    this.#powers.onCheckpoint?.(note);
  }

  /** A failed store takes no more lines, so its timers stop. */
  #quietly(act: () => void): void {
    try {
      act();
    } catch {
      this.#stopTimers();
    }
  }

  #stopTimers(): void {
    this.#stopChecking?.();
    this.#stopCounting?.();
    this.#stopSending?.();
    this.#stopChecking = undefined;
    this.#stopCounting = undefined;
    this.#stopSending = undefined;
  }
}

interface ChainOptions {
  /** The entry whose line number is wanted. */
  readonly numberOf?: AnyEntry | undefined;
  /** Adds a checkpoint after the last line. */
  readonly checkpointLast?: boolean;
}

interface Prepared {
  readonly lines: readonly LedgerLine[];
  /** The number of the line of `numberOf`; the last line if it has none. */
  readonly at: number;
}

const OURS: ReadonlySet<string> = new Set(['genesis', 'restart', 'restored', 'trust', 'checkpoint', 'cut', 'redact']);

function checkOurs(kind: string): void {
  if (OURS.has(kind)) throw new CapError('invalid', 'only the ledger itself writes lines of this kind');
}

/**
 * Throws if no commit could take this entry. Called in the turn that makes it, before lines of other turns
 * join the commit.
 */
export function checkEntry({ kind, fields }: { readonly kind: string; readonly fields: Fields }): void {
  checkOurs(kind);
  checkLine(kind, fields);
}

/** True if a full disk takes these entries: at least one ends authority, and the others only accompany it. */
export function endsOnly(entries: readonly { readonly kind: string; readonly fields: Fields }[]): boolean {
  return endsAuthority(entries.map(({ kind, fields }) => ({ urgency: urgencyOf(kind as LineKind, fields) })));
}

function urgencyOf(kind: LineKind, fields: Fields): LedgerLine['urgency'] {
  if (ENDS.has(kind)) return 'ends';
  return kind === 'checkpoint' || (kind === 'refuse' && fields['count'] !== undefined) ? 'along' : undefined;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Returns the key of an existing ledger. It must be the key of this store. */
function keyOf(engine: StoreEngine): Key {
  const [first] = engine.lines(1, 1);
  const key = first === undefined ? undefined : parseKey(fieldsOf(first.bytes)['key']);
  if (key === undefined || hex(key.publicKey) !== hex(engine.signer.publicKey))
    throw new CapError(
      'invalid',
      'the ledger in this store was started with another key: restore its ledger.key, or give another --state folder',
    );
  return key;
}
