/** The verbs that only read files: what editors, commit hooks and agents call often. None of them may reach a host. */
import type { DataVerb } from './line/bundled-verbs.ts';
import type { Verb } from './line/verb.ts';

/** The loader of each of them, by its name. */
export const DATA: Readonly<Record<DataVerb, () => Promise<Verb>>> = {
  check: async () => (await import('./verbs/manifest/check.ts')).check,
  explain: async () => (await import('./verbs/manifest/explain.ts')).explain,
  version: async () => (await import('./verbs/version.ts')).version,
};
