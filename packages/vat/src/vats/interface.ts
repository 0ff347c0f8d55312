/** The interfaces of opened vats: all of them (`Vats`), and each one (`Vat`). */
import type { CapError } from '../core/errors.ts';
import type { OptionNames } from '../core/options.ts';
import type { AnyDefinition, Far, Faraway, Meter, Portrait, TurnRecord } from '../core/types.ts';
import type { CommitCounts } from '../durable/counts.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';

/** The powers that vats run with. Without a clock or randomness they use those of this machine. */
export interface VatsOptions {
  /** The store for ledger lines and durable state. Without one, ledger lines are dropped. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly random?: (bytes: number) => Uint8Array;
  /** The definitions that may be run from a store. Labels must be unique. */
  readonly definitions?: readonly AnyDefinition[];
  /**
   * The number of actors of a durable store that may be awake. Above it, actors that nobody calls fall
   * asleep.
   */
  readonly awake?: number;
  /**
   * Called with the record of each turn once it is durable. An error that it throws does not reach the vats.
   */
  readonly observe?: (turn: TurnRecord) => void;
  /**
   * Called with each internal error of Hob that belongs to no connection, while these vats are open. The log
   * belongs to the process: it also receives the errors of other vats. Default: standard error, with the
   * stack.
   */
  readonly onFault?: (error: unknown) => void;
  /**
   * Called with each warning about an actor, while these vats are open: a method made a become token and did not
   * return it. Once for a definition. Default: standard error.
   */
  readonly onWarning?: (text: string) => void;
  /**
   * For tests and development. The stack of an error that the host program gets for `E(x).m()` begins at that
   * line, and a method that drops a become token throws `become-failure`. It is on for the whole process while
   * these vats are open, and makes calls of the host program several times slower. Default: false.
   */
  readonly development?: boolean;
  /**
   * Receives a signed checkpoint of the ledger, to be kept where this machine cannot change it. Called when
   * the vats open, each hour and when they close, if there is a new checkpoint. The checkpoint is on disk
   * before the call. `close` waits for the returned promise. Errors are ignored.
   */
  readonly onCheckpoint?: (checkpoint: string) => void | Promise<void>;
  /**
   * Removes the values of secrets from a text. It is called with each text of a ledger line and with the arguments
   * beside it, before they are hashed and stored. It must not throw.
   */
  readonly blank?: (text: string) => string;
  /**
   * Runs before the work of the last process continues: messages on their way, alarms, waiting actors. Work
   * that it ends, by cutting a cause or cancelling an alarm, does not happen. If it throws, nothing continues
   * and `openVats` rejects with the same error.
   */
  readonly first?: (vats: Vats) => Promise<void>;
}

export const vatsOptions: OptionNames<VatsOptions> = {
  store: true,
  clock: true,
  random: true,
  definitions: true,
  awake: true,
  observe: true,
  onFault: true,
  onWarning: true,
  development: true,
  onCheckpoint: true,
  blank: true,
  first: true,
};

/** What vats have done since they were opened. */
export interface VatsCounts {
  readonly turns: number;
  /** Without a durable store there are none. */
  readonly commits: CommitCounts;
  /** The entries that these commits brought into the ledger, by their kind (`docs/ledger.md`). */
  readonly entries: Readonly<Record<string, number>>;
  /** The number of the last line of the ledger. */
  readonly lines: number;
  /** How often the store was opened. */
  readonly epoch: number;
}

/** `await using` closes them. */
export interface Vats extends AsyncDisposable {
  /**
   * Returns the vat of this name, and makes it at the first call. Turns that the host program starts in it
   * are charged to `meter`.
   */
  vat(name: string, options?: { readonly meter?: Meter }): Vat;
  /**
   * Returns the meter of this name. Limits: actors, portraitBytes, messages, promises, rows, connections
   * (alive now), lines and lineBytes (this hour), argumentBytes (one argument in the ledger), turnMs (one
   * turn).
   */
  meter(name: string, limits?: Readonly<Record<string, number>>): Meter;
  /** Forgets the meter of that name. Whatever holds it goes on to use it, and `meter(name)` makes a new one. */
  dropMeter(name: string): void;
  sturdyref(reference: Far<unknown>): Promise<string>;
  restore<T>(sturdyref: string): Promise<Far<T>>;
  revokeSturdyref(sturdyref: string): Promise<void>;
  /** Returns what these vats have done so far, for a program that watches them. */
  counts(): VatsCounts;
  /** Resolves when every turn before now is durable. */
  settled(): Promise<void>;
  /**
   * Ends a cause: driver calls under it are aborted, messages under it are not delivered. Resolves when the
   * drivers are done.
   */
  cut(cause: string, why: CapError): Promise<void>;
  /**
   * Deletes everything from the store that is unreachable from roots, sturdyrefs, messages on their way,
   * waiting actors and references held in this process. Resolves with the number of deleted cells. It runs in
   * slices of a few ms, and turns may run in between. It also runs once by itself after the vats open.
   */
  sweep(): Promise<number>;
  /**
   * True when the store was found put back to an earlier state (a backup, a copy) and nobody has reviewed it
   * yet. Earlier grants with a limit wait, since uses and revocations may be missing.
   */
  readonly restored: boolean;
  /** The reason for `restored`, as text for a person; undefined if it is false. */
  readonly restoredBecause: string | undefined;
  /** Records that a person (`by`, for the ledger) has reviewed the grants. Those that waited continue. */
  trust(by: string): Promise<void>;
  /**
   * Calls `listener` when a commit failed and its turns were undone, once everything that waited for them has
   * broken. Code that talks to peers then closes those connections, as `captp` does. Returns a function that
   * stops it.
   */
  onLoss(listener: (why: CapError) => void): () => void;
  /** Halts all vats, aborts driver calls and waits for them. The store stays open; its owner closes it. */
  close(): Promise<void>;
}

/**
 * One vat: its actors call each other directly, and one turn runs at a time. For the host program. Errors:
 * `vat-halted`, `limit`, and what the turn throws.
 */
export interface Vat {
  readonly name: string;
  /** Makes an actor from a portrait, in a turn of its own. */
  spawn<T>(portrait: Portrait<T>): Promise<Far<T>>;
  /** Returns the named root of a durable vat. It is made the first time and found again after a restart. */
  root<T>(name: string, make: () => Portrait<T>): Promise<Far<T>>;
  /**
   * Runs `body` as one turn of this vat. If it throws, the turn is rolled back and the promise rejects with
   * its error.
   */
  turn<R>(body: () => R): Promise<Faraway<R>>;
  /** A dry run: runs `body` as a turn and discards its effects. `changed` and `sent` are labels with ids. */
  peek<R>(
    body: () => R,
  ): Promise<{ readonly result: Faraway<R>; readonly changed: readonly string[]; readonly sent: readonly string[] }>;
  /** Stops the vat for good. Waiting messages, and all later ones, break with `vat-halted`. */
  halt(why?: Error): void;
}
