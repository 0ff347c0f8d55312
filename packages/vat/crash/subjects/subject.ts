/**
 * A program to be killed at any moment, and the judge of what it leaves behind.
 *
 * One file in this folder each; its name is what `--subject` takes. Both sides stand in one file, so that
 * what is told and what is checked are read together.
 */
import type { Place } from '../here.ts';

/** Tells the outside process: a word, and which. Synchronous: what was told has left when it returns. */
export type Tell = (word: string, which: number) => void;

export interface Told {
  readonly word: string;
  readonly which: number;
  /** Counts the lives of this store, from 1. */
  readonly life: number;
}

export interface Subject {
  /** Opens the store (which may not be there yet), says `open`, works until it is killed. */
  work(place: Place, life: number, tell: Tell): Promise<void>;
  /**
   * Opens a copy of the store that was left, and returns its faults, given all that was told since the store
   * was new.
   */
  check(place: Place, told: readonly Told[]): Promise<readonly string[]>;
}
