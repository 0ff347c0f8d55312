/**
 * Merges the ledgers of all tenants into one stream of lines.
 *
 * Promise: each line of a tenant comes once, in the order of the commits. Lines of different tenants are ordered by their
 * times. These come from the clocks of the machines, which may differ.
 */
import { type CapError, exportLedger, type Store } from '@hob/vat';

/** One line of the ledger of a tenant. */
export interface ClusterLine {
  readonly tenant: string;
  /** Canonical JSON, as the ledger has it. */
  readonly line: string;
}

/** The rest of the ledger of a tenant. `head` is the next line. */
interface Rest {
  readonly tenant: string;
  readonly lines: AsyncIterator<string>;
  head: string;
  /** The latest time in this ledger so far, in ms since 1970. If a clock is set back, this time does not go back. */
  time: number;
}

/** Merges ledgers. The keys of the map are the names of the tenants. Ends all ledgers if the reader stops. */
export async function* merged(ledgers: ReadonlyMap<string, AsyncIterable<string>>): AsyncGenerator<ClusterLine, void> {
  const rests: Rest[] = [];
  try {
    for (const [tenant, ledger] of ledgers) {
      const rest = { tenant, lines: ledger[Symbol.asyncIterator](), head: '', time: 0 };
      rests.push(rest);
      if (!(await advance(rest))) rests.pop();
    }
    while (rests.length > 0) {
      const next = rests.reduce((first, each) => (each.time < first.time ? each : first));
      yield { tenant: next.tenant, line: next.head };
      if (!(await advance(next))) rests.splice(rests.indexOf(next), 1);
    }
  } finally {
    for (const { lines } of rests) await lines.return?.();
  }
}

/** Reads the next line. Returns false at the end of the ledger. */
async function advance(rest: Rest): Promise<boolean> {
  const { done, value } = await rest.lines.next();
  if (done === true) return false;
  const { t } = JSON.parse(value) as { readonly t?: number };
  rest.head = value;
  rest.time = Math.max(rest.time, t ?? 0);
  return true;
}

/** Opens the stores of these tenants, also while they are served, and merges their ledgers. Errors: those of `look`. */
export async function* exported(
  tenants: readonly string[],
  look: (tenant: string) => Promise<Store>,
): AsyncGenerator<ClusterLine, void> {
  const stores = new Map<string, Store>();
  try {
    for (const tenant of tenants) {
      const store = await look(tenant).catch((error: unknown) => {
        // `invalid`: there is no such store. Nobody has opened the tenant yet, or its data is gone.
        if ((error as CapError).code === 'invalid') return undefined;
        throw error;
      });
      if (store !== undefined) stores.set(tenant, store);
    }
    yield* merged(new Map([...stores].map(([tenant, store]) => [tenant, exportLedger(store)])));
  } finally {
    for (const store of stores.values()) await store.close();
  }
}
