/**
 * The interface of a host for the program that runs it.
 *
 * Promise: a host hands out only references and secrets that a granter granted. It never hands out its store,
 * the turns of its vats or its sockets.
 */
import type { Guests } from '@hob/guest';
import type { AnyDefinition, CapTPStats, Clock, Dialect, Far, LedgerVerdict, Store, Vats } from '@hob/vat';
import type { Effects } from '@hob/vat/forwarder';
import type { WireFault } from '@hob/vat/wire';
import type { HostCounts } from './counts.ts';
import type { FrontPlace } from './door/front-door.ts';
import type { HttpFaces } from './door/http-face.ts';
import type { HttpPages } from './door/http-pages.ts';
import type { ServeOptions } from './door/where.ts';
import type { CallFirewall } from './firewall.ts';
import type { Granter } from './granters/granter.ts';
import type { LocalOptions } from './granters/local-granter.ts';
import type { Grant } from './granters/own-rows.ts';
import type { StartOptions } from './granters/start.ts';
import type { ChangeAsker } from './sessions/ask-change.ts';
import type { CancellableCall } from './sessions/calls.ts';
import type { RequestNotice, SuggestedChange } from './state/host-powers.ts';
import type { KeptChange, KeptTexts } from './state/kept.ts';
import type { HostMost } from './state/most.ts';

/** The argument of an agent's program: `npm run agent -- FILE` calls the default export of FILE with it. */
export interface AgentPowers {
  readonly url: string;
  /** Opens the session: pass it to `connect` of `@hob/vat`. */
  readonly secret: string;
  /** Prints a line. */
  readonly say: (line: string) => void;
}

/** A session, as the program that runs the host sees it. */
export interface Session {
  readonly id: string;
  readonly name: string;
  /** The id of the parent session. */
  readonly parent?: string;
  /**
   * Opens the session over the wire. Undefined for a session that was opened earlier: the store keeps only
   * its hash.
   */
  readonly secret: string | undefined;
  /** Resolves when the session has ended. */
  readonly ended: Promise<void>;
  caps(): Promise<readonly string[]>;
  cap<T extends object>(petname: string): Promise<Far<T>>;
  /** Makes one call of a held cap, whose arguments are data. With `noted` it resolves with a `NotedResult`. */
  call(call: CancellableCall): Promise<unknown>;
  /**
   * Returns a URL that only this session can resolve. `for` is its time in ms: 15 minutes by default, at most
   * a day.
   */
  publish(petname: string, options?: { readonly for?: number }): Promise<string>;
  resolve<T extends object>(url: string): Promise<Far<T>>;
  unpublish(url: string): Promise<void>;
  /** Returns a new secret. The old one stops working when the new one is first used. */
  rotate(): Promise<{ readonly secret: string }>;
  /** A person has had a turn: what the firewall has stopped, because it went round in circles, goes on. */
  personTurn(): Promise<void>;
  /**
   * Ends the session, its child sessions and all their grants. Resolves when every driver that worked for
   * them is done.
   */
  end(why?: string): Promise<void>;
  /**
   * Ends the session if nobody has ever entered it or a child of it: `ends`. A session that was `entered` goes on.
   * `over`: it had ended before.
   */
  endUnlessEntered(why?: string): Promise<'ends' | 'entered' | 'over'>;
}

/** A session that was just opened. Its secret is available only here, because the store keeps only a hash. */
export interface NewSession extends Session {
  readonly secret: string;
}

/**
 * `again`: the session of an earlier start continues. `ended`: that session has ended, and no other was
 * opened.
 */
export type Started =
  | { readonly how: 'opened'; readonly session: NewSession; readonly grants: readonly Grant[] }
  | {
      readonly how: 'again';
      readonly session: Session;
      readonly grants: readonly Grant[];
      readonly note?: string | undefined;
    }
  | { readonly how: 'ended'; readonly id: string | undefined };

/** Options of an offer. Errors: `invalid`. */
export interface OfferOptions {
  /** The methods that change nothing. */
  readonly reads?: readonly string[];
  /** The methods that requests list, if the object refuses its other ones. */
  readonly methods?: readonly string[];
  /**
   * The name that people give the object, such as "the notes of the team". Granters and judges see it in
   * requests and in lists of grants. No session sees it. Without it they see the name of the offer.
   */
  readonly label?: string;
  /**
   * The effects of the methods, for a firewall. Those that the object declares itself count as well; where both
   * name a method, these do. A method of which nothing is known counts as one with effects outside.
   */
  readonly effects?: Effects;
  /** It is an object of a connected program. It is `invalid` under a name that this program offers otherwise. */
  readonly fromPeer?: boolean;
  /**
   * A granter says yes to a request for it, and to a call of it that waits, with a passkey on the page of the host. No
   * granter but the program of this host grants or renews it without a request.
   */
  readonly needs?: 'passkey';
}

