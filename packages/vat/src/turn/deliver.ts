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
import type { LedgerEntry } from '../core/ledger-entry.ts';
import type { Message } from '../core/message.ts';
import type { TurnRecord } from '../core/types.ts';
import type { OutputCommit } from '../durable/output-commit.ts';
import { checkEntry } from '../ledger/chain.ts';
import type { Runnable } from './runnable.ts';
import { type Effect, enter, leave, Turn } from './turn.ts';
import { turnPromise } from './turn-promise.ts';
import { pass, resolved, thrown } from './values.ts';

/** The shared services that delivery needs. */
export interface Ground {
  nextSeq(): number;
  tick(): number;
  /** Makes the lines durable, or throws. For vats in memory, whose turns wait for nothing else. */
  commit(lines: readonly LedgerEntry[]): void;
  /** Holds back the effects of durable vats until their turn is on disk. Undefined without a store. */
  readonly edge: OutputCommit | undefined;
  readonly observe: ((record: TurnRecord) => void) | undefined;
  /** The message in this cell could not be removed from the store, because its disk is full. */
  leave(kept: string): void;
}
const start = { undos: 0, effects: 0 } as const;

/** The code of a thrown value, for records: `error` if it has none. */
export const codeOf = (error: unknown): string => (error instanceof CapError ? error.code : 'error');

/** `began` is the current time. Returns the time at the end, so that each turn reads the clock once. */
export function deliver(ground: Ground, message: Message, began: number): number {
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
    behind(ground.edge?.turn(undefined, [], consumed), () => answer?.break(refused));
    return began;
  }

  const turn = new Turn(ground.nextSeq(), home, account, chain);
  let value: unknown;
  let failure: { readonly error: unknown } | undefined;
  enter(turn);
  try {
    const args = message.promises ? message.args.map((arg) => resolved(arg, turnPromise)) : message.args;
    value = pass(to.run(message, args), account);
  } catch (error) {
    failure = { error: thrown(error) };
  }
  failure ??= turn.doomed;
  const ended = ground.tick();
  const ms = ended - began;
  account.spend(ms);
  if (failure === undefined && account.overtime(ms))
    failure = {
      error: new CapError(
        'limit',
        `one turn took longer than the ${account.limits().turnMs} ms that the meter "${account.name}" allows: do less in a turn`,
      ),
    };
  failure ??= to.dryRun(turn, value);
  const { keeper } = home;
  let cells: Map<string, string | undefined> | undefined;
  if (keeper !== undefined && failure === undefined) {
    try {
      for (const line of turn.lines) checkEntry(line);
      cells = turn.kept(keeper);
      const writes = cells.size > 0 || turn.lines.length > 0 || message.kept !== undefined;
      const full = writes ? ground.edge?.refuses(turn.lines) : undefined;
      if (full !== undefined) throw full;
    } catch (error) {
      failure = { error };
      keeper.forgetKinds();
    }
  }
  if (failure !== undefined) turn.rollback(start, failure.error);
  leave();
  if (ground.edge !== undefined)
    return finish(ground, ground.edge, turn, message, { value, failure, cells, ms, ended });

  const lines = turn.lines;
  if (lines.length > 0) {
    try {
      ground.commit(failure === undefined ? lines : withCode(lines, failure.error));
    } catch {
      const lost = new CapError(
        'unknown-outcome',
        'the store could not be written: look at what happened before you try again',
      );
      if (failure === undefined) turn.rollback(start, lost);
      failure = { error: lost };
    }
  }
  if (ground.observe !== undefined) ground.observe(recordOf(turn, message, ms, failure ?? turn.breaks));
  if (failure !== undefined) {
    answer?.break(failure.error);
    return ended;
  }
  const { effects } = turn;
  for (let i = 0; i < effects.length; i += 1) (effects[i] as Effect).release();
  if (turn.breaks !== undefined) answer?.break(turn.breaks.error);
  else answer?.fulfil(value);
  // Storing lines takes time that must not be charged to the next turn.
  return lines.length > 0 ? ground.tick() : ended;
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
  ground: Ground,
  edge: OutputCommit,
  turn: Turn,
  message: Message,
  { value, failure, cells, ms, ended }: Ending,
): number {
  const { answer, kept } = message;
  // A turn consumes its message even if it fails.
  const writes = failure === undefined ? cells : undefined;
  // A line that no commit accepts would stop the store for everybody, so it is left out.
  const lines = failure === undefined ? turn.lines : withCode(turn.lines.filter(possible), failure.error);
  const record = ground.observe && recordOf(turn, message, ms, failure ?? turn.breaks);
  const full = failure !== undefined && edge.refuses(lines) !== undefined;
  if (full) {
    // The full disk cannot even record the failure. The message stays in the store until there is room.
    if (kept !== undefined) ground.leave(kept);
    if (record !== undefined) ground.observe?.(record);
    // The turn's own error may not leave without its ledger lines.
    const refused = lines.length === 0 ? undefined : edge.refuses(lines);
    const error = kept === undefined ? (refused ?? failure.error) : edge.unknown();
    behind(edge.newest(), () => answer?.break(error));
    return ended;
  }
  const batch = edge.turn(writes, lines, kept);
  if (record !== undefined)
    when(
      batch,
      () => ground.observe?.(record),
      () => ground.observe?.(Object.freeze({ ...record, code: 'unknown-outcome' })),
    );
  behind(batch, () => {
    if (failure !== undefined) return answer?.break(failure.error);
    for (const effect of turn.effects) effect.release();
    if (turn.breaks !== undefined) answer?.break(turn.breaks.error);
    else answer?.fulfil(value);
  });
  edge.afterTurn(false);
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
