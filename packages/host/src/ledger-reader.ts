/** The ledger as a cap: for granters, who may read what happened and check that nobody changed it. */
import { driver, exportLedger, type Far, type LedgerVerdict, type Store, verifyLedger } from '@hob/vat';

export interface LedgerReader {
  /** Lines as JSON text, from number `from` on: at most 500, and no more than fit into one frame; none after the last. */
  lines(from?: number): readonly string[];
  verify(): LedgerVerdict;
}

const page = 500;
/** A line has up to 8 KiB, and its quotes are escaped twice on the way: a page of such lines would fit into no frame. */
const pageBytes = 128 << 10;

export function ledgerReader(store: Store): Far<LedgerReader> {
  return driver<LedgerReader>({
    lines: async ([from = 1]) => {
      const lines: string[] = [];
      let bytes = 0;
      for await (const line of exportLedger(store, { from: Math.max(1, Math.floor(Number(from)) || 1) })) {
        lines.push(line);
        bytes += line.length;
        if (lines.length >= page || bytes >= pageBytes) break;
      }
      return lines;
    },
    verify: () => verifyLedger(store),
  });
}
