/**
 * The running turn: one delivered message and every near call below it, as one transaction.
 *
 * State changes are made in place and journalled, so reading costs nothing. If the turn throws, they are
 * undone from the journal. Sends and resolutions are held back as effects until the turn commits.
 *
 * Promise: `rollback(mark)` removes every change to state, tables, actors and sends made since `mark()`, and
 * refunds their charges.
 */
import { behind } from '../core/barrier.ts';
import type { Chain, Group } from '../core/causes.ts';
import { nestedTooDeep, stackIsFull } from '../core/error-values.ts';
import { CapError } from '../core/errors.ts';
import type { EncodedArgs, LedgerEntry } from '../core/ledger-entry.ts';
import type { Message, Target } from '../core/message.ts';
import type { Account } from '../core/meter.ts';
import { quieten } from '../core/native-promise.ts';
import { vatPromiseOf } from '../core/promise.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import { encodeArgs, SALT } from '../ledger/arguments.ts';
import type { Clock } from '../time/clock.ts';
import type { VatTime } from '../time/time.ts';

/** A change made in place that can be undone. */
export interface Undo {
  undo(): void;
  /** For a dry run: the label of the actor or table that changed, if it is one. */
  readonly changed: string | undefined;
  /** In a durable vat: adds the new state to the turn's cells. */
  keep?(objectStore: ObjectStore, cells: Map<string, string | undefined>): void;
}

/** An effect that waits for the commit. */
export interface Effect {
  /** Called when the turn is committed. */
  release(): void;
  /** Called when the turn, or the part of it that made this effect, is rolled back. */
  drop(error: unknown): void;
  /** For a dry run: the label of the receiver. */
  readonly sent: string | undefined;
  /** In a durable vat: stores what must happen even if the process ends. */
  keep?(objectStore: ObjectStore, cells: Map<string, string | undefined>): void;
}

/** The vat that a turn runs in. */
export interface Home {
  readonly name: string;
  readonly account: Account;
  /** Set when the vat is halted. Every new message breaks with this error. */
  readonly halted: CapError | undefined;
  /** Set when the vat stopped with its process. Stored messages are left for the next process. */
  readonly interrupted: boolean;
  nextId(): number;
  /** The clocks for `vatTime` and `wallTime`. */
  readonly clock: Clock;
  readonly time: VatTime;
  /** The store's history, for `storeEra` and `suspended`. */
  era(): { readonly now: number; readonly trusted: number };
  /** The chain of a turn that the host program starts. It has no causes. */
  readonly chain: Chain;
  /** The object store of this vat; undefined for a vat in memory. */
  readonly objectStore: ObjectStore | undefined;
  /** The alarms of this vat. */
  readonly wakes: Wakes;
  /** A text that no vat of the store has been given, in this process or before. */
  freshName(): string;
}

/** Messages to be sent at a vat time. */
export interface Wakes {
  set(at: number, key: string, message: Message): void;
  cancel(key: string): void;
}

interface Mark {
  readonly undos: number;
  readonly effects: number;
}

let epochs = 0;
let frames = 0;

export class Turn {
  readonly seq: number;
  readonly home: Home;
  readonly account: Account;
  /** The grants that the turn runs under. A forwarder extends it while it sends. */
  chain: Chain;
  readonly undos: Undo[] = [];
  readonly effects: Effect[] = [];
  /** Lines for the ledger. They are kept even if the turn fails. */
  readonly lines: LedgerEntry[] = [];
  /** Cells to store besides those of actors, tables and messages. */
  cells: Map<string, string | undefined> | undefined;
  /** An actor that was journalled in this epoch is not journalled again. */
  epoch: number = ++epochs;
  /** The running call. A become token counts only for the call that made it. */
  frame = 0;
  /** The call that made a become token last. It must return one. */
  token = -1;
  /** The call made by the message itself. Calls below it are near calls. */
  messageFrame = -1;
  actor: Target | undefined;
  /**
   * Set when a savepoint could not be restored because the stack was full. The whole turn is then rolled
   * back.
   */
  doomed: { readonly error: unknown } | undefined;
  /** The tick of the clock when the first ledger line of this turn was written. */
  #tick: number | undefined;
  /** The error to break the answer with, although the turn commits. */
  breaks: { readonly error: unknown } | undefined;

  constructor(seq: number, home: Home, account: Account, chain: Chain) {
    this.seq = seq;
    this.home = home;
    this.account = account;
    this.chain = chain;
  }

