/**
 * Runs one message as one turn, and decides what of it remains.
 *
 * Promise: a turn that throws leaves nothing behind but one broken promise and its ledger lines; a turn that commits puts
 * its lines in the store first, then sends what it sent in that order, then answers. If the lines cannot be stored, the turn
 * never happened and whoever waits is told `unknown-outcome`.
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

/** What delivering needs of the world that the vats share. */
export interface Ground {
  nextSeq(): number;
  tick(): number;
  /** Makes the lines durable; throws where it cannot. For vats that live in memory: their turns stop at nothing else. */
  commit(lines: readonly LedgerEntry[]): void;
  /** Where the output of durable vats waits for the disk. */
  readonly edge: OutputCommit | undefined;
  readonly observe: ((record: TurnRecord) => void) | undefined;
  /** The message in this cell could not be taken from the store: its disk is full. */
  leave(kept: string): void;
}
const start = { undos: 0, effects: 0 } as const;

/** The code of whatever was thrown, for records: `error` where it has none. */
export const codeOf = (error: unknown): string => (error instanceof CapError ? error.code : 'error');

/** `began` is the time now; answers the time when the turn was over, so that a turn reads the clock once. */
export function deliver(ground: Ground, message: Message, began: number): number {
  message.taken();
  const to = message.to as Runnable;
  const { home } = to;
  const { answer, account } = message;
  const chain = message.chain === noChain ? home.chain : message.chain;
  // Whoever sent it never did: their turn was lost with its commit.
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
  // The next turn is not charged for what this one stored.
  return lines.length > 0 ? ground.tick() : ended;
}

interface Ending {
  readonly value: unknown;
  readonly failure: { readonly error: unknown } | undefined;
  readonly cells: Map<string, string | undefined> | undefined;
  readonly ms: number;
  readonly ended: number;
}

/** In a durable store: the turn's writes join the open batch, and what it lets out waits for that. */
function finish(
  ground: Ground,
  edge: OutputCommit,
  turn: Turn,
  message: Message,
  { value, failure, cells, ms, ended }: Ending,
): number {
  const { answer, kept } = message;
  // A message is consumed by its turn, also by one that fails.
  const writes = failure === undefined ? cells : undefined;
  // One that no commit could take would stop the store for everybody.
  const lines = failure === undefined ? turn.lines : withCode(turn.lines.filter(possible), failure.error);
  const record = ground.observe && recordOf(turn, message, ms, failure ?? turn.breaks);
  const full = failure !== undefined && edge.refuses(lines) !== undefined;
  if (full) {
    // Not even that it failed can be written: its message stays in the store, until there is room.
    if (kept !== undefined) ground.leave(kept);
    if (record !== undefined) ground.observe?.(record);
    // What it says of itself may not leave without its lines.
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

/** A failed turn keeps its lines, with its code. */
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
  // Three literals rather than spreads, which cost as much as the rest of the record.
  if (cause === undefined) return Object.freeze({ seq, vat, to, method, code, ms });
  if (from === undefined) return Object.freeze({ seq, vat, cause, to, method, code, ms });
  return Object.freeze({ seq, vat, cause, from: from.label, to, method, code, ms });
}
