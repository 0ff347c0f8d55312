/** The arguments stored beside a line: reading them, and deleting them for good. */
import { CapError } from '../core/errors.ts';
import { engineOf, type Store } from '../store/store.ts';
import { ledgerOf } from './chain.ts';
import { commitment, type Fields } from './line.ts';

/**
 * Returns the arguments of line `seq` as JSON text (docs/ledger.md), and undefined if none are stored.
 * Errors: `invalid` if they are not those that the line commits to.
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
 * Deletes the arguments of line `seq` for good. On return they are in no file of the store, and a `redact`
 * line records it, with the fields `said` (by whom, why). Returns false if there are none. Errors:
 * `unavailable` if no vats are open on the store.
 */
export function redactLedger(store: Store, seq: number, said: Fields = {}): boolean {
  const ledger = ledgerOf(engineOf(store));
  if (ledger === undefined)
    throw new CapError('unavailable', 'the ledger of this store is not open for writing: open vats on it first');
  return ledger.redact(checked(seq), said);
}

function checked(seq: number): number {
  if (!Number.isSafeInteger(seq) || seq < 1) throw new CapError('invalid', 'name a line by its number, 1 or more');
  return seq;
}
