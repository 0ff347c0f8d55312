/**
 * A budget of steps for matching on the main thread, where other holders wait.
 *
 * Promise: matching stops after the allowed steps, whoever wrote the names, the pattern and the rules.
 * Imports nothing.
 */

/** Thrown when the budget is used up. */
export class TooMuch extends Error {}

/**
 * The budget. At worst a match takes the length of the pattern times that of the name, and a holder writes
 * both.
 */
export class StepBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  charge(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuch();
  }
}