/** A running host. `await using` closes it. */
export interface Host extends AsyncDisposable {
  readonly vats: Vats;
  /**
   * Opens a session. Without granters nobody can grant it anything. With a `parent` it ends with that
   * session. `unattended` is for a session that runs without a person, such as a scheduled run: a request of it, or of
   * its child sessions, that nobody answers in time ends with `denied`. Errors: `invalid`, `no-such-object` (there is no
   * such granter or parent).
   */
  openSession(options: {
    readonly name: string;
    readonly granters?: readonly string[];
    readonly parent?: string;
    readonly unattended?: true;
  }): Promise<NewSession>;
  /**
   * For a program that opens a session with grants at every start. A state grants once for each purpose. A
   * later start gets the earlier session with the rest of its grants, or none if that session has ended.
   * `fresh` ends the earlier session and opens another: use it only if a person asked for it. Errors:
   * `invalid`, `no-such-object`.
   */
  startSession(options: StartOptions): Promise<Started>;
  /**
   * For a program that is started again: returns the open session of that name, or opens one that holds
   * nothing. `secret` is undefined for a session that was open. Errors: `invalid` (the open session names
   * other granters), `no-such-object`.
   */
  ensureSession(options: {
    readonly name: string;
    readonly granters?: readonly string[];
    readonly parent?: string;
  }): Promise<Session>;
  /** Returns an open session, also one of an earlier run. Errors: `no-such-object`. */
  session(id: string): Promise<Session>;
  /** Returns all open sessions, in the order in which they were opened. */
  sessions(): Promise<readonly Session[]>;
  /** Returns the granter of that name, or adds it. `secret` is undefined if it existed. */
  ensureGranter(name: string): Promise<{ readonly granter: Far<Granter>; readonly secret: string | undefined }>;
  /**
   * Adds a granter. Returns it as a cap, and the secret with which a person reaches it over the wire. The
   * secret is available only here, because the store keeps only a hash.
   */
  addGranter(name: string): Promise<{ readonly granter: Far<Granter>; readonly secret: string }>;
  /**
   * A granter, for a program that acts in its name. With a `surface`, such as `chat`, the ledger records that, and the
   * program does not stand in for the person: it grants nothing by hand that needs a passkey. Errors: `no-such-object`,
   * `invalid`.
   */
  granter(name: string, surface?: string): Promise<Far<Granter>>;
  /** Makes a new secret for a granter. The old one stops working at once, and its connections are closed. */
  renewGranter(name: string): Promise<{ readonly secret: string }>;
  /**
   * Lets granters grant `cap` by `name`: an FsCap, any object with async methods, or any reference. An object
   * that is not in the store has to be offered again after a restart. Until then calls under its grants break
   * with `unavailable`. An object that is offered again under a name is the object of all grants of that
   * name. Errors: `invalid`, also for an object that can never be called: a promise, a function, data, an object
   * without methods, a cap whose grant, vat or connection has ended.
   */
  offer(name: string, cap: object, options?: OfferOptions): Promise<void>;
  /**
   * A name for an offer that is made of `text`, such as a path. It is the same at each start on this state. It
   * does not tell the text, and another state has another name for it. Errors: `invalid`.
   */
  nameFor(kind: string, text: string): Promise<string>;
  /**
   * Returns the texts that the program keeps in the store, such as secrets that it has encrypted, after a change if
   * one is given. A change is one turn, and a line of the ledger with the names. Errors: `invalid`, `limit`,
   * `no-such-object`, `STALE` (their key is another one by now).
   */
  kept(change?: KeptChange): Promise<KeptTexts>;
  /**
   * Returns an object that asks a granter about a change of what an offer leads to, for the session of the call that it
   * is asked in. It lasts like an actor of the store.
   */
  changeAsker(): Promise<Far<ChangeAsker>>;
  /**
   * Offers `code` (or `as`). A session that is granted it runs programs with the caps that it holds. `open`
   * returns the guests that run them (`openGuests`). It is called for the first program, and the host closes
   * the guests.
   */
  offerCode(open: () => Promise<Guests>, options?: { readonly as?: string }): Promise<void>;
  /**
   * Serves CapTP over WebSocket: on loopback, on a Unix socket (`path`), with TLS (`host`, `tls`), or under a `name` at a
   * `front` door, which serves other hosts too. The state notes the address, so that the command line finds the host.
   * `faces` are other protocols over HTTP, by their paths. `pages` are texts that everybody who reaches the door may
   * read, such as the code of a console; on loopback they are served on `[::1]` too. Errors: `invalid`, `unavailable`.
   */
  serve(
    options?: ServeOptions | FrontPlace,
    faces?: HttpFaces,
    pages?: HttpPages,
  ): Promise<{ readonly url: string; close(): Promise<void> }>;
  /**
   * Makes a code with which a page enters as this granter, in place of a secret. It works once, for two minutes or for
   * `for` ms, 10 minutes at the most. The ledger records what the page does with the surface `console`. Errors:
   * `no-such-object`, `invalid`.
   */
  entryCode(granter: string, options?: { readonly for?: number }): Promise<{ readonly code: string }>;
  /**
   * Serves a granter on a Unix socket, without a secret, to everybody who may open its folder. The folder must be its
   * user's alone (mode 0700). Without `path` it is `granter` in the state, where the command `hob` finds it with
   * `--state`. The ledger records acts over it with `surface`. Errors: `invalid`, `no-such-object`,
   * `unavailable`.
   */
  serveGranter(options: LocalOptions): Promise<{ readonly url: string; close(): Promise<void> }>;
  /**
   * The open connections. `session` is `granter:NAME` for a granter and `sturdyref:GRANT` for a sturdyref.
   */
  connections(): readonly { readonly session: string; readonly dialect: Dialect; stats(): CapTPStats }[];
  /** Numbers for a program that watches the host. No name, text or id is among them. */
  counts(): Promise<HostCounts>;
  /**
   * The store was restored to an earlier state: its grants are suspended until `confirm` of a granter, or
   * `trust`.
   */
  readonly restored: boolean;
  /**
   * Tells a person why `restored` is true. Undefined if it is false, or if a person has called `trust` since.
   */
  readonly restoredBecause: string | undefined;
  /** Confirms all suspended grants. `by` is the name of the person who checked the store. */
  trust(by: string): Promise<void>;
  /** Checks the ledger. `against` are checkpoints that were sent elsewhere: each must still hold. */
  verify(options?: { readonly against?: readonly string[] }): Promise<LedgerVerdict>;
  /**
   * Drops the lines of the ledger that were written before `before` (ms since 1970), up to a checkpoint. A signed line
   * records it, with `by`. Resolves with their number. Errors: `invalid` (the ledger is not whole), `unavailable`.
   */
  retain(options: { readonly before: number; readonly by: string }): Promise<number>;
  /** Returns the ledger as JSON Lines, whole and in order. */
  ledger(options?: { readonly from?: number; readonly follow?: boolean }): AsyncIterable<string>;
  /**
   * Writes everything that is durable now into one new file, for its owner only, while the host works. The file appears
   * when it is whole. It has the key that signs the ledger: guard it like the state. `restoreStore` of `@hob/vat/store`
   * makes a state from it, in which grants with a limit are suspended. Errors: `invalid` (the file exists),
   * `unavailable`.
   */
  backup(file: string): Promise<void>;
  close(): Promise<void>;
  /**
   * Revokes every grant of every granter, and closes. If this fails now, for example because the disk failed,
   * the next host on this state does it before anything else. `hob stop` also stops a host whose vat hangs.
   */
  stop(why?: string): Promise<void>;
}

