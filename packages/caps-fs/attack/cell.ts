/**
 * One cell of the attack: one kind of swap against one operation, of the cap and of the control.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { FsCap } from '../src/index.ts';
import { type Arena, type Doors, OUTSIDE_NAME, pairsOf, SECRET, type Swap, type Thing } from './arena.ts';
import type { Naive } from './naive.ts';

export interface Cell {
  readonly name: string;
  readonly swap: Swap;
  /** Returns the text that was given out. The arena itself sees changes of the outside. */
  cap(cap: FsCap, lane: number, arena: Arena): Promise<string>;
  control(naive: Naive, lane: number): Promise<string>;
  /** How many swapped names one call looks at. Default: 1. */
  readonly met?: number;
  /** How many of these names belonged to the inside, by the result of the call. Default: all. */
  through?(given: string): number;
  readonly doors?: readonly Doors[];
  /** Files and trees that the arena makes for each lane. */
  readonly things?: readonly Thing[];
  /** Undoes inside what a successful attempt did, so that the next one has the same to do. */
  mend?(arena: Arena, lane: number): void;
}

export const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
export const nothing = async (done: Promise<unknown>): Promise<string> => {
  await done;
  return '';
};

export const dir: Swap = ['exchange', 'dir', 'dirlink'];
export const file: Swap = ['exchange', 'file', 'filelink'];
export const deep: Swap = ['exchange', 'a/b/c', 'clink'];
export const aim: Swap = ['relink', 'aim', 'dir', 'OUTSIDE'];
/** The same of a link to a file. */
export const aimed: Swap = ['relink', 'aimed', 'other', 'OUTSIDE/secret'];
export const doorsOf = (
  directories: number,
  files: number,
): Required<Pick<Cell, 'doors' | 'met'>> & { readonly swap: Swap } => {
  const doors = { in: 'doors', directories, files };
  return { doors: [doors], met: directories + files, swap: ['exchange', ...pairsOf(doors).flat()] };
};

export const count = (given: string, part: string): number => given.split(part).length - 1;

/** Stands for a size. A file with another size is not the one inside. */
export const sized = (size: number): string => (size === SECRET.length ? SECRET : '');

export const unlink =
  (where: 'dir' | 'root', name: string) =>
  (arena: Arena, lane: number): void =>
    fs.unlinkSync(where === 'dir' ? arena.inDir(`${name}${lane}`) : path.join(arena.root, `${name}${lane}`));

export function isOutside(given: string): boolean {
  return given.includes(SECRET) || given.includes(OUTSIDE_NAME);
}
