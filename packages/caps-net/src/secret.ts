/** `@hob/caps-net/secret`: which secrets are taken, and how they are blanked out of texts. It loads no network. */
export { BLANK, type Blanker, blankerOf } from './secret/blank.ts';
export { wrongWithSecret } from './secret/rules.ts';
