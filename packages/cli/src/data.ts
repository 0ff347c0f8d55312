/**
 * The entry for `data-verbs.ts`. In a tarball it is a bundle with everything that these verbs need, because finding and
 * reading 230 modules took most of their time (`scripts/pack/bundle.ts`). So no module outside of the bundle imports it,
 * but for `main.ts`.
 */
import { DATA, dataVerb } from './data-verbs.ts';
import type { Verb } from './line/verb.ts';

export { runLine } from './drivers/line.ts';

/** The verb that a command line names first. */
export const verbsFor = async (args: readonly string[]): Promise<readonly Verb[]> => [
  await DATA[dataVerb(args) ?? 'version'](),
];
