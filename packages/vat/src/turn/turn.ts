/**
 * The turn that is running: one delivered message and every near call below it, as one transaction.
 *
 * State changes are made in place and journalled, so reading costs nothing; what throws is undone from the journal.
 * Sends and resolutions are held back as effects until the turn is committed.
 *
 * Promise: after `rollback(mark)` no state, table, actor or send made since `mark()` is left, and what was charged for
 * them is given back.
 */
import { behind } from '../core/barrier.ts';
import type { Chain } from '../core/causes.ts';
import { CapError } from '../core/errors.ts';
import type { EncodedArgs, LedgerEntry } from '../core/ledger-entry.ts';
import type { Message, Target } from '../core/message.ts';
import type { Account } from '../core/meter.ts';
import { quieten, vatPromiseOf } from '../core/promise.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import { encodeArgs, SALT } from '../ledger/arguments.ts';
import type { Clock } from '../time/clock.ts';
import type { VatTime } from '../time/time.ts';

/** Something done in place that can be undone. */
export interface Undo {
  undo(): void;
  /** For a dry run: the label of what was changed, where that is an actor or a table. */
  readonly changed: string | undefined;
  /** In a durable vat: writes what is now, in place of what was, into the turn's cells. */
  keep?(keeper: ObjectStore, cells: Map<string, string | undefined>): void;
}

/** Something that waits for the commit. */
export interface Effect {
  /** The turn is committed. */
  release(): void;
  /** The turn, or the part of it that made this, was undone. */
  drop(error: unknown): void;
  /** For a dry run: whom it was for. */
  readonly sent: string | undefined;
  /** In a durable vat: writes what has to be done even if the process ends. */
  keep?(keeper: ObjectStore, cells: Map<string, string | undefined>): void;
}

/** Where a turn happens. */
export interface Home {
  readonly name: string;
  readonly account: Account;
  /** Why it takes no more messages. */
  readonly halted: CapError | undefined;
  /** It was stopped with its process: what is kept for it is for the next one. */
  readonly interrupted: boolean;
  nextId(): number;
  /** What turns go by: `vatTime` and `wallTime`. */
  readonly clock: Clock;
  readonly time: VatTime;
  /** What became of the store: `storeEra` and `suspended`. */
  era(): { readonly now: number; readonly trusted: number };
  /** The causes of a turn that the host program starts: none yet. */
  readonly chain: Chain;
  /** Keeps what this vat holds; undefined where it lives in memory only. */
  readonly keeper: ObjectStore | undefined;
  /** Who is to be woken when. */
  readonly wakes: Wakes;
  /** Chance, taken once a process: with a number of the vat it names things over the life of a store. */
  readonly incarnation: string;
}

/** What is to be sent at a vat time. */
export interface Wakes {
  set(at: number, key: string, message: Message): void;
  cancel(key: string): void;
}

export interface Mark {
  readonly undos: number;
  readonly effects: number;
}

let epochs = 0;
let frames = 0;

export class Turn {
  readonly seq: number;
  readonly home: Home;
  readonly account: Account;
  /** Grants it runs under; grows while a forwarder sends. */
  chain: Chain;
  readonly undos: Undo[] = [];
  readonly effects: Effect[] = [];
  /** What it tells the ledger. These are kept even if the turn fails. */
  readonly lines: LedgerEntry[] = [];
  /** What it wants kept besides its actors, tables and messages. */
  cells: Map<string, string | undefined> | undefined;
  /** An actor journalled in this epoch need not be journalled again. */
  epoch: number = ++epochs;
  /** The call that is running, so that a become token counts only for the call that made it. */
  frame = 0;
  /** The call that the message itself made; calls below it are near ones. */
  messageFrame = -1;
  actor: Target | undefined;
  /** A savepoint could not be restored (the stack was full): the whole turn has to go. */
  doomed: { readonly error: unknown } | undefined;
  /** The error that the turn answers with although it commits. */
  breaks: { readonly error: unknown } | undefined;

  constructor(seq: number, home: Home, account: Account, chain: Chain) {
    this.seq = seq;
    this.home = home;
    this.account = account;
    this.chain = chain;
  }

  /** Everything that has to be on the disk for this turn to have happened. */
  kept(keeper: ObjectStore): Map<string, string | undefined> {
    const cells = this.cells ?? new Map<string, string | undefined>();
    for (const undo of this.undos) undo.keep?.(keeper, cells);
    for (const effect of this.effects) effect.keep?.(keeper, cells);
    return cells;
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
    // What breaks with it tells of what this turn saw.
    behind(this.home.keeper?.newest(), () => this.#rollback(mark, error));
  }

  #rollback(mark: Mark, error: unknown): void {
    this.epoch = ++epochs;
    const { undos, effects } = this;
    // Each is forgotten only when it is done: where the stack is full, whoever catches that further out goes on from here.
    for (let last = undos.at(-1); last !== undefined && undos.length > mark.undos; last = undos.at(-1)) {
      last.undo();
      undos.pop();
    }
    for (let last = effects.at(-1); last !== undefined && effects.length > mark.effects; last = effects.at(-1)) {
      last.drop(error);
      effects.pop();
    }
  }
}

/** The running turn; undefined outside. At most one in a process, for turns are synchronous. */
export let current: Turn | undefined;

export function enter(turn: Turn): void {
  if (current !== undefined) throw new Error('a turn was started inside a turn');
  current = turn;
}

export function leave(): void {
  current = undefined;
}

