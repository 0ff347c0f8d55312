/** Verifies a ledger that lies on this machine and that no host serves. No cap is held. */
import { holderOf, verdictLines } from '@hob/host/client';
import { checkpointsOf, verifyAtRest } from '@hob/host/programs';
import { type LedgerVerdict, verifyLedger } from '@hob/vat/store';
import { type Given, textOf } from '../line/verb.ts';
import { restOf } from './at-rest.ts';
import { absolute, stateOf } from './places.ts';

export { verdictLines };

/** Returns the checkpoints in the file of `--against`. Errors: `invalid`. */
export function againstOf(given: Given): readonly string[] | undefined {
  const kept = textOf(given, 'against');
  return kept === undefined ? undefined : checkpointsOf(absolute(kept));
}

/** Returns undefined if a running host has the ledger, or with `--url`. Errors: `unavailable`, `invalid`. */
export async function verdictHere(given: Given): Promise<LedgerVerdict | undefined> {
  const [file] = given.operands;
  const against = againstOf(given);
  if (file !== undefined) return await verifyLedger({ file: absolute(file) }, against === undefined ? {} : { against });
  // This also verifies a state on which no host starts because its ledger is not whole.
  if (textOf(given, 'url') !== undefined || holderOf(stateOf(given)) !== 'nobody') return undefined;
  return await verifyAtRest(await restOf(given), against);
}
