/**
 * Every mechanism, and the tests that notice when it is left out.
 *
 * A row is added with the mechanism: `mutant('NAME')` in the source (of the vat's `drivers/mutant.ts`) leaves it out when
 * `HOB_MUTANT=NAME`. `npm run mutants` fails for a row that no test catches, and for a mutant without a row.
 */
export interface Mutant {
  name: string;
  /** What is left out, and so what no longer holds. */
  breaks: string;
  /** Test files that should notice, relative to the repository. */
  tests: readonly string[];
}

export const MUTANTS: readonly Mutant[] = [];
