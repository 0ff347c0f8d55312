/**
 * The face of a host for the program that runs it.
 *
 * Promise: what comes out of it to others is a reference or a secret that a granter's word stands behind; the store, the vats' turns
 * and the sockets do not leave it.
 */
import type { Guests } from '@hob/guest';
import type { AnyDefinition, CapTPStats, Clock, Dialect, Far, LedgerVerdict, Vats, WireFault } from '@hob/vat';
import type { Grant, Granter } from './granters/grants.ts';
import type { StartOptions } from './granters/start.ts';

/** For the program that runs the host. */
export interface Session {
  readonly id: string;
  /** Enters the session over the wire. Undefined for a session that was opened earlier: of that only the hash is kept. */
  readonly secret: string | undefined;
  /** Fulfilled when it has ended, whoever ended it. */
  readonly ended: Promise<void>;
  caps(): Promise<readonly string[]>;
  cap<T extends object>(petname: string): Promise<Far<T>>;
  /** A text that opens the cap for this session only, for so many ms (15 minutes; a day at the most). */
  publish(petname: string, options?: { readonly for?: number }): Promise<string>;
  resolve<T extends object>(url: string): Promise<Far<T>>;
  unpublish(url: string): Promise<void>;
  /** The new secret; the old one dies when the new one is first used. */
  rotate(): Promise<{ readonly secret: string }>;
  /** Ends it, what hangs under it and all that they hold. Answers when every driver that worked for them is done. */
  end(why?: string): Promise<void>;
}
export interface NewSession extends Session {
  readonly secret: string;
}

/** `again`: the session of an earlier start goes on. `ended`: that one has ended, and no other was opened. */
export type Started =
  | { readonly how: 'opened'; readonly session: NewSession; readonly grants: readonly Grant[] }
  | { readonly how: 'again'; readonly session: Session; readonly grants: readonly Grant[] }
  | { readonly how: 'ended'; readonly id: string | undefined };

export interface Host {
  readonly vats: Vats;
  /**
   * A session without granters can be granted nothing. With a `parent` it hangs under that one and ends with it. Errors: `invalid`,
   * `no-such-object` (a granter or parent that is not there).
   */
  openSession(options: {
    readonly name: string;
    readonly granters?: readonly string[];
    readonly parent?: string;
  }): Promise<NewSession>;
  /**
   * The session that this program opens at every start, with its grants. A state grants once for each purpose: a later start gets the earlier
   * session with what is left of its grants, or none where that session has ended. `fresh` ends the earlier one and opens another; use it only
   * where a person asked for it. Errors: `invalid`, `no-such-object`.
   */
  startSession(options: StartOptions): Promise<Started>;
  /** One that is open, also from an earlier run. Errors: `no-such-object`. */
  session(id: string): Promise<Session>;
  sessions(): Promise<readonly { readonly id: string; readonly name: string; readonly parent?: string }[]>;
  /** The granter as a cap, and the secret that a person enters to reach it over the wire: shown once, kept hashed. */
  addGranter(name: string): Promise<{ readonly granter: Far<Granter>; readonly secret: string }>;
  /** Errors: `no-such-object`. */
  granter(name: string): Promise<Far<Granter>>;
  /** A new secret for a granter; the old one is dead at once, and who entered with it is put out. */
  renewGranter(name: string): Promise<{ readonly secret: string }>;
  /**
   * What granters may give out, by name: an FsCap, any object with async methods, any reference. What is not in the store itself has to be
   * offered again after a restart, until when grants of it answer `unavailable`; what is offered again under a name takes its place in them.
   */
  offer(name: string, cap: object, options?: { readonly reads?: readonly string[] }): Promise<void>;
  /**
   * Offers `code` (or `as`): a session that is granted it runs programs over what it holds. `open` answers where they run (`openGuests`): it is called
   * for the first program, and what it answers is closed with the host.
   */
  offerCode(open: () => Promise<Guests>, options?: { readonly as?: string }): Promise<void>;
  /** CapTP over WebSocket on loopback; port 0 is any. */
  serve(options?: { readonly port?: number }): Promise<{ readonly url: string; close(): Promise<void> }>;
  /** A granter's is called `granter:NAME`, one of a sturdyref `sturdyref:GRANT`. */
  connections(): readonly { readonly session: string; readonly dialect: Dialect; stats(): CapTPStats }[];
  /** The store was put back to an earlier state: what was granted before waits for `confirm` of a granter, or for `trust`. */
  readonly restored: boolean;
  /** Why this opening found it `restored`, for a person; undefined where it did not, or a person has looked since. */
  readonly restoredBecause: string | undefined;
  trust(by: string): Promise<void>;
  /** `against` are checkpoints that were sent elsewhere: each must still hold. */
  verify(options?: { readonly against?: readonly string[] }): Promise<LedgerVerdict>;
  /** The ledger as JSON Lines, whole and in order. */
  ledger(options?: { readonly from?: number; readonly follow?: boolean }): AsyncIterable<string>;
  close(): Promise<void>;
  /**
   * Revokes everything that was granted, by whomever, and closes. What cannot be done now (a disk that failed) is done by the next host on this
   * state, before anything else. One whose vat hangs is stopped from outside: `hob stop`.
   */
  stop(why?: string): Promise<void>;
}

export interface HostOptions {
  /** Holds everything that lasts. */
  readonly stateDir: string;
  /**
   * A folder for the sentinel, apart from `stateDir` and from what is copied with it: by that a state that was put back to an earlier one is
   * known. Without it only a backup that was restored is known. It has to be the same at each opening.
   */
  readonly sentinel?: string;
  /** Is given signed checkpoints of the ledger, to be kept elsewhere: at the opening, each hour and at the close. See `VatsOptions`. */
  readonly onCheckpoint?: (checkpoint: string) => void | Promise<void>;
  readonly clock?: Clock;
  readonly random?: (bytes: number) => Uint8Array;
  /** Told of each error that a peer was told only the id of: for a log that stays here. */
  readonly observe?: (fault: WireFault) => void;
  /** How long a session is kept after its last connection was lost: 10 minutes. */
  readonly graceMs?: number;
  /** How long a request waits for an answer: an hour. */
  readonly requestMs?: number;
  /** Of actors that the program offers and that are to last. */
  readonly definitions?: readonly AnyDefinition[];
}
