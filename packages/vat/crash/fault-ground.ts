/** Who says no to a store, and to what: the same lives go over folders of a disk and over a database server. */
import type { Place } from './here.ts';

/**
 * The state that the process finds: nothing; a folder that was made, and no disk knows it yet; or a store as a killed
 * process left it, all of it in its log.
 */
export type Found = 'nothing' | 'a new folder' | 'a store that was killed';

/** One fault. Calls to the disk or the server are counted from 1; `at` 0 only counts. */
export interface Fault {
  readonly at: number;
  /** How it fails: one of `errors`. */
  readonly error: string;
  /** From then on, until it is mended; otherwise once. */
  readonly on: boolean;
}

/** What failed so far. */
export interface FaultyDisk {
  seen(): { readonly calls: number; readonly failed: number; readonly what: string };
  /** Nothing fails or is counted any more. */
  mend(): void;
}

/** A module that arms the faults of a process, from inside. */
export interface Armer {
  armed(control: unknown, fault: Fault): FaultyDisk | Promise<FaultyDisk>;
  /** Where the process finds the store, if the faults lie on another way than that of whoever looks later. */
  through?(control: unknown, place: Place): Place;
}

export interface FaultGround {
  readonly founds: readonly Found[];
  readonly errors: readonly string[];
  /** Whether the call that failed only reads. */
  isRead(what: string): boolean;
  /** How many processes there are at once. */
  readonly lanes: number;
  /** A folder of its own. */
  lane(folder: string): FaultLane;
  /** The first store of this lane is the one that was killed, from now on. */
  keep(lane: FaultLane): Promise<void>;
  close(): Promise<void>;
}

/** Opens it. `hard`: the process is killed with its store open, and then the power fails. */
export type FaultGrounds = (hard: boolean) => Promise<FaultGround>;

/** The stores of one process. */
export interface FaultLane {
  readonly environment: Readonly<Record<string, string>>;
  readonly armer: string;
  readonly control: unknown;
  begin(founds: readonly Found[]): Promise<readonly Place[]>;
  /** Calls `look` with a copy of the first store, since whoever looks writes. */
  copied<T>(look: (copy: Place) => Promise<T>): Promise<T>;
  /** The power fails. The process is dead. */
  cut(): Promise<void>;
  /** Removes the stores. */
  end(): Promise<void>;
}
