/**
 * The ground of the fault table: which calls of a store can fail, and how. There is one for folders and one for a
 * database server, so `faults.ts` tests both in the same way.
 */
import type { Place } from './here.ts';

/**
 * The state that the process finds: nothing, a folder that was made and that the disk does not know yet, or a store as
 * a killed process left it, with all data still in its log.
 */
export type Found = 'nothing' | 'a new folder' | 'a store that was killed';

/** One fault. Calls to the disk or the server are counted from 1. With `at` 0 none fails. */
export interface Fault {
  readonly at: number;
  /** How it fails: one of `errors`. */
  readonly error: string;
  /** All later calls fail too, until `mend`. Otherwise only one call fails. */
  readonly on: boolean;
}

/** The calls so far, and those that failed. */
export interface FaultyDisk {
  seen(): { readonly calls: number; readonly failed: number; readonly what: string };
  /** From now on no call fails or is counted. */
  mend(): void;
}

/** A module that arms the faults of the process in which it runs. */
export interface Armer {
  armed(control: unknown, fault: Fault): FaultyDisk | Promise<FaultyDisk>;
  /** The place of the store for this process, if its calls must go through something that makes them fail. */
  through?(control: unknown, place: Place): Place;
}

export interface FaultGround {
  readonly founds: readonly Found[];
  readonly errors: readonly string[];
  /** Whether the call `what` only reads. */
  isRead(what: string): boolean;
  /** How many processes run at once. */
  readonly lanes: number;
  /** Makes the stores of one process, in a folder of its own. */
  lane(folder: string): FaultLane;
  /** From now on, `a store that was killed` is a copy of the first store of this lane. */
  keep(lane: FaultLane): Promise<void>;
  close(): Promise<void>;
}

/** Opens a ground. `hard`: each process is killed with its store open, and then the power fails. */
export type FaultGrounds = (hard: boolean) => Promise<FaultGround>;

/** The stores of one process. */
export interface FaultLane {
  readonly environment: Readonly<Record<string, string>>;
  readonly armer: string;
  readonly control: unknown;
  begin(founds: readonly Found[]): Promise<readonly Place[]>;
  /** Calls `look` with a copy of the first store, because to open a store changes it. */
  copied<T>(look: (copy: Place) => Promise<T>): Promise<T>;
  /** Cuts the power. The process is dead already. */
  cut(): Promise<void>;
  /** Removes the stores. */
  end(): Promise<void>;
}
