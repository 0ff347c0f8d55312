/**
 * The ledgers of all tenants as one stream of lines.
 *
 * Promise: the lines of a tenant come in the order of their commits, each once. Lines of different tenants come by their
 * times, which the clocks of their machines gave.
 */
import { type CapError, exportLedger, type Store } from '@hob/vat';

/** One line of the ledger of a tenant. */
export interface ClusterLine {
  readonly tenant: string;
  /** Canonical JSON, as the ledger has it. */
  readonly line: string;
}

/** The lines of a tenant that are still to come. */
interface Rest {
  readonly tenant: string;
  readonly lines: AsyncIterator<string>;
  head: string;
  /** The latest time so far, in ms since 1970. A clock that was set back does not move a line before an earlier one. */
  time: number;
}

/** Merges ledgers, by the names of their tenants. */
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

/** Returns false at the end. */
async function advance(rest: Rest): Promise<boolean> {
  const { done, value } = await rest.lines.next();
  if (done === true) return false;
  const { t } = JSON.parse(value) as { readonly t?: number };
  rest.head = value;
  rest.time = Math.max(rest.time, t ?? 0);
  return true;
}

/** Opens the stores of these tenants to look at them, and merges their ledgers. Errors: those of `look`. */
export async function* exported(
  tenants: readonly string[],
  look: (tenant: string) => Promise<Store>,
): AsyncGenerator<ClusterLine, void> {
  const stores = new Map<string, Store>();
  try {
    for (const tenant of tenants) {
      const store = await look(tenant).catch((error: unknown) => {
        // Nobody has opened it yet, or its data is gone.
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
