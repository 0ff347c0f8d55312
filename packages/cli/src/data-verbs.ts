/**
 * The verbs that only read files. Editors, commit hooks and agents call them often, so in a tarball they are a bundle
 * (`data.ts`). None of them may reach a host.
 */
import type { Verb } from './line/verb.ts';

/** The loader of each of them, by its name. */
export const DATA = {
  check: async (): Promise<Verb> => (await import('./verbs/manifest/check.ts')).check,
  explain: async (): Promise<Verb> => (await import('./verbs/manifest/explain.ts')).explain,
  version: async (): Promise<Verb> => (await import('./verbs/version.ts')).version,
};
type DataVerb = keyof typeof DATA;

/** The one that a command line names first, if any. `--version` alone is the verb of that name. */
export function dataVerb([word = '', ...rest]: readonly string[]): DataVerb | undefined {
  if (word === '--version' && rest.length === 0) return 'version';
  return Object.hasOwn(DATA, word) ? (word as DataVerb) : undefined;
}
