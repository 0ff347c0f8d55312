/** What the stores of a storm lie on, and how they die: the same storm goes over folders and over a database server. */
import type { ChildProcess } from 'node:child_process';
import type { Place } from './here.ts';
import type { Chance } from './powercut.ts';

export interface Wanted {
  /**
   * - `kill`: the process is killed.
   * - `power`: so is everything that a power cut ends with it.
   */
  readonly mode: 'kill' | 'power';
  /** A folder for files. */
  readonly scratch: string;
  readonly chance: Chance;
}

/** Opens a ground for one lane of a storm. */
export type Grounds = (wanted: Wanted) => Promise<Ground>;

export interface Ground {
  /** A place where no store has been. The number names it. */
  next(number: number): Promise<Site>;
  /** How long a process makes or recovers its store, about. */
  readonly openingMs: number;
  close(): Promise<void>;
}

/** The place of one store, in which one process after the other lives. */
export interface Site {
  readonly place: Place;
  /** What a process there needs to be run with. */
  readonly environment: Readonly<Record<string, string>>;
  /** How the next process dies, by chance. */
  death(): Death;
  /** Calls `look` with the place of a copy, since whoever looks writes. */
  copied<T>(look: (copy: Place) => Promise<T>): Promise<T>;
  /** Where its files are after the storm, if they may be kept for a person. */
  readonly kept: string | undefined;
  remove(): Promise<void>;
}

export interface Death {
  /** Not the process alone. */
  readonly isCut: boolean;
  strike(process: ChildProcess): void;
  /** What may be left, one state after the other, by name. The site is in that state until the next one is asked for. */
  remains(): AsyncIterable<string>;
}