/** The running turn, for what only makes sense in one. */
export function turnFor(what: string): Turn {
  if (current === undefined) throw new CapError('not-callable', `${what} works only in a turn: use vat.turn(() => …)`);
  return current;
}

/**
 * Runs `body`; if it throws, what it did is undone and the error thrown on. Savepoints nest. An extension: Goblins keeps
 * what a caught error leaves behind.
 */
export function attempt<R>(body: () => R): R {
  const turn = turnFor('attempt');
  const mark = turn.mark();
  try {
    const value = body();
    if (value instanceof Promise && vatPromiseOf(value) === undefined) {
      quieten(value);
      throw new CapError(
        'async-behaviour',
        'attempt takes a synchronous body: what comes after an await is in no turn',
      );
    }
    turn.epoch = ++epochs;
    return value;
  } catch (error) {
    try {
      turn.rollback(mark, error);
    } catch (unfinished) {
      turn.doomed ??= { error: unfinished };
      throw unfinished;
    }
    throw error;
  }
}

/** What lets somebody do something. Over budget it is refused; all else is what was done or ended, and is told in any case. */
const begins: ReadonlySet<string> = new Set(['call', 'grant', 'request', 'session']);

// Most calls of tools that only look have none, and encoding costs more than the rest of a line.
const nothingSaid: EncodedArgs = encodeArgs([]);

/**
 * Writes a line to the ledger of this store. Kept, with the turn's code, even if the turn fails; durable before anything
 * that the turn sends leaves. `kind` is one of the ledger's, `fields` plain data without secrets. `args`, the arguments of a call,
 * are kept beside the line, which only commits to them. Errors: `limit` when the meter of the turn has used up its lines of this
 * hour and the line would tell of a call, a grant or a session: that then must not be.
 */
export function ledgerLine(kind: string, fields: Readonly<Record<string, unknown>>, args?: readonly unknown[]): void {
  const turn = turnFor('ledgerLine');
  const { account } = turn;
  const said = args === undefined ? undefined : args.length === 0 ? nothingSaid : encodeArgs(args, account.limits().argumentBytes); // biome-ignore format: one line
  const weight = 1 + ((said?.bytes.length ?? 0) >>> 10);
  const bytes = lineSize(fields) + (said === undefined ? 0 : SALT + said.bytes.length);
  const within = account.writeLine({ weight, bytes }, turn.home.clock.tick());
  if (within || !(kind === 'refuse' || begins.has(kind))) {
    turn.lines.push({ kind, fields, args: said });
    return;
  }
  // Said in the same words each time, so that the ledger makes one row with a count of them.
  turn.lines.push({ kind: 'refuse', fields: { meter: account.name, code: 'limit' } });
  if (kind !== 'refuse')
    throw new CapError(
      'limit',
      `the meter "${account.name}" has used up its ledger lines of this hour (${account.limits().lines} of them, ${account.limits().lineBytes} bytes): wait, or ask for a larger budget`,
    );
}

/** About what a line takes on the disk without its arguments: exact enough for a budget, and far cheaper than to make the line. */
function lineSize(fields: Readonly<Record<string, unknown>>): number {
  let size = 250;
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    size += name.length + 4;
    if (typeof value === 'string') size += Math.min(value.length, 4096);
    else size += typeof value === 'object' ? 512 : 16;
  }
  return size;
}

/**
 * Sends made in `body` carry `id` in their chain of causes: cutting `id` aborts the driver calls they lead to. A forwarder
 * runs its send in here.
 */
export function under<R>(id: string, body: () => R): R {
  const turn = turnFor('under');
  const before = turn.chain;
  turn.chain = before.with(id);
  try {
    return body();
  } finally {
    turn.chain = before;
  }
}

/** The running turn fails with this error, whoever catches it. Where none runs nothing happens. */
export function doom(error: unknown): void {
  if (current !== undefined) current.doomed ??= { error };
}

/** Whether a turn is running: whether references of its vat are near now. */
export const inTurn = (): boolean => current !== undefined;

/** Whether the running behaviour was reached by the message that started this turn, not by a near call in it. */
export function byMessage(): boolean {
  const turn = turnFor('byMessage');
  return turn.frame === turn.messageFrame;
}

/**
 * ms that never go back: what deadlines are decided by. Suspend counts, and so do restarts and boots of a vat with a store; compare it with
 * nothing but itself.
 */
export const vatTime = (): number => turnFor('vatTime').home.time.now();

/** ms since 1970. May shorten a deadline, never lengthen one. */
export const wallTime = (): number => turnFor('wallTime').home.clock.wall();

/** Changes when the machine boots. What does not outlive a boot remembers the one it was made in. */
export const bootId = (): string => turnFor('bootId').home.clock.bootId;

/** A name for people and the ledger, unique over the life of a store. It opens nothing. */
export function freshName(prefix: string): string {
  const { home } = turnFor('freshName');
  return `${prefix}${home.nextId()}-${home.incarnation}`;
}

/** Which history of its store the turn is in: counts how often the store was found to have been put back to an earlier state. */
export const storeEra = (): number => turnFor('storeEra').home.era().now;

/**
 * Whether what was granted in `era` has to wait: the store has been put back since, uses and revocations may be missing from it,
 * and no person has looked yet (`vats.trust`).
 */
export function suspended(era: number): boolean {
  const { now, trusted } = turnFor('suspended').home.era();
  return era < now && trusted < now;
}
