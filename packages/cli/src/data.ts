/**
 * The verbs that only read files: what editors, commit hooks and agents call often.
 *
 * In a tarball this file is a bundle with everything that these verbs need (`scripts/pack/bundle.ts`), because finding
 * and reading 230 modules took most of their time. So none of it may reach a host, or a file beside itself.
 */
import { type DataVerb, dataVerb } from './line/bundled-verbs.ts';
import type { Verb } from './line/verb.ts';

export { runLine } from './drivers/line.ts';

/** The loader of each of them, by its name. */
export const DATA: Readonly<Record<DataVerb, () => Promise<Verb>>> = {
  check: async () => (await import('./verbs/manifest/check.ts')).check,
  explain: async () => (await import('./verbs/manifest/explain.ts')).explain,
  version: async () => (await import('./verbs/version.ts')).version,
};

/** The verb that a command line names first. */
export const verbsFor = async (args: readonly string[]): Promise<readonly Verb[]> => [
  await DATA[dataVerb(args) ?? 'version'](),
];
