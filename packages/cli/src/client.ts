/**
 * The entry for `client-verbs.ts`. In a tarball it is a bundle with everything that these verbs need
 * (`scripts/pack/bundle.ts`). Only `main.ts` may import it: another module would get a second copy of what is in it.
 */
import { CLIENT, clientVerb } from './client-verbs.ts';
import type { Verb } from './line/verb.ts';

export { runLine } from './drivers/line.ts';

/** Loads the verb that a command line names first. */
export const verbsFor = async (args: readonly string[]): Promise<readonly Verb[]> => [
  await CLIENT[clientVerb(args) ?? 'status'](),
];
