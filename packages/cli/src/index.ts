/** The public face of `@hob/cli`. The package is the command `hob`; these are its parts for other programs. */
export type { Given, Output, Verb, VerbOption } from './line/verb.ts';
export { verbs } from './verbs.ts';
