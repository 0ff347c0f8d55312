/** The names of the verbs that only read files. */
const DATA_VERBS = ['check', 'explain', 'version'] as const;
/** One of them. */
export type DataVerb = (typeof DATA_VERBS)[number];

/** Whether a command line begins with one of them. */
export const isData = ([word]: readonly string[]): boolean => DATA_VERBS.some((name) => name === word);
