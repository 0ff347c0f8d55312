/**
 * Delivers one message as one turn, and commits or rolls back the turn.
 *
 * Promise: a turn that throws leaves only one broken promise and its ledger lines. A turn that commits stores
 * its lines first, then sends its messages in order, then settles its answer. If the lines cannot be stored,
 * the turn never happened, and its caller receives `unknown-outcome`.
 */
import { behind, when } from '../core/barrier.ts';
import { noChain } from '../core/causes.ts';
import { CapError } from '../core/errors.ts';
import { cutOff, fenced, noteFault, noteIfFault } from '../core/faults.ts';
import type { LedgerEntry } from '../core/ledger-entry.ts';
import type { Message } from '../core/message.ts';
import type { Account } from '../core/meter.ts';
import type { TurnRecord } from '../core/types.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import type { OutputCommit } from '../durable/output-commit.ts';
import { checkEntry } from '../ledger/chain.ts';
import { resolved } from './resolved.ts';
import type { Runnable } from './runnable.ts';
import { type Effect, enter, type Home, leave, Turn } from './turn.ts';
import { turnPromise } from './turn-promise.ts';
import { pass, thrown } from './values.ts';

/** The shared services that delivery needs. */
export interface DeliveryServices {
  nextSeq(): number;
  tick(): number;
  /** Makes the lines durable, or throws. For vats in memory, whose turns wait for nothing else. */
  commit(lines: readonly LedgerEntry[]): void;
  /** Holds back the effects of durable vats until their turn is on disk. Undefined without a store. */
  readonly outputCommit: OutputCommit | undefined;
  readonly observe: ((record: TurnRecord) => void) | undefined;
  /** The message in this cell could not be removed from the store, because its disk is full. */
  leave(kept: string): void;
  /** A turn of this vat could not be undone. Halts the vat, so that nobody sees what is left of the turn. */
  torn(home: Home): void;
}
const start = { undos: 0, effects: 0 } as const;

/** The code of a thrown value, for records: `error` if it has none. */
export const codeOf = (error: unknown): string => (error instanceof CapError ? error.code : 'error');

/** The turn whose changes are not committed yet. */
let uncommitted: Turn | undefined;

/**
 * `began` is the current time. Returns the time at the end, so that each turn reads the clock once.
 *
 * An internal error before the commit undoes the turn. A stored message that the turn took then stays in the
 * store, and the next process delivers it.
 */
export function deliver(services: DeliveryServices, message: Message, began: number): number {
  try {
    return deliverTurn(services, message, began);
  } catch (error) {
    noteFault(error);
    const turn = uncommitted;
    uncommitted = undefined;
    if (turn !== undefined && !fenced(() => turn.rollback(start, cutOff()))) services.torn(turn.home);
    leave();
    fenced(() => behind(services.outputCommit?.newestOrCheck(), () => message.answer?.break(cutOff())));
    return services.tick();
  }
}

function deliverTurn(services: DeliveryServices, message: Message, began: number): number {
  message.taken();
  const to = message.to as Runnable;
  const { home } = to;
  const { answer, account } = message;
  const chain = message.chain === noChain ? home.chain : message.chain;
  // The sending turn was rolled back by a failed commit, so this message was never sent.
  const unsent = message.after?.lost;
  if (unsent !== undefined) {
    answer?.break(unsent);
    return began;
  }
  const refused = home.halted ?? chain.ended();
  if (refused !== undefined) {
    const consumed = home.interrupted ? undefined : message.kept;
    behind(services.outputCommit?.turn(undefined, [], consumed), () => answer?.break(refused));
    return began;
  }

  const turn = new Turn(services.nextSeq(), home, account, chain);
  let value: unknown;
  let failure: { readonly error: unknown } | undefined;
  uncommitted = turn;
  enter(turn);
  try {
    const args = message.promises ? message.args.map((arg) => resolved(arg, turnPromise)) : message.args;
    value = pass(to.run(message, args), account);
  } catch (error) {
    failure = { error: thrown(error) };
  }
  failure ??= turn.doomed;
  const ended = services.tick();
  const ms = ended - began;
  account.spend(ms);
  if (failure === undefined && account.overtime(ms)) failure = { error: tookTooLong(account) };
  failure ??= to.dryRun(turn, value);
  const { objectStore } = home;
  let cells: Map<string, string | undefined> | undefined;
  if (objectStore !== undefined && failure === undefined) {
    try {
      cells = cellsOf(turn, objectStore, services, message);
    } catch (error) {
      noteIfFault(error);
      failure = { error };
      objectStore.kinds.forget();
    }
  }
  if (failure !== undefined) turn.rollback(start, failure.error);
  leave();
  if (services.outputCommit !== undefined)
    return finish(services, services.outputCommit, turn, message, { value, failure, cells, ms, ended });

  const lines = turn.lines;
  if (lines.length > 0) {
    try {
      services.commit(failure === undefined ? lines : withCode(lines, failure.error));
    } catch {
      const lost = new CapError(
        'unknown-outcome',
        'the store could not be written: look at what happened before you try again',
      );
      if (failure === undefined) turn.rollback(start, lost);
      failure = { error: lost };
    }
  }
  uncommitted = undefined;
  if (services.observe !== undefined) services.observe(recordOf(turn, message, ms, failure ?? turn.breaks));
  if (failure !== undefined) {
    answer?.break(failure.error);
    return ended;
  }
  release(turn.effects);
  if (turn.breaks !== undefined) answer?.break(turn.breaks.error);
  else answer?.fulfil(value);
  // Storing lines takes time that must not be charged to the next turn.
  return lines.length > 0 ? services.tick() : ended;
}

