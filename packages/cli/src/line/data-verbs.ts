/** The names of the verbs that only read files. */
const DATA_VERBS = ['check', 'explain', 'version'] as const;
/** One of them. */
export type DataVerb = (typeof DATA_VERBS)[number];

/** The one that a command line names first, if any. `--version` alone is the verb of that name. */
export function dataVerb([word, ...rest]: readonly string[]): DataVerb | undefined {
  if (word === '--version' && rest.length === 0) return 'version';
  return DATA_VERBS.find((name) => name === word);
}

/** Whether a command line needs no other verb. */
export const isData = (args: readonly string[]): boolean => dataVerb(args) !== undefined;
