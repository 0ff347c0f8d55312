/**
 * A mutant: a named replacement of source text that leaves one mechanism out.
 *
 * A mutant shows that some test notices when the mechanism is missing. The product has no switch for it: `apply.mjs`
 * and the plugin of `vitest.config.ts` replace the text while a test runs. `npm run mutants` runs each row's tests and
 * fails for a row that no test catches.
 */
export interface Edit {
  /** Relative to the repository. */
  readonly file: string;
  /** Text that stands in the file exactly once; `npm test` fails otherwise. */
  readonly find: string;
  /** The text that takes its place. */
  readonly replace: string;
}

export interface Mutant extends Edit {
  readonly name: string;
  /** The promise that no longer holds without the mechanism. */
  readonly breaks: string;
  /** Further places of the same mechanism. */
  readonly also?: readonly Edit[];
  /** Test files that notice, relative to the repository. */
  readonly tests: readonly string[];
}

export const editsOf = ({ file, find, replace, also = [] }: Mutant): readonly Edit[] => [
  { file, find, replace },
  ...also,
];

/** `text` with one edit made. Throws where `find` does not stand in it exactly once. */
export function replaceOnce(text: string, { file, find, replace }: Edit): string {
  const count = find === '' ? 0 : text.split(find).length - 1;
  if (count !== 1) throw new Error(`mutant: in ${file} this stands ${count} times, not once:\n${find}`);
  return text.replace(find, () => replace);
}
