/**
 * The merged chain of checkpoints: what the ledgers of all tenants have signed, in one order.
 *
 * Promise: each entry has a signed checkpoint of one tenant, and a hash over it and the hash before. So a ledger that was
 * put back, replaced or removed alone does not agree with the entries of its tenant. Whoever can write the database can
 * write this chain anew, too: an entry that is kept elsewhere shows that.
 */
import { type Connection, ServerError } from '@hob/store-postgres/connection';
import { sha256 } from '@hob/vat/forwarder';

/** One entry. The first has the number 1. */
export interface Entry {
  readonly n: number;
  readonly tenant: string;
  /** A signed checkpoint of its ledger: docs/ledger.md. */
  readonly note: string;
  /** SHA-256 over the hash before, the number, the tenant and the note, in base64url. */
  readonly hash: string;
}

/** An entry that was kept elsewhere, such as on another machine. */
export type KeptEntry = Pick<Entry, 'n' | 'hash'>;

/** Returns the hash of an entry. `before` is the hash of the entry before, and empty for the first one. */
export const hashOf = (before: string, { n, tenant, note }: Omit<Entry, 'hash'>): string =>
  sha256([before, n, tenant, note].join('\n'));

/** Adds an entry, with the hash of `hashOf` in SQL. A checkpoint that is already the last one of its tenant is not added. */
const ADD = `
  INSERT INTO checkpoint
  SELECT n + 1, $1, $2, rtrim(translate(encode(
    sha256(convert_to(concat_ws(E'\\n', hash, n + 1, $1::text, $2::text), 'UTF8')), 'base64'), '+/', '-_'), '=')
  FROM (SELECT n, hash FROM checkpoint UNION ALL SELECT 0, '' ORDER BY n DESC LIMIT 1) AS last
  WHERE $2 IS DISTINCT FROM (SELECT note FROM checkpoint WHERE tenant = $1 ORDER BY n DESC LIMIT 1)`;

/** The SQLSTATE of a row that is there already: another host has added an entry at the same moment. */
const TAKEN = '23505';

/** Adds a checkpoint of a tenant. Adding the last one of the tenant again changes nothing. */
export async function addCheckpoint(connection: Connection, tenant: string, note: string): Promise<void> {
  for (;;) {
    try {
      await connection.query(ADD, [tenant, note]);
      return;
    } catch (error) {
      if (!(error instanceof ServerError) || error.state !== TAKEN) throw error;
    }
  }
}

/** Returns the entries after number `after`, oldest first, 1,000 at most. */
export async function entriesAfter(connection: Connection, after: number): Promise<readonly Entry[]> {
  const text = 'SELECT n, tenant, note, hash FROM checkpoint WHERE n > $1::bigint ORDER BY n LIMIT 1000';
  const rows = await connection.query(text, [after]);
  return rows.map(({ n, tenant, note, hash }) => ({
    ...{ n: Number(n), tenant: String(tenant) },
    ...{ note: String(note), hash: String(hash) },
  }));
}

/** Returns why the chain is not whole; undefined if it is. `kept` is an entry that must be in it. */
export function faultOf(entries: readonly Entry[], kept?: KeptEntry): string | undefined {
  let before = '';
  for (const [index, entry] of entries.entries()) {
    if (entry.n !== index + 1) return `entry ${index + 1} is missing`;
    if (entry.hash !== hashOf(before, entry)) return `entry ${entry.n} was changed, or one before it`;
    before = entry.hash;
  }
  if (kept !== undefined && entries[kept.n - 1]?.hash !== kept.hash)
    return `entry ${kept.n} is not the one that was kept`;
  return undefined;
}
