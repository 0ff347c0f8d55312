/** The ledger as a cap: for granters, who may read what happened and check that nobody changed it. */
import { driver, exportLedger, type Far, type LedgerVerdict, type Store, verifyLedger } from '@hob/vat';

export interface LedgerReader {
  /** Lines as JSON text, from number `from` on, at most 500. */
  lines(from?: number): readonly string[];
  verify(): LedgerVerdict;
}

const page = 500;

export function ledgerReader(store: Store): Far<LedgerReader> {
  return driver<LedgerReader>({
    lines: async ([from = 1]) => {
      const lines: string[] = [];
      for await (const line of exportLedger(store, { from: Math.max(1, Math.floor(Number(from)) || 1) })) {
        lines.push(line.trimEnd());
        if (lines.length >= page) break;
      }
      return lines;
    },
    verify: () => verifyLedger(store),
  });
}
