/**
 * The driver of a host's actors: random secrets, connections, waiting requests and the ledger. Only actors
 * of the host hold it.
 */
import type { LedgerVerdict } from '@hob/vat';
import type { PasskeyChange } from '../webauthn/drivers/checks.ts';
import type { NewPasskey, PasskeyProof, PasskeyRecord } from '../webauthn/proof.ts';
import type { RequestOutcome, WaitResult } from './waiters.ts';

/** A request that was filed, for a notification. Nothing in it was written by an agent. */
export interface RequestNotice {
  readonly id: string;
  readonly kind: 'grant' | 'call';
  /** The session that asks. */
  readonly session: string;
  /** The petname or the offer that is asked for. */
  readonly asks: string;
  readonly digest: string;
  /** How long it waits for an answer, in ms. */
  readonly leftMs: number;
}

/** A change that a person may make by hand, because of what was granted again and again. Nothing is changed by it. */
export interface SuggestedChange {
  /** A unified diff. Empty if nothing is proposed. */
  readonly diff: string;
  /** What stays as it is, and why: a line each. */
  readonly notes: readonly string[];
}

export interface HostPowers {
  /** A new secret and its hash. Only the hash is stored. */
  secret(): { readonly secret: string; readonly hash: string };
  /** The id of a new object URL and its hash. Only the hash is stored. */
  objectId(): { readonly id: string; readonly hash: string };
  /** Closes the connections of these callers, which have ended. */
  disconnect(sessions: readonly string[]): void;
  /** Closes the connections of every caller that has ended. */
  disconnectEnded(): void;
  lines(granter: string, from: number): readonly string[];
  verify(against?: readonly string[]): LedgerVerdict;
  /** Resolves when the request is answered. `target` is the object that a gated call goes to. */
  wait(request: string, asker: string, target: object | undefined): WaitResult;
  /** Something of these granters' requests has changed. */
  changed(granters: readonly string[]): void;
  /** Resolves with the number of the latest change when that is not `since`. */
  nextChange(granter: string, since: number): number;
  /** Tells the program that runs the host. */
  filed(notice: RequestNotice): void;
  /** Asks the program that runs the host. */
  suggested(granter: string): SuggestedChange | undefined;
  /** A code with which the granter enters once from a page. */
  pageCode(granter: string): string;
  /** A challenge for one change of the passkeys of a granter. */
  passkeyChallenge(granter: string, change: PasskeyChange): string;
  /** The number of the first signature of a passkey that was made on a page of this host. Errors: `invalid`. */
  madePasskey(granter: string, made: NewPasskey): number;
  /** The number of the signature by one of these passkeys. Errors: `denied`. */
  provedByPasskey(
    granter: string,
    proof: PasskeyProof,
    keys: readonly PasskeyRecord[],
    about: { readonly change: PasskeyChange } | { readonly challenge: string },
  ): number;
  decide(request: string, verdict: RequestOutcome): void;
  /** For each request: whether an asker that is still connected waits, and how many wait in all. */
  waiting(requests: readonly string[]): readonly { readonly there: boolean; readonly count: number }[];
  targetOf(request: string): object;
  /** The grants that the current call was made under, outermost first. */
  callingGrants(): readonly string[];
}
