/** What a program holds of the vats it opened: all of them (`Vats`), and each one (`Vat`). */
import type { CapError } from '../core/errors.ts';
import type { AnyDefinition, Far, Faraway, Meter, Portrait, TurnRecord } from '../core/types.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';

export interface VatsOptions {
  /** Where ledger lines go. Without one they are dropped. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly random?: (bytes: number) => Uint8Array;
  /** What may be brought to life from a store: labels must be unique. */
  readonly definitions?: readonly AnyDefinition[];
  /** How many actors of a durable store may be awake before those that nobody calls fall asleep. */
  readonly awake?: number;
  /** Is told of each turn, once it is durable. An error of its own is its own. */
  readonly observe?: (turn: TurnRecord) => void;
  /**
   * Is given a signed checkpoint of the ledger, for a place that this machine cannot change: at the opening, each hour and at the close, where
   * there is a new one. It is on the disk before. `close` waits for the promise that is returned; an error is its own.
   */
  readonly onCheckpoint?: (checkpoint: string) => void | Promise<void>;
  /**
   * Runs before what the last process left behind goes on: messages on their way, alarms, who waited. What it ends (a cause that it cuts, an
   * alarm that it takes back) does not happen any more. Where it throws, nothing goes on and `openVats` throws the same.
   */
  readonly first?: (vats: Vats) => Promise<void>;
}

export interface Vats {
  /** The vat of this name, made at the first call. Turns that the host program starts in it are charged to `meter`. */
  vat(name: string, options?: { readonly meter?: Meter }): Vat;
  /**
   * The meter of this name. Limits: actors, portraitBytes, messages, promises, rows, connections (alive now), lines (this
   * hour), turnMs (one turn).
   */
  meter(name: string, limits?: Readonly<Record<string, number>>): Meter;
  sturdyref(reference: Far<unknown>): Promise<string>;
  restore<T>(sturdyref: string): Promise<Far<T>>;
  revokeSturdyref(sturdyref: string): Promise<void>;
  /** Every turn before now is durable. */
  settled(): Promise<void>;
  /** Ends a cause: driver calls under it are aborted, messages under it are not delivered. Answers when the drivers are done. */
  cut(cause: string, why: CapError): Promise<void>;
  /**
   * Deletes from the store what nobody can reach any more: no root, no sturdyref, no message on its way, no waiting actor and no
   * reference that this process holds leads to it. Answers how many cells it deleted. In slices of a few ms; turns may run meanwhile.
   * Runs by itself once after the opening.
   */
  sweep(): Promise<number>;
  /**
   * The store was found to have been put back to an earlier state (a backup, a copy), and nobody has looked yet: what was granted with a
   * limit before waits, since uses and revocations may be missing.
   */
  readonly restored: boolean;
  /** Why this opening found it `restored`, for a person; undefined where it did not, or a person has looked since. */
  readonly restoredBecause: string | undefined;
  /** A person (`by`, for the ledger) has looked at what is granted: it goes on. */
  trust(by: string): Promise<void>;
  /**
   * Tells `listener` when a commit failed and turns that were not durable were undone, once all that waited for them has broken:
   * whoever speaks with peers closes those connections, as `captp` does. Answers how to stop.
   */
  onLoss(listener: (why: CapError) => void): () => void;
  /** Halts all vats, aborts driver calls and waits for them. The store stays its owner's to close. */
  close(): Promise<void>;
}

export interface Vat {
  readonly name: string;
  /** Brings a portrait to life in a turn of its own. */
  spawn<T>(portrait: Portrait<T>): Promise<Far<T>>;
  /** The named root of a durable vat: made the first time, found again after a restart. */
  root<T>(name: string, make: () => Portrait<T>): Promise<Far<T>>;
  /** Runs `body` as one turn of this vat; if it throws, nothing of it remains and the promise breaks with its error. */
  turn<R>(body: () => R): Promise<Faraway<R>>;
  /** A dry run: the turn's effects are thrown away. `changed` and `sent` are labels with ids. */
  peek<R>(
    body: () => R,
  ): Promise<{ readonly result: Faraway<R>; readonly changed: readonly string[]; readonly sent: readonly string[] }>;
  /** Stops it for good: messages that wait, and all later ones, break with `vat-halted`. */
  halt(why?: Error): void;
}
