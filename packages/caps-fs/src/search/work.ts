/**
 * Steps that are counted, for what is compared where others wait.
 *
 * Promise: whoever wrote the names, the pattern and the rules, no more steps are made than were allowed. Imports nothing.
 */

/** More was to be done than was allowed. */
export class TooMuch extends Error {}

/** Steps that may be made: a pattern costs its length times the name's at worst, and a holder writes both. */
export class Work {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  charge(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuch();
  }
}
