/** The score of features by a linear model. */

/** A shorter text has few signs, so that each of them would count for too much. */
export const FEWEST: number = 20;

/**
 * Scores features: above 0 is more like danger than not. `weightOf` returns the weight of a feature.
 *
 * It divides by the root of their number, so that a long sentence counts as much as a short one.
 */
export function scoreOf(features: ReadonlySet<number>, weightOf: (feature: number) => number, bias: number): number {
  let sum = 0;
  let known = 0;
  for (const feature of features) {
    const weight = weightOf(feature);
    if (weight !== 0) known += 1;
    sum += weight;
  }
  return sum / Math.sqrt(Math.max(known, FEWEST)) + bias;
}
