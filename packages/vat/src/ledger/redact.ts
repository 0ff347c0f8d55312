/** What is kept beside a line: to be read by who holds the store, and to be deleted for good. */
import { CapError } from '../core/errors.ts';
import { engineOf, type Store } from '../store/store.ts';
import { commitment } from './arguments.ts';
import { ledgerOf } from './chain.ts';
import type { Fields } from './line.ts';

/**
 * The arguments of line `seq` as JSON text (docs/ledger.md); undefined where none are kept, or not any more. Errors: `invalid` when
 * they are not those that the line commits to.
 */
export function ledgerArguments(store: Store, seq: number): string | undefined {
  const engine = engineOf(store);
  const [line] = engine.lines(checked(seq), 1);
  const [args] = engine.args(seq, seq);
  if (args === undefined) return undefined;
  const said = line?.seq === seq ? JSON.parse(new TextDecoder().decode(line.bytes)) : undefined;
  if (said?.args !== commitment(args))
    throw new CapError('invalid', 'these arguments were changed: they are not those that the line commits to');
  return new TextDecoder().decode(args.bytes);
}

/**
 * Deletes the arguments of line `seq` for good: when it returns they are in no file of the store, and a `redact` line says so,
 * with `said` (by whom, why). Answers false where there are none. Errors: `unavailable` while no vats are open on the store.
 */
export function redactLedger(store: Store, seq: number, said: Fields = {}): boolean {
  const ledger = ledgerOf(engineOf(store));
  if (ledger === undefined)
    throw new CapError('unavailable', 'nobody writes the ledger of this store now: open vats on it first');
  return ledger.redact(checked(seq), said);
}

function checked(seq: number): number {
  if (!Number.isSafeInteger(seq) || seq < 1) throw new CapError('invalid', 'a line is named by its number, from 1 on');
  return seq;
}
