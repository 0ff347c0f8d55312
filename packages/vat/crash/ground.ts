/**
 * The ground of a storm: where its stores lie, and how they die. There is one for folders and one for a database
 * server, so `crash.ts` tests both in the same way.
 */
import type { ChildProcess } from 'node:child_process';
import type { Place } from './here.ts';
import type { Chance } from './powercut.ts';

export interface Wanted {
  /**
   * - `kill`: the process is killed.
   * - `power`: the process is killed, and with it everything that a power cut would end.
   */
  readonly mode: 'kill' | 'power';
  /** A folder for files. */
  readonly scratch: string;
  readonly chance: Chance;
}

/** Opens a ground for one lane of a storm. */
export type Grounds = (wanted: Wanted) => Promise<Ground>;

export interface Ground {
  /** Makes a place for a new store. `number` is part of its name. */
  next(number: number): Promise<Site>;
  /** About how long a process takes to make or recover its store. */
  readonly openingMs: number;
  close(): Promise<void>;
}

/** The place of one store, which one process after the other opens. */
export interface Site {
  readonly place: Place;
  /** The environment variables of a process there. */
  readonly environment: Readonly<Record<string, string>>;
  /** Draws by chance how the next process dies. */
  death(): Death;
  /** Calls `look` with the place of a copy, because to open a store changes it. */
  copied<T>(look: (copy: Place) => Promise<T>): Promise<T>;
  /** Where its files are after the storm, if they may be kept for a person. */
  readonly kept: string | undefined;
  remove(): Promise<void>;
}

export interface Death {
  /** The power fails, too. */
  readonly isCut: boolean;
  strike(process: ChildProcess): void;
  /** Puts the site into one possible state after the other, and yields the name of each. */
  remains(): AsyncIterable<string>;
}
