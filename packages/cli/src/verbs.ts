/** All verbs of `hob`, loaded. A verb has a file of its own in `verbs/`, and a line in `table.ts`. */
import type { Verb } from './line/verb.ts';
import { allVerbs } from './table.ts';

/** In the order in which the help lists them. */
export const verbs: readonly Verb[] = await allVerbs();
