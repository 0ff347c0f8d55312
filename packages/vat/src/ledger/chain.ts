/**
 * The ledger: lines that follow the last one, for the commit of the turn they tell of.
 *
 * Promise: each line names the hash of the one before it, from a genesis line on, so no line can be changed, left out, put in or
 * moved without `verifyLedger` naming it. (Who can rewrite the whole store can rewrite all of it; signed checkpoints are
 * what will show that.) It keeps no state of its own: the head is the store's, so a failed commit leaves nothing to undo.
 *
 * Not yet: arguments in a side table (a commitment can therefore not be opened, only compared by who kept salt and text),
 * coalescing of equal refusals, checkpoints, budgets by meter.
 */
import type { Clock } from '../clock.ts';
import { sha256 } from '../drivers/hash.ts';
import { mutant } from '../drivers/mutant.ts';
import { CapError } from '../errors.ts';
import type { Line, StoreEngine } from '../store/store.ts';
import type { LineKind } from './kinds.ts';
import { type Fields, makeLine } from './line.ts';

export interface Entry {
  readonly kind: Exclude<LineKind, 'genesis'>;
  readonly fields: Fields;
}

export interface Ledger {
  /** The next lines, for a commit of the caller's own: `engine.commit(engine.epoch, { lines })`, before anything else is prepared. */
  prepare(entries: readonly Entry[]): readonly Line[];
  /** Prepares and commits: durable on return. Answers the first line's number. */
  write(entries: readonly Entry[]): number;
  /** What a line says of arguments: a commitment under a salt of its own, so that a short value cannot be guessed, and how many. */
  commitArgs(encoded: string, count: number): { readonly args: string; readonly argc: number };
}

export interface LedgerPowers {
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
}

/** Begins the ledger of an empty store with its genesis line, or marks in that of an older one that it was opened again. */
export function makeLedger(engine: StoreEngine, { clock, random }: LedgerPowers): Ledger {
  const prepare = (entries: readonly { readonly kind: LineKind; readonly fields: Fields }[]): readonly Line[] => {
    let { seq, hash } = engine.head();
    const [t, vt] = [clock.wall(), clock.boottime()];
    return entries.map(({ kind, fields }) => {
      const line = makeLine({ seq: seq + 1, t, vt, kind, fields, prev: mutant('ledger') ? '' : hash });
      ({ seq, hash } = line);
      return line;
    });
  };
  const commit = (lines: readonly Line[]): void => engine.commit(engine.epoch, { lines });

  commit(
    prepare([
      engine.head().seq === 0
        ? { kind: 'genesis', fields: { stream: sha256(random(32)), boot: clock.bootId } }
        : { kind: 'restart', fields: { boot: clock.bootId, epoch: engine.epoch } },
    ]),
  );

  const next = (entries: readonly Entry[]): readonly Line[] => {
    if (entries.some(({ kind }) => (kind as LineKind) === 'genesis'))
      throw new CapError('invalid', 'a ledger has one genesis line');
    return prepare(entries);
  };
  return Object.freeze({
    prepare: next,
    write(entries: readonly Entry[]) {
      const first = engine.head().seq + 1;
      commit(next(entries));
      return first;
    },
    commitArgs(encoded: string, count: number) {
      const text = new TextEncoder().encode(encoded);
      const salted = new Uint8Array(32 + text.length);
      salted.set(random(32));
      salted.set(text, 32);
      return { args: sha256(salted), argc: count };
    },
  });
}
