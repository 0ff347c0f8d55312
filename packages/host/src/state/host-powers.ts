/** What the actors of a host need of the world: chance for secrets, the door, the ledger. A driver; only actors of the house hold it. */
import type { LedgerVerdict } from '@hob/vat';
import type { Verdict, Waited } from './waiters.ts';

export interface HostPowers {
  /** A new secret, and what is kept of it. */
  secret(): { readonly secret: string; readonly hash: string };
  /** The id of an object URL, and what is kept of it. */
  objectId(): { readonly id: string; readonly hash: string };
  /** Sessions have ended, for good: their sockets are closed. */
  ended(sessions: readonly string[]): void;
  /** The same for whoever is connected to what has ended with it. */
  closeEnded(): void;
  lines(granter: string, from: number): readonly string[];
  verify(against?: readonly string[]): LedgerVerdict;
  /** Answers when the request is decided; `of` is what a call would be made on. */
  wait(request: string, asker: string, of: object | undefined): Waited;
  decide(request: string, verdict: Verdict): void;
  /** Whether somebody waits for it whose connection still stands, and how many wait at all. */
  waiting(requests: readonly string[]): readonly { readonly there: boolean; readonly count: number }[];
  behind(request: string): object;
  /** The grants that this call was made under, outermost first. */
  under(): readonly string[];
}
