/** Repeatable random numbers for the chaos run. A failed run is run again with its seed. Nothing secret comes from here. */
import { createHash } from 'node:crypto';

/** Whole numbers from 0 up to a bound, from a seed. */
export function randomFrom(seed: number): (below: number) => number {
  let drawn = 0;
  return (below) => {
    drawn += 1;
    return createHash('sha256').update(`${seed}:${drawn}`).digest().readUInt32BE(0) % below;
  };
}