  /** All cells that the commit of this turn must write. */
  kept(objectStore: ObjectStore): Map<string, string | undefined> {
    const cells = this.cells ?? new Map<string, string | undefined>();
    for (const undo of this.undos) undo.keep?.(objectStore, cells);
    for (const effect of this.effects) effect.keep?.(objectStore, cells);
    return cells;
  }

  /** Returns the tick for the budgets of ledger lines. The clock is read once in a turn. */
  tick(): number {
    this.#tick ??= this.home.clock.tick();
    return this.#tick;
  }

  static nextFrame(): number {
    frames += 1;
    return frames;
  }

  mark(): Mark {
    this.epoch = ++epochs;
    return { undos: this.undos.length, effects: this.effects.length };
  }

  rollback(mark: Mark, error: unknown): void {
    // The errors that a rollback delivers may reveal what this turn saw, so they wait like other effects.
    behind(this.home.objectStore?.newestOrCheck(), () => this.#rollback(mark, error));
  }

  #rollback(mark: Mark, error: unknown): void {
    this.epoch = ++epochs;
    const { undos, effects } = this;
    // An entry is removed only after it is undone. If the stack is full, an outer handler continues from
    // here.
    while (undos.length > mark.undos) {
      (undos[undos.length - 1] as Undo).undo();
      undos.length -= 1;
    }
    while (effects.length > mark.effects) {
      (effects[effects.length - 1] as Effect).drop(error);
      effects.length -= 1;
    }
  }
}

/** The running turn; undefined outside. There is at most one in a process, because turns are synchronous. */
export let current: Turn | undefined;

export function enter(turn: Turn): void {
  if (current !== undefined) throw new Error('a turn was started inside a turn');
  current = turn;
}

export function leave(): void {
  current = undefined;
}

/** Returns the running turn. Throws outside a turn. */
export function turnFor(what: string): Turn {
  if (current === undefined) throw new CapError('not-callable', `${what} works only in a turn: use vat.turn(() => …)`);
  return current;
}

/**
 * Runs `body`. If it throws, undoes its changes and rethrows the error. Savepoints nest. This extends
 * Goblins, which keeps the changes made before a caught error.
 */
export function attempt<R>(body: () => R): R {
  const turn = turnFor('attempt');
  const mark = turn.mark();
  const { token } = turn;
  try {
    const value = body();
    if (value instanceof Promise && vatPromiseOf(value) === undefined) {
      quieten(value);
      throw new CapError(
        'async-behaviour',
        'attempt takes a synchronous function: code after an await runs outside the turn',
      );
    }
    turn.epoch = ++epochs;
    return value;
  } catch (error) {
    try {
      turn.rollback(mark, error);
      turn.token = token;
    } catch (unfinished) {
      turn.doomed ??= { error: unfinished };
      throw unfinished;
    }
    throw stackIsFull(error) ? nestedTooDeep() : error;
  }
}

/**
 * Runs `body` as a turn of `home` within the running turn, and undoes all that it changed, also if it returns. Its
 * ledger lines are dropped. Rethrows its error.
 */
export function undone(home: Home, body: () => void): void {
  const outer = turnFor('undone');
  const turn = new Turn(outer.seq, home, outer.account, outer.chain);
  current = turn;
  try {
    body();
  } finally {
    try {
      turn.rollback({ undos: 0, effects: 0 }, new CapError('error', 'this was a dry run'));
    } catch (unfinished) {
      // The stack is full. The outer turn is rolled back, and this with it.
      outer.undos.push(...turn.undos);
      outer.effects.push(...turn.effects);
      outer.doomed ??= { error: unfinished };
    }
    current = outer;
  }
}

/**
 * Kinds of lines that begin something and are refused over budget. Other lines record what was done or ended,
 * and are always written. A caller may cancel as often as it likes, and each time is a row that stays.
 */
const begins: ReadonlySet<string> = new Set(['call', 'grant', 'request', 'session', 'cancel']);

// Most calls of read-only tools have no arguments, and encoding costs more than the rest of a line.
// The mark lets a bundler leave it out of a peer, which has no ledger.
const noArguments: EncodedArgs = /* @__PURE__ */ encodeArgs([]);

/**
 * Writes a line to the ledger of this store. It is kept even if the turn fails, then with the code of the
 * error. It is durable before anything that the turn sends leaves.
 *
 * `kind` is one of the ledger's, `fields` is plain data without secrets. `args`, the arguments of a call, are
 * stored beside the line, which holds only their hash. Throws `limit` if the turn's meter has used up its
 * lines of this hour and the line records a call, a grant, a request or a session. The turn must not do that
 * thing then.
 */
