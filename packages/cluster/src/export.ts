/**
 * Merges the ledgers of all tenants into one stream of lines.
 *
 * Promise: each line of a tenant comes once, in the order of the commits. Lines of different tenants come in the order in
 * which the server got them, by its clock. So a line comes after all that were committed before its commit began. Lines
 * of an earlier version of the tables are ordered by their own times, which come from the clocks of the machines.
 */
import { type LineTime, lineTimes } from '@hob/store-postgres';
import { type CapError, exportLedger, type Store } from '@hob/vat';

/** One line of the ledger of a tenant. */
export interface ClusterLine {
  readonly tenant: string;
  /** Canonical JSON, as the ledger has it. */
  readonly line: string;
}

/** A line, and its time in ms since 1970. */
type TimedLine = readonly [line: string, ms: number];

/** The rest of the ledger of a tenant. `head` is the next line. */
interface Rest {
  readonly tenant: string;
  readonly lines: AsyncIterator<TimedLine>;
  head: string;
  /** The latest time in this ledger so far. If a clock is set back, this time does not go back. */
  time: number;
}

/** Merges ledgers. The keys of the map are the names of the tenants. Ends all ledgers if the reader stops. */
export async function* merged(
  ledgers: ReadonlyMap<string, AsyncIterable<TimedLine>>,
): AsyncGenerator<ClusterLine, void> {
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
  const [line, ms] = value;
  rest.head = line;
  rest.time = Math.max(rest.time, ms);
  return true;
}

const LINES_AT_ONCE = 1000;

/** Adds the time of each line: the one that `timesFrom` has, or else its own. Asks once for each thousand lines. */
export async function* timed(
  lines: AsyncIterable<string>,
  timesFrom: (from: number, limit: number) => Promise<readonly LineTime[]>,
): AsyncGenerator<TimedLine, void> {
  let times: ReadonlyMap<number, number | undefined> = new Map();
  /** `times` is complete up to this line. */
  let known = 0;
  for await (const line of lines) {
    const { seq, t = 0 } = JSON.parse(line) as { readonly seq: number; readonly t?: number };
    if (seq > known) {
      const found = await timesFrom(seq, LINES_AT_ONCE);
      times = new Map(found);
      known = found.length < LINES_AT_ONCE ? Number.POSITIVE_INFINITY : (found.at(-1)?.[0] ?? seq);
    }
    yield [line, times.get(seq) ?? t];
  }
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
    yield* merged(
      new Map(
        [...stores].map(([tenant, store]) => [
          tenant,
          timed(exportLedger(store), (from, limit) => lineTimes(store, from, limit)),
        ]),
      ),
    );
  } finally {
    for (const store of stores.values()) await store.close();
  }
}
