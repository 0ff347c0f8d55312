/** Chance that can be repeated: a run that failed is run again with its seed. Decides no authority. */
import { createHash } from 'node:crypto';

/** Whole numbers below a bound, from a seed. */
export function randomFrom(seed: number): (below: number) => number {
  let drawn = 0;
  return (below) => {
    drawn += 1;
    return createHash('sha256').update(`${seed}:${drawn}`).digest().readUInt32BE(0) % below;
  };
}