function tookTooLong(account: Account): CapError {
  return new CapError(
    'limit',
    `one turn took longer than the ${account.limits().turnMs} ms that the meter "${account.name}" allows: do less in a turn`,
  );
}

/** The cells that the commit of a turn writes. Throws if its lines or its cells cannot be stored. */
function cellsOf(
  turn: Turn,
  objectStore: ObjectStore,
  services: DeliveryServices,
  message: Message,
): Map<string, string | undefined> {
  for (const line of turn.lines) checkEntry(line);
  const cells = turn.kept(objectStore);
  const writes = cells.size > 0 || turn.lines.length > 0 || message.kept !== undefined;
  const full = writes ? services.outputCommit?.refuses(turn.lines) : undefined;
  if (full !== undefined) throw full;
  return cells;
}

/**
 * Sends what a committed turn sends. An internal error in one effect holds up no other. A message that could
 * not be sent and is in the store stays there, and the next process delivers it.
 */
function release(effects: readonly Effect[]): void {
  for (let i = 0; i < effects.length; i += 1) {
    const effect = effects[i] as Effect;
    try {
      effect.release();
    } catch (error) {
      noteFault(error);
      fenced(() => effect.drop(cutOff()));
    }
  }
}

interface Ending {
  readonly value: unknown;
  readonly failure: { readonly error: unknown } | undefined;
  readonly cells: Map<string, string | undefined> | undefined;
  readonly ms: number;
  readonly ended: number;
}

/** The ending of a turn in a durable store: its writes join the open batch, and its effects wait for it. */
function finish(
  services: DeliveryServices,
  outputCommit: OutputCommit,
  turn: Turn,
  message: Message,
  { value, failure, cells, ms, ended }: Ending,
): number {
  const { answer, kept } = message;
  // A turn consumes its message even if it fails.
  const writes = failure === undefined ? cells : undefined;
  // A line that no commit accepts would stop the store for everybody, so it is left out.
  const lines = failure === undefined ? turn.lines : withCode(turn.lines.filter(possible), failure.error);
  const record = services.observe && recordOf(turn, message, ms, failure ?? turn.breaks);
  const full = failure !== undefined && outputCommit.refuses(lines) !== undefined;
  if (full) {
    uncommitted = undefined;
    // The full disk cannot even record the failure. The message stays in the store until there is room.
    if (kept !== undefined) services.leave(kept);
    if (record !== undefined) services.observe?.(record);
    // The turn's own error may not leave without its ledger lines.
    const refused = lines.length === 0 ? undefined : outputCommit.refuses(lines);
    const error = kept === undefined ? (refused ?? failure.error) : outputCommit.unknown();
    behind(outputCommit.newestOrCheck(), () => answer?.break(error));
    return ended;
  }
  const batch = outputCommit.turn(writes, lines, kept);
  uncommitted = undefined;
  if (record !== undefined)
    when(
      batch,
      () => services.observe?.(record),
      () => services.observe?.(Object.freeze({ ...record, code: 'unknown-outcome' })),
    );
  behind(batch, () => {
    if (failure !== undefined) return answer?.break(failure.error);
    release(turn.effects);
    if (turn.breaks !== undefined) answer?.break(turn.breaks.error);
    else answer?.fulfil(value);
  });
  outputCommit.afterTurn(false);
  return ended;
}

function possible(line: LedgerEntry): boolean {
  try {
    checkEntry(line);
    return true;
  } catch {
    return false;
  }
}

/** A failed turn keeps its lines. The code of its error is added to each. */
const withCode = (lines: readonly LedgerEntry[], error: unknown): readonly LedgerEntry[] =>
  lines.map((line) => ({ ...line, fields: { code: codeOf(error), ...line.fields } }));

function recordOf(
  turn: Turn,
  message: Message,
  ms: number,
  failure: { readonly error: unknown } | undefined,
): TurnRecord {
  const { seq } = turn;
  const vat = turn.home.name;
  const to = message.to.label;
  const { method, cause, from } = message;
  const code = failure === undefined ? 'ok' : codeOf(failure.error);
  // Three literals: object spreads would cost as much as the rest of the record.
  if (cause === undefined) return Object.freeze({ seq, vat, to, method, code, ms });
  if (from === undefined) return Object.freeze({ seq, vat, cause, to, method, code, ms });
  return Object.freeze({ seq, vat, cause, from: from.label, to, method, code, ms });
}