/** The codes of the host's own errors; the others are those of `@hob/vat`. */
export type HostCode = 'E_NO_LOCKDOWN' | 'E_ROOT_CONTAINS_HOST_STATE';

/** Where a host keeps its state, what it offers, and how long it waits. Times are in ms. */
export interface HostOptions {
  /** The folder of everything that is kept. With a `store` elsewhere, what only this machine needs lies here. */
  readonly stateDir: string;
  /**
   * A store in place of the one in `stateDir`, such as `postgresStore` of `@hob/store-postgres` opens. It is the host's
   * from now on, which closes it, also if it cannot be opened.
   */
  readonly store?: Store;
  /**
   * A folder for the sentinel, outside `stateDir` and outside its backups. It shows that a state was restored
   * to an earlier one. Without it only the restore of a backup is detected. Name the same folder at each
   * opening.
   */
  readonly sentinel?: string;
  /**
   * Called with signed checkpoints of the ledger, to keep elsewhere: when it opens, each hour and when it
   * closes. See `VatsOptions`.
   */
  readonly onCheckpoint?: (checkpoint: string) => void | Promise<void>;
  /** Removes the values of secrets from a text. The ledger keeps texts and arguments as this returns them. */
  readonly blank?: (text: string) => string;
  readonly clock?: Clock;
  readonly random?: (bytes: number) => Uint8Array;
  /**
   * Called with each internal error, for a local log. A peer sees only the id of such an error.
   */
  readonly observe?: (fault: WireFault) => void;
  /** How long a session is kept after it lost its last connection. 10 minutes by default. */
  readonly graceMs?: number;
  /** How long a request waits for an answer. An hour by default. */
  readonly requestMs?: number;
  /**
   * Called with each request when it is on the disk, so that a program can tell a person. It is called for no request
   * that joins another one. It is not a look at the request: a call that nobody saw still costs nothing.
   */
  readonly onRequest?: (notice: RequestNotice) => void;
  /**
   * Proposes a change of the settings of this program to a granter, as a diff that a person copies. `Granter.suggestions`
   * returns it.
   */
  readonly suggest?: (granter: string) => Promise<SuggestedChange | undefined>;
  /** Limits of the whole host. Give them if a process serves several hosts, so that none takes too much of it. */
  readonly most?: HostMost;
  /** Decides about each call of a grant before it goes on: `@hob/firewall` makes one. */
  readonly firewall?: CallFirewall;
  /**
   * Opens the host although the intrinsics of the process are not hardened. Then every module of the process
   * can reach everything that the host holds. Set it only for a program that cannot be locked down and trusts
   * all its modules.
   */
  readonly withoutLockdown?: boolean;
  /** The definitions of the actors that the program offers and the store keeps. */
  readonly definitions?: readonly AnyDefinition[];
}
