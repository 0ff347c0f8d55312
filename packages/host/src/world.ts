/** What the actors of a host need of the world: chance for secrets, the door, the ledger. A driver; only actors of the house hold it. */
import type { LedgerVerdict } from '@hob/vat';

export interface World {
  /** A new secret, and what is kept of it. */
  secret(): { readonly secret: string; readonly hash: string };
  /** The id of an object URL, and what is kept of it. */
  objectId(): { readonly id: string; readonly hash: string };
  /** Sessions have ended, for good: their sockets are closed. */
  ended(sessions: readonly string[]): void;
  lines(granter: string, from: number): readonly string[];
  verify(): LedgerVerdict;
}