export function ledgerLine(kind: string, fields: Readonly<Record<string, unknown>>, args?: readonly unknown[]): void {
  const turn = turnFor('ledgerLine');
  const { account } = turn;
  const encoded = args === undefined ? undefined : args.length === 0 ? noArguments : encodeArgs(args, account.limits().argumentBytes); // biome-ignore format: one line
  const weight = 1 + ((encoded?.bytes.length ?? 0) >>> 10);
  const bytes = lineSize(fields) + (encoded === undefined ? 0 : SALT + encoded.bytes.length);
  const within = account.writeLine({ weight, bytes }, turn.tick());
  if (within || !(kind === 'refuse' || begins.has(kind))) {
    turn.lines.push({ kind, fields, args: encoded });
    return;
  }
  // The same text each time, so that the ledger can merge these into one row with a count.
  turn.lines.push({ kind: 'refuse', fields: { meter: account.name, code: 'limit' } });
  if (kind !== 'refuse')
    throw new CapError(
      'limit',
      `the meter "${account.name}" has used up its ledger lines of this hour (${account.limits().lines} of them, ${account.limits().lineBytes} bytes): wait, or ask for a larger budget`,
    );
}

/**
 * About the disk space of a line without its arguments. Exact enough for a budget, and much cheaper than
 * making the line.
 */
function lineSize(fields: Readonly<Record<string, unknown>>): number {
  let size = 250;
  // Not `Object.entries`: it takes longer than the rest of a line, because it makes a list for each field.
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    size += name.length + 4;
    if (typeof value === 'string') size += Math.min(value.length, 4096);
    else size += typeof value === 'object' ? 512 : 16;
  }
  return size;
}

/**
 * Messages sent in `body` carry `id` in their chain of causes. Cutting `id` aborts the driver calls that they
 * lead to. Cutting one of `groups` does the same. A forwarder sends from within `body`.
 */
export function under<R>(id: string, body: () => R, groups: readonly Group[] = []): R {
  const turn = turnFor('under');
  const before = turn.chain;
  let chain = before;
  for (const group of groups) if (!chain.ids.includes(group)) chain = chain.with(group);
  turn.chain = chain.with(id);
  try {
    return body();
  } finally {
    turn.chain = before;
  }
}

/** The causes of the running turn, groups included, outermost first. Empty if the host program sent its message. */
export const currentCauses = (): readonly string[] => turnFor('currentCauses').chain.ids;

/**
 * Makes the running turn fail with this error, even if a behaviour catches it. Does nothing outside a turn.
 */
export function doom(error: unknown): void {
  if (current !== undefined) current.doomed ??= { error };
}

/** Whether a turn is running, so that references of its vat are near. */
export const inTurn = (): boolean => current !== undefined;

/** Whether the message that started this turn called the running behaviour, and not a near call. */
export function byMessage(): boolean {
  const turn = turnFor('byMessage');
  return turn.frame === turn.messageFrame;
}

/**
 * ms that never go back: the time that decides deadlines. In a vat with a store it counts suspends, restarts
 * and reboots. Compare it only with other values of vat time.
 */
export const vatTime = (): number => turnFor('vatTime').home.time.now();

/** ms since 1970. May shorten a deadline, never lengthen one. */
export const wallTime = (): number => turnFor('wallTime').home.clock.wall();

/**
 * Whether a deadline has passed: vat time has reached `vat`, or the wall clock has reached `wall`. Each clock is read
 * once. A deadline that is NaN counts as passed.
 */
export function hasPassed({ vat, wall }: { readonly vat: number; readonly wall: number }): boolean {
  const { clock, time } = turnFor('hasPassed').home;
  const shown = clock.wall();
  return !(time.now(shown) < vat && shown < wall);
}

/** Changes when the machine boots. State that must not outlive a boot stores this id. */
export const bootId = (): string => turnFor('bootId').home.clock.bootId;

/** A name for people and the ledger, unique over the life of a store. It grants nothing. */
export function freshName(prefix: string): string {
  return `${prefix}${turnFor('freshName').home.freshName()}`;
}

/**
 * The number of times that the store was found put back to an earlier state. Identifies its current history.
 */
export const storeEra = (): number => turnFor('storeEra').home.era().now;

/**
 * Whether a grant made in `era` must wait: the store was put back since then, and no person has reviewed it
 * yet (`vats.trust`). Uses and revocations may be missing from the store.
 */
export function suspended(era: number): boolean {
  const { now, trusted } = turnFor('suspended').home.era();
  return era < now && trusted < now;
}
