/** Verifies the ledgers of all tenants, and that they agree with the merged chain of checkpoints. */
import { CapError, type LedgerVerdict, type Store, verifyLedger } from '@hob/vat';
import { type Entry, faultOf, type KeptEntry } from './checkpoints.ts';

/** The result of `verify`. */
export interface ClusterVerdict {
  /** Whether the chain is whole, and all ledgers are good and agree with it. */
  readonly ok: boolean;
  /** Why the merged chain is not whole. Undefined if it is. */
  readonly why: string | undefined;
  /** The number of entries in the chain. */
  readonly entries: number;
  /** The last entry. Kept elsewhere, it shows later whether the chain was written anew. */
  readonly last: KeptEntry | undefined;
  /** By the names of the tenants. `missing`: the chain has checkpoints of it, and its ledger is gone. */
  readonly tenants: Readonly<Record<string, LedgerVerdict | 'missing'>>;
}

interface Looking {
  /** All entries of the chain, oldest first. */
  readonly entries: readonly Entry[];
  /** Including removed tenants, of which only the chain still has the names. */
  readonly tenants: readonly string[];
  readonly kept: KeptEntry | undefined;
  /** Opens the store of a tenant to look at it. Errors: `invalid` (there is none). */
  look(tenant: string): Promise<Store>;
}

/** Verifies the ledgers of these tenants. Errors: `invalid` (`kept`), those of `look`. */
export async function verdictOf({ entries, tenants, kept, look }: Looking): Promise<ClusterVerdict> {
  if (kept !== undefined && !(Number.isSafeInteger(kept.n) && kept.n > 0 && typeof kept.hash === 'string'))
    throw new CapError('invalid', 'kept is an entry of the chain: its number n and its hash');
  const why = faultOf(entries, kept);
  const verdicts: Record<string, LedgerVerdict | 'missing'> = {};
  for (const tenant of tenants) {
    const against = entries.flatMap((entry) => (entry.tenant === tenant ? [entry.note] : []));
    const verdict = await ledgerOf(() => look(tenant), against);
    if (verdict !== undefined) verdicts[tenant] = verdict;
  }
  const ok = why === undefined && Object.values(verdicts).every((each) => each !== 'missing' && each.ok);
  const end = entries.at(-1);
  const last = end === undefined ? undefined : { n: end.n, hash: end.hash };
  return { ok, why, entries: entries.length, last, tenants: verdicts };
}

/** Verifies one ledger. Returns undefined for a tenant that nobody has opened yet. */
async function ledgerOf(
  look: () => Promise<Store>,
  against: readonly string[],
): Promise<LedgerVerdict | 'missing' | undefined> {
  let store: Store;
  try {
    store = await look();
  } catch (error) {
    if ((error as CapError).code !== 'invalid') throw error;
    return against.length === 0 ? undefined : 'missing';
  }
  try {
    return await verifyLedger(store, against.length === 0 ? {} : { against });
  } finally {
    await store.close();
  }
}
