/**
 * The entry for `data-verbs.ts`. In a tarball it is a bundle with everything that these verbs need, because finding and
 * reading 230 modules took most of their time (`scripts/pack/bundle.ts`). Only `main.ts` may import it: another module
 * would get a second copy of what is in it.
 */
import { DATA, dataVerb } from './data-verbs.ts';
import type { Verb } from './line/verb.ts';

export { runLine } from './drivers/line.ts';

/** Loads the verb that a command line names first. */
export const verbsFor = async (args: readonly string[]): Promise<readonly Verb[]> => [
  await DATA[dataVerb(args) ?? 'check'](),
];
