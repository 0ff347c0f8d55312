/**
 * The verbs that only read files. Editors, commit hooks and agents call them often, so in a tarball they are a bundle
 * (`data.ts`). None of them may reach a host.
 */
import type { Verb } from './line/verb.ts';

/** The loader of each of these verbs, by the name of the verb. */
export const DATA = {
  check: async (): Promise<Verb> => (await import('./verbs/manifest/check.ts')).check,
  explain: async (): Promise<Verb> => (await import('./verbs/manifest/explain.ts')).explain,
};
type DataVerb = keyof typeof DATA;

/** Returns the verb of these that a command line names first, if any. */
export const dataVerb = ([word = '']: readonly string[]): DataVerb | undefined =>
  Object.hasOwn(DATA, word) ? (word as DataVerb) : undefined;
